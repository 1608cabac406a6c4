import { join } from 'node:path'
import { buildHere, startPeer } from './processes.ts'
import type { Question, ThousandsOfSets, Times, Way } from './reading-process.ts'
import { median } from './whole-run.ts'

/** How many times as fast as each alternative the wanted signals are read from one body. */
export interface ReadingRatio {
  body: string
  /** Against giving the whole body to `parse-prometheus-text-format`. */
  package: number
  /** Against splitting into lines, comparing prefixes and a regular expression. */
  lines: number
  /** The ratio to reach against the package. */
  goal?: number
}

/**
 * Both bodies of the contract when all code is warm, and the first page of a fresh process, which is all that many a run
 * reads. Built as the product is built: the compiler of the bench itself adds a call to every function that is made.
 */
export async function benchReading(rounds = 150, processes = 9): Promise<ReadingRatio[]> {
  const file = join(await buildHere(['reading-process']), 'reading-process.mjs')
  const peer = startPeer(file)
  const ask = (engines: number) => peer.ask<Times>({ engines, rounds } satisfies Question)
  const one = ratiosOf('one engine', await ask(1))
  const eight = ratiosOf('eight engines', await ask(8))
  peer.end()
  const first = ratiosOf('one engine, the first page of a process', await firstPages(file, processes))
  return [{ ...one, goal: 6 }, { ...eight, goal: 4 }, first]
}

/** LiteLLM's page of thousands of label sets, against one of eight engines, byte by byte. */
export async function benchThousandsOfSets(rounds = 30): Promise<ThousandsOfSets> {
  const peer = startPeer(join(await buildHere(['reading-process']), 'reading-process.mjs'))
  const found = await peer.ask<ThousandsOfSets>({ litellm: rounds } satisfies Question)
  peer.end()
  return found
}

/** Each way in a process of its own, in turn. */
async function firstPages(file: string, processes: number): Promise<Times> {
  const times: Record<Way, number[]> = { ours: [], package: [], lines: [] }
  for (let i = 0; i < processes; i++)
    for (const way of ['ours', 'package', 'lines'] as const) {
      const peer = startPeer(file)
      times[way].push(await peer.ask<number>({ first: way } satisfies Question))
      peer.end()
    }
  return { ours: median(times.ours), package: median(times.package), lines: median(times.lines) }
}

function ratiosOf(body: string, times: Times): ReadingRatio {
  return { body, package: times.package / times.ours, lines: times.lines / times.ours }
}
