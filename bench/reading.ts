import parsePrometheusTextFormat from 'parse-prometheus-text-format'
import { TABLES } from '../src/backends/backends.ts'
import { createPageReader } from '../src/scrape/exposition.ts'
import { readPage } from '../src/scrape/read.ts'
import { vllmBody } from './body.ts'

/** How many times as fast as each alternative the wanted signals are read from one body. */
export interface ReadingRatio {
  body: string
  bytes: number
  /** Against giving the whole body to `parse-prometheus-text-format`. */
  package: number
  /** Against splitting into lines, comparing prefixes and a regular expression. */
  lines: number
  /** The ratio to reach against the package. */
  goal: number
}

/** Measures both bodies of the contract; each ratio is one of medians over rounds in turn, so that a busy machine slows all alike. */
export async function benchReading(rounds = 60): Promise<ReadingRatio[]> {
  return [ratiosOf('one engine', vllmBody(), 6, rounds), ratiosOf('eight engines', vllmBody({ engines: 8 }), 4, rounds)]
}

function ratiosOf(name: string, text: string, goal: number, rounds: number): ReadingRatio {
  const bytes = Buffer.from(text)
  const ways = [readSignals, readWithPackage, readWithLines].map((way) => ({ way, times: [] as number[] }))
  const repeats = Math.max(1, Math.round(300_000 / bytes.length))
  for (let round = 0; round < rounds + 20; round++)
    for (const { way, times } of ways) {
      const start = performance.now()
      for (let i = 0; i < repeats; i++) way(bytes)
      if (round >= 20) times.push(performance.now() - start)
    }
  const [ours = 0, byPackage = 0, byLines = 0] = ways.map(({ times }) => median(times))
  return { body: name, bytes: bytes.length, package: byPackage / ours, lines: byLines / ours, goal }
}

/** What a run does with a body, up to the readings. */
function readSignals(body: Uint8Array): unknown {
  const reader = createPageReader(TABLES.vllm)
  reader.push(body)
  return readPage(reader.end(), TABLES.vllm, { model: undefined, now: 0 })
}

function readWithPackage(body: Uint8Array): unknown {
  return parsePrometheusTextFormat(Buffer.from(body).toString('utf8'))
}

/** The names on these bodies that feed a signal. */
const WANTED = Object.values(TABLES.vllm.signals).flatMap(({ from }) => from.slice(0, 2).map(({ name }) => name))
const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/
const BOUND = /le="([^"]*)"/

/** The plain way: a few prefixes are tried on each line, an expression takes the line apart. No labels but `le` are read. */
function readWithLines(body: Uint8Array): unknown {
  const found: { name: string; bound: number | undefined; value: number }[] = []
  for (const line of Buffer.from(body).toString('utf8').split('\n')) {
    if (line.startsWith('#') || !WANTED.some((name) => line.startsWith(name))) continue
    const [, name = '', labels = '', value = ''] = LINE.exec(line) ?? []
    const bound = BOUND.exec(labels)?.[1]
    found.push({ name, bound: bound === undefined ? undefined : Number(bound), value: Number(value) })
  }
  return found
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
