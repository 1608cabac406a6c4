import type { CanaryConfig, Endpoint } from '../model/config.ts'
import { defined } from '../model/defined.ts'
import type { Answer, CanaryMemory, Observation } from '../model/observation.ts'
import type { Span } from '../model/span.ts'
import { inSpan } from '../span.ts'
import { heldBack } from '../state/canary-memory.ts'
import type { CanaryOptions } from './exchange.ts'
import { ollamaCanary } from './ollama.ts'
import { openaiCanary } from './openai.ts'
import { deepQueue } from './queue.ts'
import { requestIdOf } from './trace.ts'

export interface CanariesOptions {
  backend: 'ollama' | 'openai'
  canary: CanaryConfig
  /** A stopwatch in milliseconds, from any beginning. */
  clock(): number
  runId: string
  dispatcher: unknown
  /** The run's own end. */
  signal: AbortSignal
  /** Milliseconds until then. */
  timeLeft: number
  /** The run's time, epoch milliseconds. */
  now: number
  /** The run as a trace: a canary is a step of it, and the server's own spans hang under that. */
  trace?: Span | undefined
  /** What is known of an endpoint's canaries before; nothing where nobody remembers. */
  memoryOf?(endpoint: string): CanaryMemory | undefined
}

/** With less time than this nothing is asked. Milliseconds. */
const LEAST_TIME = 100

/**
 * Asks every endpoint. Canaries to one server wait for each other, so that none measures another of ours; different
 * servers are asked at once. In the order of the endpoints; nothing is thrown.
 */
export async function canaries(endpoints: readonly Endpoint[], options: CanariesOptions): Promise<Observation[]> {
  const end = options.clock() + options.timeLeft
  const servers = new Map<string, Endpoint[]>()
  for (const endpoint of endpoints) {
    const { origin } = new URL(endpoint.url)
    servers.set(origin, [...(servers.get(origin) ?? []), endpoint])
  }
  const observed = await Promise.all([...servers.values()].map((queue) => askInTurn(queue, options, end)))
  const byName = new Map(observed.flat().map((observation) => [observation.endpoint.name, observation]))
  return endpoints.flatMap((endpoint) => byName.get(endpoint.name) ?? [])
}

async function askInTurn(queue: readonly Endpoint[], options: CanariesOptions, end: number): Promise<Observation[]> {
  const observations: Observation[] = []
  for (const [index, endpoint] of queue.entries()) {
    const start = options.clock()
    const timeLeft = end - start
    // A fair share of what is left: one model that hangs must not keep the others on its server from ever being asked.
    const timeout = Math.min(endpoint.timeout, timeLeft / (queue.length - index))
    const about = { 'queuebell.endpoint': endpoint.name, 'gen_ai.request.model': endpoint.model }
    const answer = await inSpan(options.trace, 'canary', about, async (span) => {
      const traceparent = span?.traceparent || undefined
      const found = await askOne({ ...endpoint, timeout }, { ...options, timeLeft, ...defined({ traceparent }) })
      if (found.up === false) span?.fail(found.failure.kind)
      return found
    })
    observations.push({ ...answer, endpoint, took: options.clock() - start })
  }
  return observations
}

async function askOne(
  endpoint: Endpoint,
  options: CanariesOptions & Pick<CanaryOptions, 'traceparent'>,
): Promise<Answer> {
  if (endpoint.timeout < LEAST_TIME) {
    return { up: false, failure: { kind: 'timeout' } }
  }
  const memory = options.memoryOf?.(endpoint.name)
  const backsOff = options.backend === 'ollama'
  const status = heldBack(memory, endpoint.canary ?? {}, { now: options.now, backsOff })
  if (status !== undefined) return { up: undefined, canary: { status } }
  const canary: CanaryOptions = { ...options, memory, requestId: requestIdOf(options.runId, endpoint.name) }
  switch (options.backend) {
    case 'ollama':
      return ollamaCanary(endpoint, canary)
    case 'openai': {
      const detail = await deepQueue(endpoint, options)
      return detail === undefined
        ? openaiCanary(endpoint, canary)
        : { up: undefined, canary: { status: 'skipped', detail } }
    }
    default:
      return options.backend satisfies never
  }
}
