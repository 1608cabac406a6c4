/** The last line of a generate stream. Durations in nanoseconds; one that is zero is left out by the server. */
export interface FinalLine {
  done: true
  total_duration?: unknown
  load_duration?: unknown
  prompt_eval_duration?: unknown
  eval_duration?: unknown
}

export type StreamLine = FinalLine | { done: false } | { error: string }

/** Seconds; a phase is undefined when it is unknown. */
export interface Phases {
  total: number
  wait?: number
  load?: number
  prefill?: number
  decode?: number
}

/** One line of a stream; `undefined` when it is no JSON object. */
export function readLine(text: string): StreamLine | undefined {
  const value = parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const line = value as Record<string, unknown>
  if (line.error !== undefined && line.error !== null) return { error: text }
  return line.done === true ? { ...line, done: true } : { done: false }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Splits what our clock saw by what the server says of it.
 * A server that names none of its durations (a load-only answer, an old stream) leaves all phases unknown; where it
 * names some, those left out are zero. One that cannot be (negative, no number, far longer than we waited) makes the
 * wait unknown with it.
 * @param elapsed seconds from sending the request to its last line.
 */
export function phasesOf(final: FinalLine, elapsed: number): Phases {
  const named = [final.total_duration, final.load_duration, final.prompt_eval_duration, final.eval_duration]
  if (named.every((duration) => duration === undefined || duration === null)) return { total: elapsed }
  const load = seconds(final.load_duration, elapsed)
  const prefill = seconds(final.prompt_eval_duration, elapsed)
  const decode = seconds(final.eval_duration, elapsed)
  const wait =
    load === undefined || prefill === undefined || decode === undefined
      ? undefined
      : // Two clocks: the server's parts may add up to a little more than we saw.
        Math.max(0, elapsed - load - prefill - decode)
  return {
    total: elapsed,
    ...(wait === undefined ? {} : { wait }),
    ...(load === undefined ? {} : { load }),
    ...(prefill === undefined ? {} : { prefill }),
    ...(decode === undefined ? {} : { decode }),
  }
}

/** Seconds by which two clocks may differ over one request. */
const TOLERANCE = 1

function seconds(nanoseconds: unknown, elapsed: number): number | undefined {
  if (nanoseconds === undefined || nanoseconds === null) return 0
  if (typeof nanoseconds !== 'number' || !(nanoseconds >= 0)) return undefined
  return nanoseconds / 1e9 <= elapsed + TOLERANCE ? nanoseconds / 1e9 : undefined
}
