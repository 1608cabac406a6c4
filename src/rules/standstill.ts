import type { BackendTable } from '../model/backend.ts'
import { defined } from '../model/defined.ts'
import type { HeldBy } from '../model/notification.ts'
import type { CounterSignal, Readings } from '../model/signals.ts'
import { printedStep } from '../signals/digits.ts'
import type { Increases } from '../signals/window.ts'
import type { Standstill } from '../state/schema.ts'

/** The whole endpoint, where its engines are not told apart. */
export const WHOLE = ''

const PROGRESS = ['steps', 'generation_tokens', 'prompt_tokens', 'finished'] as const satisfies CounterSignal[]

/** What one engine, or the whole endpoint, did between two good answers. */
export interface Motion {
  /** Now; absent where the page does not say. */
  running?: number
  waiting?: number
  deferred?: number
  /** `undefined`: no counter shows it. */
  moved: boolean | undefined
  /** A token came or a request ended. Where tokens are counted at the end alone, the same as `moved`. */
  bore: boolean
  /** Decoding was under way: more steps than reading a prompt takes. */
  paced: boolean
  /** A request ended. */
  ended: boolean
  asleep: boolean
  unhealthy: boolean
}

/** By engine; of a page that does not tell engines apart, the whole alone. */
export function motionsOf(readings: Readings, last: Increases | undefined): Record<string, Motion> {
  const engines = enginesOf(readings)
  const whole = motionOf(undefined, readings, last)
  if (engines.length < 2) return { [WHOLE]: whole }
  const each = engines.map((engine) => [engine, motionOf(engine, readings, last)] as const)
  const isUnknown = each.some(([, one]) => one.moved === undefined && insideOf(one) > 0)
  const told = isUnknown ? each.filter(([, one]) => one.unhealthy) : each
  return { [WHOLE]: { ...whole, unhealthy: false }, ...Object.fromEntries(told) }
}

function enginesOf({ gauges }: Readings): string[] {
  const names = [gauges.running, gauges.waiting, gauges.engine_healthy].flatMap((gauge) =>
    Object.keys(gauge?.byEngine ?? {}),
  )
  return [...new Set(names)]
}

function motionOf(engine: string | undefined, readings: Readings, last: Increases | undefined): Motion {
  const gauge = (name: 'running' | 'waiting' | 'waiting_deferred' | 'asleep' | 'engine_healthy' | 'paused') => {
    const found = readings.gauges[name]
    return engine === undefined ? found?.value : found?.byEngine?.[engine]
  }
  const grown = (signal: CounterSignal) =>
    engine === undefined ? last?.counters[signal] : growthOf(engine, last?.byLabels[signal])
  const known = PROGRESS.map(grown).filter((increase) => increase !== undefined)
  const moved = known.length === 0 ? undefined : known.some((increase) => increase > 0)
  const [running, waiting, deferred] = [gauge('running'), gauge('waiting'), gauge('waiting_deferred')]
  return {
    ...(running !== undefined && { running }),
    ...(waiting !== undefined && { waiting }),
    ...(deferred !== undefined && { deferred }),
    moved,
    bore: boreFruit(engine, readings, last) ?? moved ?? false,
    paced: (grown('steps') ?? 0) >= PACE,
    ended: (grown('finished') ?? grown('generation_tokens') ?? 0) > 0,
    // Where all engines of an endpoint sleep or wake together, the page may name one.
    asleep: gauge('asleep') === 1 || (gauge('paused') ?? 0) > 0,
    unhealthy: gauge('engine_healthy') === 0,
  }
}

/** Steps between two answers: fewer may be the pieces of one long prompt. */
const PACE = 10

/**
 * Whether a token came or a request ended, on servers that count each token as it comes: vLLM, and SGLang by its steps
 * of decoding. `undefined` on the others.
 */
function boreFruit(
  engine: string | undefined,
  { sources }: Readings,
  last: Increases | undefined,
): boolean | undefined {
  const { byLabels } = last ?? {}
  if (!byLabels) return undefined
  const isLive = /vllm[:_]generation_tokens_total$/.test(sources.generation_tokens ?? '')
  const decodes = byLabels.steps && Object.entries(byLabels.steps).filter(([labels]) => /mode="decode"/.test(labels))
  if (!isLive && !decodes?.length) return undefined
  const tokens = decodes?.length ? Object.fromEntries(decodes) : byLabels.generation_tokens
  const grown = [tokens, byLabels.generation_tokens, byLabels.finished].map((sets) => growthOf(engine, sets) ?? 0)
  return grown.some((increase) => increase > 0)
}

