import { defined } from '../model/defined.ts'
import { isRecord, parseJson } from '../model/json.ts'
import type { DataFault, Signal } from '../model/signals.ts'
import { type Reply, rateOf } from './reply.ts'

/** The last line of a generate stream. Durations in nanoseconds; one that is zero is left out by the server. */
export interface FinalLine {
  done: true
  total_duration?: unknown
  load_duration?: unknown
  prompt_eval_duration?: unknown
  eval_duration?: unknown
  eval_count?: unknown
  response?: unknown
  thinking?: unknown
}

export type StreamLine = FinalLine | { done: false; response?: unknown; thinking?: unknown } | { error: string }

/** Seconds; a phase is undefined when it is unknown. */
export interface Phases {
  total: number
  wait?: number
  load?: number
  prefill?: number
  decode?: number
  /** Tokens a second. */
  rate?: number
  /** Impossible durations, whose phases are therefore unknown. */
  faults: DataFault[]
}

/** One line of a stream; `undefined` when it is not a JSON object. */
export function readLine(text: string): StreamLine | undefined {
  const line = parseJson(text)
  if (!isRecord(line)) return undefined
  if (line.error !== undefined && line.error !== null) return { error: text }
  return { ...line, done: line.done === true }
}

/** What one line adds to the answer. */
export function partOf({ response, thinking }: Pick<FinalLine, 'response' | 'thinking'>): Partial<Reply> {
  return defined({
    text: typeof response === 'string' ? response : undefined,
    thoughts: typeof thinking === 'string' ? thinking : undefined,
  })
}

/**
 * Splits what our clock saw by what the server says of it.
 * A server that names none of its durations (a load-only answer, an old stream) leaves all phases unknown; where it
 * names some, those left out are zero. One that cannot be (negative, no number, longer than any canary may take) makes
 * the wait unknown with it. Parts that add up to more than we saw leave no wait, and are a fault where it is much.
 * @param elapsed seconds from sending the request to its last line.
 */
export function phasesOf(final: FinalLine, elapsed: number): Phases {
  const named = [final.total_duration, final.load_duration, final.prompt_eval_duration, final.eval_duration]
  if (named.every((duration) => duration === undefined || duration === null)) return { total: elapsed, faults: [] }
  const faults: DataFault[] = []
  const read = (signal: Signal, series: keyof FinalLine): number | undefined => {
    const duration = seconds(final[series])
    if (typeof duration === 'number') return duration
    faults.push({ signal, series, what: duration })
    return undefined
  }
  const load = read('canary_load', 'load_duration')
  const prefill = read('canary_prefill', 'prompt_eval_duration')
  const decode = read('canary_decode', 'eval_duration')
  const rest =
    load === undefined || prefill === undefined || decode === undefined ? undefined : elapsed - load - prefill - decode
  if (rest !== undefined && rest < -TOLERANCE)
    faults.push({ signal: 'canary_wait', series: 'total_duration', what: 'out-of-range' })
  return {
    total: elapsed,
    faults,
    ...defined({
      wait: rest === undefined ? undefined : Math.max(0, rest),
      load,
      prefill,
      decode,
      rate: rateOfFinal(final.eval_count, decode),
    }),
  }
}

/** The durations are the server's own, so that the first token counts too. */
function rateOfFinal(count: unknown, decode: number | undefined): number | undefined {
  if (typeof count !== 'number' || decode === undefined || count < 2) return undefined
  return rateOf(count + 1, decode)
}

/** Seconds by which two clocks may differ over one request. */
const TOLERANCE = 1
/** Seconds. No setting lets a canary take longer, so a longer duration is in another unit or from another clock. */
const LONGEST = 3_600

/** @returns seconds, or what is wrong with the duration. */
function seconds(nanoseconds: unknown): number | 'not-a-number' | 'out-of-range' {
  if (nanoseconds === undefined || nanoseconds === null) return 0
  if (typeof nanoseconds !== 'number') return 'not-a-number'
  return nanoseconds >= 0 && nanoseconds / 1e9 <= LONGEST ? nanoseconds / 1e9 : 'out-of-range'
}
