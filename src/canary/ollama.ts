import { setTimeout as pause } from 'node:timers/promises'
import { withDeadline } from '../http/deadline.ts'
import type { CanaryRequest, Endpoint } from '../model/config.ts'
import { defined } from '../model/defined.ts'
import { isRecord, parseJson } from '../model/json.ts'
import type { Answer } from '../model/observation.ts'
import { isUnused } from '../state/canary-memory.ts'
import { below, wholeModelName } from './address.ts'
import { answerInTime, answerOf, type Asking as Canary } from './answer.ts'
import { CanaryFailed, type CanaryOptions, exchange, headersOf, lines, wholeText, wordsFrom } from './exchange.ts'
import { type FinalLine, partOf, phasesOf, readLine } from './ollama-line.ts'
import { errorInStream, refusalOf, saysModelMissing } from './refusal.ts'
import { addTo, answerFacts, ONE_TOKEN, type Reply } from './reply.ts'

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
 * than the loaded model's makes it load again, hence the canary asks for the one that `/api/ps` names).
 */
export function ollamaCanary(endpoint: Endpoint, options: CanaryOptions): Promise<Answer> {
  return answerInTime(endpoint, options, 'OLLAMA_MODEL', (asking) => look({ ...asking, found: false }))
}

async function look(asking: Asking): Promise<Answer> {
  const place = await findModel(asking)
  const { now, memory } = asking.options
  if (place.loaded && requestOf(asking).idle === 'skip' && isUnused(memory, place.leavesAt, now)) {
    const facts = defined({ status: 'idle' as const, vramShare: place.vramShare })
    return answerOf(asking, facts, { vram_share: place.vramShare })
  }
  if (place.loaded) return generate({ ...asking, found: true }, place)
  if (!(await isKnown(asking))) return answerOf(asking, { status: 'model-missing' })
  const { canary, signal: run } = asking.options
  const status = place.others ? 'other-model' : 'not-loaded'
  if (!canary.load) return answerOf(asking, { status })
  if (!loadFits(asking.options)) {
    const detail = `CANARY_LOAD_TIMEOUT of ${canary.loadTimeout / 1_000} s is more than this run has left`
    return answerOf(asking, { status, detail })
  }
  // The load has a budget of its own: a short canary would abort it again and again.
  return withDeadline(canary.loadTimeout, (signal) => generate({ ...asking, found: true, signal }, place), {
    outer: run,
  })
}

function requestOf({ endpoint }: Asking): CanaryRequest {
  return endpoint.canary ?? ONE_TOKEN
}

interface Asking extends Canary {
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
  /** Epoch milliseconds by the server's clock: unless somebody asks it again. */
  leavesAt?: number
}