/** @param engine `dp_rank 2`; the sum over all label sets where there is none. */
function growthOf(engine: string | undefined, sets: Readonly<Record<string, number>> | undefined): number | undefined {
  if (!sets) return undefined
  const label = engine && ` ${engine}`.replace(/^ (\w+) (.*)$/, '$1="$2"')
  const own = Object.entries(sets).filter(([labels]) => label === undefined || `,${labels},`.includes(`,${label},`))
  return own.length === 0 ? undefined : own.reduce((sum, [, increase]) => sum + increase, 0)
}

export function insideOf({ running, waiting }: Motion): number {
  return (running ?? 0) + (waiting ?? 0)
}

/**
 * One more good answer.
 * @param before of the last good answer, if work was there then: a queue that has filled just now does not stand still yet.
 */
export function standOn(
  before: Standstill | undefined,
  motion: Motion,
  table: BackendTable | undefined,
  now: number,
): Standstill | undefined {
  if (insideOf(motion) === 0) return undefined
  const isFresh = !before || motion.moved === undefined || motion.asleep
  const from = isFresh ? { runs: 0, moved: now, fruitful: now } : before
  const { runs, moved, fruitful } = from
  return {
    runs: motion.moved || isFresh ? 0 : runs + 1,
    moved: motion.moved ? now : moved,
    fruitful: motion.bore ? now : fruitful,
    ...(table?.readsAtOnce === undefined ? {} : whileReading(before, motion, now)),
  }
}

/** What tells a standstill from a long prompt, and from a counter whose last digits are not printed. */
function whileReading(
  before: Standstill | undefined,
  { moved, paced, ended, running }: Motion,
  now: number,
): Partial<Standstill> {
  const longest = before && moved ? Math.max(now - before.moved, (before.longest ?? 0) * 0.9) : before?.longest
  const began = (running ?? 0) > (before?.running ?? 0)
  const asWas = began && before?.sure ? 'ending' : before?.sure
  const sure = before && moved ? (paced ? (ended || began ? 'ending' : 'decoding') : undefined) : asWas
  return defined({ longest, sure, running })
}

/** Seconds within which gauges may lag behind. */
const LAG = 60_000
/** Longer than any step with a prompt in it, where one may be under way. */
const LONG_PROMPT = 30 * 60_000
/** A long prompt is read more slowly than short ones were. */
const SLOWER_READ = 5
/** Pauses between two movements that say nothing, beside the longest that was none. */
const COARSE_PAUSES = 3

/**
 * How long work may stand still and yet go on, in milliseconds. `undefined`: as long as it likes, because nothing shows
 * that it could have moved.
 */
export function patienceFor(
  { sure, longest }: Standstill,
  readings: Readings,
  table: BackendTable | undefined,
): number | undefined {
  if (table?.readsAtOnce === undefined) return LAG
  const steps = total(readings, 'steps')
  const coarse = steps !== undefined && printedStep(steps, table.digits) > 1
  if (coarse && longest === undefined) return undefined
  const least = Math.max(LAG, coarse ? COARSE_PAUSES * (longest ?? 0) : 0)
  const seconds = total(readings, 'prompt_seconds')
  if (seconds === undefined) return least
  if (sure === undefined) return undefined
  const tokens = total(readings, 'prompt_tokens') ?? 0
  const oneStep = tokens > 0 ? (SLOWER_READ * table.readsAtOnce * 1_000 * seconds) / tokens : 0
  return Math.max(least, oneStep, sure === 'ending' ? LONG_PROMPT : 0)
}

function total({ counters }: Readings, signal: CounterSignal): number | undefined {
  const sets = counters[signal]
  return sets && Object.values(sets).reduce((sum, { value }) => sum + value, 0)
}

/** Why work does not move, where the page says it. */
export function heldBy(motion: Motion, standstill: Standstill | undefined, now: number): HeldBy | undefined {
  if (motion.unhealthy) return 'unhealthy'
  if (motion.asleep) return 'asleep'
  const { running = 0, waiting = 0, deferred = 0 } = motion
  if (running === 0 && waiting > 0 && deferred >= waiting) return 'deferred'
  return standstill && isRereading(standstill, now) ? 'rereading' : undefined
}

/** Prompts are read again and again; the first token of a long one comes sooner than this. Milliseconds. */
const FRUITLESS = 12 * 60_000

export function isRereading({ runs, fruitful }: Standstill, now: number): boolean {
  return runs === 0 && now - fruitful >= FRUITLESS
}
