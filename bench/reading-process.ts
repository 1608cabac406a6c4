import parsePrometheusTextFormat from 'parse-prometheus-text-format'
import { TABLES } from '../src/backends/backends.ts'
import { createPageReader } from '../src/scrape/page-reader.ts'
import { readPage } from '../src/scrape/read.ts'
import { vllmBody } from './body.ts'
import { litellmBody } from './litellm-body.ts'

/** What this process is asked: what one way takes for its very first page, or how all compare when warm. */
export type Question = { first: Way } | { engines: number; rounds: number } | { litellm: number }
export type Way = 'ours' | 'package' | 'lines'
/** Milliseconds by way. */
export type Times = Record<Way, number>

const WAYS: Record<Way, (body: Uint8Array) => unknown> = {
  ours: readSignals,
  package: readWithPackage,
  lines: readWithLines,
}

process.on('message', (question: Question) => {
  if ('litellm' in question) process.send?.(thousandsOfSets(question.litellm))
  else process.send?.('first' in question ? timeOf(question.first, bodyOf(1), 1) : medians(question))
})

/** Medians over rounds in turn, so that a busy machine slows all alike; a third as many rounds before them make all warm. */
function medians({ engines, rounds }: { engines: number; rounds: number }): Times {
  const body = bodyOf(engines)
  const repeats = Math.max(1, Math.round(300_000 / body.length))
  const times: Record<Way, number[]> = { ours: [], package: [], lines: [] }
  const warming = Math.ceil(rounds / 3)
  for (let round = 0; round < rounds + warming; round++)
    for (const way of ['ours', 'package', 'lines'] as const) {
      const took = timeOf(way, body, repeats)
      if (round >= warming) times[way].push(took)
    }
  return { ours: median(times.ours), package: median(times.package), lines: median(times.lines) }
}

/** How much longer a byte of LiteLLM's page takes than one of eight engines, and what the reading keeps. */
export interface ThousandsOfSets {
  megabytes: number
  ratio: number
}

function thousandsOfSets(rounds: number): ThousandsOfSets {
  const [engines, litellm] = [bodyOf(8), Buffer.from(litellmBody())]
  const times: { engines: number[]; litellm: number[] } = { engines: [], litellm: [] }
  for (let round = 0; round < rounds; round++) {
    times.engines.push(timed(() => readSignals(engines)) / engines.length)
    times.litellm.push(timed(() => readSignals(litellm, TABLES.litellm)) / litellm.length)
  }
  return { megabytes: litellm.length / 1e6, ratio: median(times.litellm) / median(times.engines) }
}

function timed(work: () => unknown): number {
  const from = performance.now()
  work()
  return performance.now() - from
}

function timeOf(way: Way, body: Uint8Array, repeats: number): number {
  const from = performance.now()
  for (let i = 0; i < repeats; i++) WAYS[way](body)
  return (performance.now() - from) / repeats
}

function bodyOf(engines: number): Uint8Array {
  return Buffer.from(vllmBody({ engines }))
}

/** Bytes: what a socket of Node's gives at most at once. */
const CHUNK = 64 * 1024

/** What a run does with a body, up to the readings. */
function readSignals(body: Uint8Array, table = TABLES.vllm): unknown {
  const reader = createPageReader(table)
  for (let from = 0; from < body.length; from += CHUNK) reader.push(body.subarray(from, from + CHUNK))
  return readPage(reader.end(), table, { model: undefined, now: 0 })
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
