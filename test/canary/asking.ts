import type { CanaryOptions } from '../../src/canary/exchange.ts'
import { openDispatcher } from '../../src/http/connections.ts'
import type { Endpoint } from '../../src/model/config.ts'
import type { Failure } from '../../src/model/failure.ts'
import type { Answer, CanaryFacts } from '../../src/model/observation.ts'

export function endpointAt(url: string, change: Partial<Endpoint> = {}): Endpoint {
  return {
    name: 'chat',
    group: undefined,
    url,
    model: 'm',
    authorization: undefined,
    timeout: 5_000,
    gpuUrl: undefined,
    flaps: undefined,
    runbookUrl: undefined,
    dashboardUrl: undefined,
    rules: [],
    beat: undefined,
    ...change,
  }
}

export const REQUEST_ID = '0123456789abcdef0123456789abcdef'

/** Options of one canary over real connections. */
export function optionsOn(clock: () => number, change: Partial<CanaryOptions> = {}): CanaryOptions {
  return {
    canary: { load: false, loadTimeout: 120_000 },
    clock,
    now: 0,
    requestId: REQUEST_ID,
    dispatcher: openDispatcher().dispatcher,
    ...change,
  }
}

/** The gauges of an answer, in seconds rounded to the nanosecond: sums of decimal fractions are not exact. */
export function gaugesOf(answer: Answer): Record<string, number> {
  if (answer.up !== true) throw new Error(`not up: ${JSON.stringify(answer)}`)
  return Object.fromEntries(
    Object.entries(answer.readings.gauges)
      .filter(([signal]) => signal !== 'vram_share') // no time; it has a test of its own
      .map(([signal, { value }]) => [signal, Math.round(value * 1e9) / 1e9]),
  )
}

export function factsOf(answer: Answer): CanaryFacts | undefined {
  if (answer.up === false) throw new Error(`not up: ${JSON.stringify(answer)}`)
  return answer.canary
}

export function failureIn(answer: Answer): Failure {
  if (answer.up !== false) throw new Error(`not a failure: ${JSON.stringify(answer)}`)
  return answer.failure
}

/** A body given piece by piece, each when it is asked for; `before` runs as a piece leaves, so that a clock can move. */
export function pieces(
  all: readonly (string | Uint8Array)[],
  before: (index: number) => void = () => {},
): ReadableStream {
  let index = 0
  return new ReadableStream(
    {
      pull(controller) {
        const piece = all[index]
        if (piece === undefined) return controller.close()
        before(index)
        index += 1
        controller.enqueue(typeof piece === 'string' ? new TextEncoder().encode(piece) : piece)
      },
    },
    { highWaterMark: 0 },
  )
}