async function findModel(asking: Asking): Promise<Place> {
  const models = await listModels(asking, 'api/ps')
  const own = models.find((model) => isModel(model, asking.model))
  if (!own) return { loaded: false, others: models.length > 0 }
  const { size, size_vram: inVram, context_length: contextLength, expires_at: leavesAt } = own
  return {
    loaded: true,
    others: models.length > 1,
    ...defined({
      vramShare: isPositive(size) && isWithin(inVram, size) ? inVram / size : undefined,
      contextLength: isPositive(contextLength) ? contextLength : undefined,
      leavesAt: typeof leavesAt === 'string' && !Number.isNaN(Date.parse(leavesAt)) ? Date.parse(leavesAt) : undefined,
    }),
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
  const answer = parseJson(text)
  if (!isRecord(answer)) return undefined
  // Before its first model, Go writes an empty list as null.
  if (answer.models === null) return []
  return Array.isArray(answer.models) ? answer.models.filter(isRecord) : undefined
}

function isModel(listed: Record<string, unknown>, model: string): boolean {
  return [listed.name, listed.model].some(
    (name) => typeof name === 'string' && wholeModelName(name) === wholeModelName(model),
  )
}

function isPositive(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0
}

function isWithin(value: unknown, most: number): value is number {
  return typeof value === 'number' && value >= 0 && value <= most
}

function loadFits(options: CanaryOptions): boolean {
  return options.timeLeft === undefined || options.timeLeft >= options.canary.loadTimeout
}

async function generate(asking: Asking, place: Place, think: false | null = false): Promise<Answer> {
  const { clock } = asking.options
  const { tokens, prompt, expect } = requestOf(asking)
  const request = {
    model: asking.model,
    prompt,
    stream: true,
    ...(think === null ? {} : { think }),
    options: defined({
      num_predict: tokens,
      num_ctx: place.contextLength,
      // An answer that is compared must be the same each time.
      temperature: expect === undefined ? undefined : 0,
    }),
  }
  asking.sent.completions += 1
  const start = clock()
  const response = await ask(asking, 'api/generate', request)
  if (response.status === 400 && think !== null) {
    const text = await wholeText(response, asking.signal)
    // Old versions, and models that only ever think, refuse the setting itself.
    if (/think/i.test(text)) return generate(asking, place, null)
    throw refusal(asking, response, text)
  }
  if (response.status !== 200) throw refusal(asking, response, await wholeText(response, asking.signal))
  const reply: Reply = { text: '', thoughts: '' }
  const final = await finalLine(asking, response, reply)
  const phases = phasesOf(final, (clock() - start) / 1_000)
  const leavesAt = requestOf(asking).idle === 'skip' ? await endAfter(asking, place) : undefined
  const cold = !place.loaded || (phases.load ?? 0) >= COLD_FROM
  return answerOf(
    asking,
    {
      status: cold ? 'cold-load' : 'answered',
      ...answerFacts(reply, requestOf(asking)),
      ...defined({ vramShare: place.vramShare, leavesAt }),
    },
    {
      canary_total: phases.total,
      canary_wait: phases.wait,
      canary_load: phases.load,
      canary_prefill: phases.prefill,
      canary_decode: phases.decode,
      canary_rate: phases.rate,
      vram_share: place.vramShare,
    },
    phases.faults,
  )
}

/** The scheduler books the end of a request a moment after its last line. Milliseconds, and how often to look. */
const BOOKED_AFTER = 50
const LOOKS = 3

/** When the model leaves the memory by our own request; `undefined` where that cannot be told: then it is asked again. */
async function endAfter(asking: Asking, { leavesAt: before }: Place): Promise<number | undefined> {
  for (let look = 0; look < LOOKS; look += 1) {
    if (look > 0) await pause(BOOKED_AFTER)
    // The answer is here: that it cannot be looked at any more takes nothing from it.
    const place = await findModel(asking).catch(() => undefined)
    if (!place?.loaded || place.leavesAt === undefined) return undefined
    if (place.leavesAt !== before) return place.leavesAt
  }
  return undefined
}

function ask(asking: Asking, path: string, body?: unknown): Promise<Response> {
  return exchange({
    url: below(asking.endpoint.url, path),
    body,
    headers: headersOf(asking.endpoint, asking.options),
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
  // A 404 can only mean the model once /api/ps has shown that this is an Ollama.
  const isMissing = saysModelMissing(text, words) || (response.status === 404 && asking.found)
  return refusalOf(response, words, isMissing)
}

/**
 * Reads the stream to its last line; its text is never judged: a thinking model's first token may have none. A body
 * that was not streamed may span lines.
 */
async function finalLine(asking: Asking, response: Response, reply: Reply): Promise<FinalLine> {
  const streamError = (text: string) => errorInStream(text, wordsFrom(text, asking.endpoint), false)
  let count = 0
  let rest = ''
  for await (const text of lines(response, asking.signal)) {
    if (text.trim() === '') continue
    const line = rest === '' ? readLine(text) : undefined
    if (line === undefined) rest += `${text}\n`
    else if ('error' in line) throw streamError(line.error)
    else addTo(reply, partOf(line))
    if (line && 'done' in line && line.done) return line
    count += line === undefined ? 0 : 1
    if (count >= MOST_LINES) throw new CanaryFailed({ kind: 'bad-answer', detail: 'more than one token came' })
  }
  const whole = readLine(rest)
  if (whole && 'error' in whole) throw streamError(whole.error)
  if (whole) addTo(reply, partOf(whole))
  if (whole?.done) return whole
  // Half an object at the very end is a cut answer, anything else was never a stream.
  if (rest === '' || whole || /^\s*\{[^}]*$/.test(rest)) throw new CanaryFailed({ kind: 'cut' })
  throw new CanaryFailed({ kind: 'bad-answer', detail: wordsFrom(rest, asking.endpoint) })
}
