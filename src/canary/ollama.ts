import { withDeadline } from '../http/deadline.ts'
import type { Endpoint } from '../model/config.ts'
import type { Answer, CanaryFacts } from '../model/observation.ts'
import type { DataFault } from '../model/signals.ts'
import { gaugeReadings } from '../signals/readings.ts'
import { below, wholeModelName } from './address.ts'
import {
  CanaryFailed,
  type CanaryOptions,
  exchange,
  failedAnswer,
  headersOf,
  lines,
  wholeText,
  wordsFrom,
} from './exchange.ts'
import { type FinalLine, phasesOf, readLine } from './ollama-line.ts'
import { busyFacts, failureOfStatus, Refused, refusesForLoad, refusesInStream, saysModelMissing } from './refusal.ts'

const PROMPT = 'Hi'
/** A warm model reports some tens of milliseconds of loading; from here on it was loaded for this request. Seconds. */
const COLD_FROM = 1
/** Lines that a server which ignores `num_predict` may send before the canary gives up on it. */
const MOST_LINES = 256

/**
 * One timed request to Ollama, which publishes no metrics: `/api/ps` first, then one streamed token.
 * What our clock saw and the server's own load, prefill and decode do not explain is the time in the queue.
 *
 * It asks only a model that is loaded, unless `CANARY_LOAD=yes`, and never sends `keep_alive`. Still, each canary
 * restarts the server's unload timer, like any request: a canary every minute keeps a loaded model loaded.
 *
 * Sources: Ollama's `docs/api.md` (durations in nanoseconds, left out when zero); `server/sched.go` (another `num_ctx`
 * than the loaded model's makes it load anew, hence the one that `/api/ps` names is asked for).
 */
export async function ollamaCanary(endpoint: Endpoint, options: CanaryOptions): Promise<Answer> {
  if (endpoint.model === undefined) return { up: false, failure: { kind: 'other', detail: 'OLLAMA_MODEL is not set' } }
  const asking = { endpoint, options, model: endpoint.model, found: false }
  try {
    return await withDeadline(endpoint.timeout, (signal) => look({ ...asking, signal }), { outer: options.signal })
  } catch (error) {
    if (error instanceof Refused) return met(asking, error.facts)
    return failedAnswer(error, options.requestId)
  }
}

async function look(asking: Asking): Promise<Answer> {
  const place = await findModel(asking)
  if (place.loaded) return generate({ ...asking, found: true }, place)
  if (!(await isKnown(asking))) return met(asking, { status: 'model-missing' })
  const { canary, signal: run } = asking.options
  const status = place.others ? 'other-model' : 'not-loaded'
  if (!canary.load) return met(asking, { status })
  if (!loadFits(asking.options)) {
    const detail = `CANARY_LOAD_TIMEOUT of ${canary.loadTimeout / 1_000} s is more than this run has left`
    return met(asking, { status, detail })
  }
  // The load has a budget of its own: a short canary would abort it again and again.
  return withDeadline(canary.loadTimeout, (signal) => generate({ ...asking, found: true, signal }, place), {
    outer: run,
  })
}

interface Asking {
  endpoint: Endpoint
  options: CanaryOptions
  model: string
  signal: AbortSignal
  /** `/api/ps` has answered. */
  found: boolean
}

interface Place {
  loaded: boolean
  /** Other models are loaded. */
  others: boolean
  /** Share of the loaded model that lies in GPU memory. */
  vramShare?: number
  /** Tokens, where the server names it. */
  contextLength?: number
}

async function findModel(asking: Asking): Promise<Place> {
  const models = await listModels(asking, 'api/ps')
  const own = models.find((model) => isModel(model, asking.model))
  if (!own) return { loaded: false, others: models.length > 0 }
  const { size, size_vram: inVram, context_length: contextLength } = own
  return {
    loaded: true,
    others: models.length > 1,
    ...(isPositive(size) && typeof inVram === 'number' && inVram >= 0 && inVram <= size
      ? { vramShare: inVram / size }
      : {}),
    ...(isPositive(contextLength) ? { contextLength } : {}),
  }
}

async function isKnown(asking: Asking): Promise<boolean> {
  return (await listModels(asking, 'api/tags')).some((model) => isModel(model, asking.model))
}

async function listModels(asking: Asking, path: string): Promise<Record<string, unknown>[]> {
  const text = await accepted(asking, path)
  const models = modelsIn(text)
  if (!models)
    throw new CanaryFailed({ kind: 'bad-answer', detail: `GET /${path}: ${wordsFrom(text, asking.endpoint)}` })
  return models
}

function modelsIn(text: string): Record<string, unknown>[] | undefined {
  try {
    const { models } = JSON.parse(text) as { models?: unknown }
    // Before its first model, Go writes an empty list as null.
    if (models === null) return []
    return Array.isArray(models) ? models.filter((model) => typeof model === 'object' && model !== null) : undefined
  } catch {
    return undefined
  }
}

function isModel(listed: Record<string, unknown>, model: string): boolean {
  return [listed.name, listed.model].some(
    (name) => typeof name === 'string' && wholeModelName(name) === wholeModelName(model),
  )
}

