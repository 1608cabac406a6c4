import { TABLES } from './backends/backends.ts'
import { canaries } from './canary/canary.ts'
import { readBeats } from './heartbeats/beats.ts'
import { createConcurrencyLimit } from './http/concurrency-limit.ts'
import { openDispatcher } from './http/connections.ts'
import { withDeadline } from './http/deadline.ts'
import { endpointWays } from './http/ways.ts'
import { createMask } from './log.ts'
import type { ScrapedBackend } from './model/backend.ts'
import type { Config, Endpoint } from './model/config.ts'
import { defined } from './model/defined.ts'
import type { IO } from './model/io.ts'
import type { Answer, CanaryFacts, CanaryMemory, Observation } from './model/observation.ts'
import { scrape, scrapeGpu } from './scrape/scrape.ts'
import { inSpan } from './span.ts'

export interface ObserveOptions {
  /** The run's time, epoch milliseconds. */
  now: number
  /** Epoch milliseconds by which every answer must be there; what comes later is a failed scrape. */
  deadline: number
  runId: string
  /** Sees the bodies as they come, piece by piece: for a recording. */
  onChunk?: (endpoint: Endpoint, source: 'server' | 'gpu', chunk: Uint8Array) => void
  /** What is known of an endpoint's canaries before. */
  memoryOf?(endpoint: string): CanaryMemory | undefined
}

/**
 * Asks every endpoint at once, each with its own deadline inside the run's. Nothing is thrown for an endpoint, and no
 * text of an answer repeats a secret that the server was asked with.
 */
export async function observe(config: Config, io: IO, options: ObserveOptions): Promise<Observation[]> {
  const hide = createMask(config.secrets)
  const observations = await ask(config, io, options)
  return observations.map((observation) => withoutSecrets(observation, hide))
}

function withoutSecrets(observation: Observation, hide: (text: string) => string): Observation {
  const detail = <T extends { detail?: string | undefined }>(facts: T): T =>
    facts.detail === undefined ? facts : { ...facts, detail: hide(facts.detail) }
  const canary = observation.canary && withoutAnswer(detail(observation.canary), hide)
  if (observation.up === false) return { ...observation, failure: detail(observation.failure), ...defined({ canary }) }
  if (observation.up === undefined) return canary ? { ...observation, canary } : observation
  const { model } = observation.readings
  const readings = model === undefined ? observation.readings : { ...observation.readings, model: hide(model) }
  return { ...observation, readings, ...defined({ canary }) }
}

/** A model may repeat what it was asked with, and the system prompt of a gateway. */
function withoutAnswer(facts: CanaryFacts, hide: (text: string) => string): CanaryFacts {
  const { answer, answeredBy } = facts
  return {
    ...facts,
    ...(answer && { answer: { ...answer, text: hide(answer.text) } }),
    ...(answeredBy !== undefined && { answeredBy: hide(answeredBy) }),
  }
}

async function ask(config: Config, io: IO, options: ObserveOptions): Promise<Observation[]> {
  const left = Math.max(1, Math.floor(options.deadline - io.now()))
  const { backend, endpoints, canary } = config
  const ends = new Map<string, number>()
  const onCertificate = endpoints.some(looksAtCertificates) ? ends.set.bind(ends) : undefined
  const connections = openDispatcher({ ...endpointWays(config), onCertificate })
  const { dispatcher } = connections
  const work = async (signal: AbortSignal): Promise<Observation[]> => {
    switch (backend) {
      case 'ollama':
      case 'openai': {
        const { runId, now, memoryOf } = options
        const clock = () => performance.now()
        const asked = { backend, canary, clock, runId, dispatcher, signal, timeLeft: left, now, trace: io.trace }
        return canaries(endpoints, { ...asked, ...defined({ memoryOf }) })
      }
      case 'heartbeat-check':
        return readBeats(endpoints, io.store, options.now)
      default:
        return scrapeAll(endpoints, backend, { ...options, signal, dispatcher, trace: io.trace })
    }
  }
  try {
    const observations = await withDeadline(left, work)
    return ends.size === 0 ? observations : observations.map((one) => withCertificate(one, ends))
  } finally {
    await connections.close()
  }
}

function looksAtCertificates({ rules }: Endpoint): boolean {
  return rules.some(({ id }) => id === 'tls_expiry')
}

/** The one of the server, or of the GPU exporter beside it, that ends first. */
function withCertificate(observation: Observation, ends: ReadonlyMap<string, number>): Observation {
  const { url, gpuUrl } = observation.endpoint
  const found = [url, gpuUrl].flatMap((address) => (address && ends.get(new URL(address).origin)) ?? [])
  return found.length === 0 ? observation : { ...observation, certificate: Math.min(...found.map(Number)) }
}

interface ScrapeAll extends Pick<ObserveOptions, 'now' | 'onChunk'> {
  signal: AbortSignal
  dispatcher: unknown
  trace: IO['trace']
}

function scrapeAll(
  endpoints: readonly Endpoint[],
  backend: ScrapedBackend,
  options: ScrapeAll,
): Promise<Observation[]> {
  const enter = createConcurrencyLimit()
  const askOne = (endpoint: Endpoint): Promise<Observation> =>
    inSpan(options.trace, 'scrape', { 'queuebell.endpoint': endpoint.name }, async (span) => {
      const observation = await scrapeOne(endpoint)
      if (observation.up === false) span?.fail(observation.failure.kind)
      return observation
    })
  const scrapeOne = async (endpoint: Endpoint): Promise<Observation> => {
    const start = performance.now()
    const { onChunk: tap, trace: _, ...asking } = options
    const onChunk = (source: 'server' | 'gpu') =>
      tap && { onChunk: (chunk: Uint8Array) => tap(endpoint, source, chunk) }
    const [answer, gpu] = await Promise.all([
      scrape(endpoint, TABLES[backend], { ...asking, ...onChunk('server') }),
      endpoint.gpuUrl === undefined
        ? undefined
        : scrapeGpu(endpoint.gpuUrl, TABLES.dcgm, { ...asking, ...onChunk('gpu'), timeout: endpoint.timeout }),
    ])
    const took = performance.now() - start
    return { ...(answer as Answer), endpoint, took, ...defined({ gpu }) }
  }
  return Promise.all(endpoints.map((endpoint) => enter(() => askOne(endpoint))))
}