function isPositive(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0
}

function loadFits(options: CanaryOptions): boolean {
  return options.timeLeft === undefined || options.timeLeft >= options.canary.loadTimeout
}

async function generate(asking: Asking, place: Place, think: false | null = false): Promise<Answer> {
  const { clock } = asking.options
  const request = {
    model: asking.model,
    prompt: PROMPT,
    stream: true,
    ...(think === null ? {} : { think }),
    options: { num_predict: 1, ...(place.contextLength === undefined ? {} : { num_ctx: place.contextLength }) },
  }
  const start = clock()
  const response = await ask(asking, 'api/generate', request)
  if (response.status === 400 && think !== null) {
    const text = await wholeText(response, asking.signal)
    // Old versions, and models that only ever think, refuse the setting itself.
    if (/think/i.test(text)) return generate(asking, place, null)
    throw refusal(asking, response, text)
  }
  if (response.status !== 200) throw refusal(asking, response, await wholeText(response, asking.signal))
  const final = await finalLine(asking, response)
  const phases = phasesOf(final, (clock() - start) / 1_000)
  const cold = !place.loaded || (phases.load ?? 0) >= COLD_FROM
  return met(
    asking,
    {
      status: cold ? 'cold-load' : 'answered',
      ...(place.vramShare === undefined ? {} : { vramShare: place.vramShare }),
    },
    {
      canary_total: phases.total,
      canary_wait: phases.wait,
      canary_load: phases.load,
      canary_prefill: phases.prefill,
      canary_decode: phases.decode,
    },
    phases.faults,
  )
}

function ask(asking: Asking, path: string, body?: unknown): Promise<Response> {
  return exchange({
    url: below(asking.endpoint.url, path),
    ...(body === undefined ? {} : { body }),
    headers: headersOf(asking.endpoint, asking.options.requestId),
    signal: asking.signal,
    dispatcher: asking.options.dispatcher,
  })
}

/** The body of an answer with status 200; any other status is a refusal or a failure. */
async function accepted(asking: Asking, path: string): Promise<string> {
  const response = await ask(asking, path)
  const text = await wholeText(response, asking.signal)
  if (response.status === 200) return text
  const error = refusal(asking, response, text)
  // Ollama before 0.1.38 answers all but this: which route is not there has to be said.
  if (error instanceof CanaryFailed && error.failure.kind === 'not-found')
    throw new CanaryFailed({ ...error.failure, detail: `GET /${path}: ${error.failure.detail ?? 'not found'}` })
  throw error
}

function refusal(asking: Asking, response: Response, text: string): Error {
  const words = wordsFrom(text, asking.endpoint)
  const { status, headers } = response
  if (refusesForLoad(status, words)) return new Refused(busyFacts(words, headers.get('retry-after')))
  // Only the model can be missing here: that this is an Ollama, /api/ps has shown.
  if (saysModelMissing(text, words) || (status === 404 && asking.found)) {
    return new Refused({ status: 'model-missing', ...(words === '' ? {} : { detail: words }) })
  }
  return new CanaryFailed(failureOfStatus(status, words))
}

/**
 * Reads the stream to its last line; its text is never judged: a thinking model's first token may have none. A body
 * that was not streamed may span lines.
 */
async function finalLine(asking: Asking, response: Response): Promise<FinalLine> {
  let count = 0
  let rest = ''
  for await (const text of lines(response, asking.signal)) {
    if (text.trim() === '') continue
    const line = rest === '' ? readLine(text) : undefined
    if (line === undefined) rest += `${text}\n`
    else if ('error' in line) throw errorInStream(asking, line.error)
    else if (line.done) return line
    count += line === undefined ? 0 : 1
    if (count >= MOST_LINES) throw new CanaryFailed({ kind: 'bad-answer', detail: 'more than one token came' })
  }
  const whole = readLine(rest)
  if (whole && 'error' in whole) throw errorInStream(asking, whole.error)
  if (whole?.done) return whole
  // Half an object at the very end is a cut answer, anything else was never a stream.
  if (rest === '' || whole || /^\s*\{[^}]*$/.test(rest)) throw new CanaryFailed({ kind: 'cut' })
  throw new CanaryFailed({ kind: 'bad-answer', detail: wordsFrom(rest, asking.endpoint) })
}

function errorInStream(asking: Asking, error: string): Error {
  const words = wordsFrom(error, asking.endpoint)
  if (refusesInStream(error, words)) return new Refused(busyFacts(words, null))
  return new CanaryFailed({ kind: 'stream-error', detail: words })
}

function met(
  asking: Omit<Asking, 'signal'>,
  facts: CanaryFacts,
  gauges: Parameters<typeof gaugeReadings>[0] = {},
  faults: DataFault[] = [],
): Answer {
  const readings = { ...gaugeReadings(gauges, asking.model), faults }
  return {
    up: true,
    readings: facts.status === 'model-missing' ? { ...readings, modelFound: false } : readings,
    canary: { ...facts, requestId: asking.options.requestId },
  }
}
