import type { Endpoint } from '../model/config.ts'
import type { Answer, CanaryFacts } from '../model/observation.ts'
import { gaugeReadings } from '../signals/readings.ts'
import { below, openaiBase } from './address.ts'
import { withinTime } from './deadline.ts'
import { events, readEvent, type Said } from './events.ts'
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
import { adapt, type Form, firstForm, routeOf, toBody } from './openai-form.ts'
import { busyFacts, failureOfStatus, Refused, refusesForLoad, refusesInStream, saysModelMissing } from './refusal.ts'
import { traceparent } from './trace.ts'

/** Parts of an answer after which a server that ignores the limit of one token is not listened to any longer. */
const MOST_TOKENS = 16

/**
 * One timed request to an OpenAI-compatible server: a streamed completion of one token, and the time until that token
 * is here, as a user sees it. Reasoning counts as a token, a chunk that holds only the role does not.
 */
export async function openaiCanary(endpoint: Endpoint, options: CanaryOptions): Promise<Answer> {
  if (endpoint.model === undefined) return { up: false, failure: { kind: 'other', detail: 'OPENAI_MODEL is not set' } }
  const asking = { endpoint, options, base: openaiBase(endpoint.url), model: endpoint.model }
  try {
    return await withinTime(endpoint.timeout, options.signal, (signal) => complete({ ...asking, signal }))
  } catch (error) {
    if (error instanceof Refused) return met(asking, error.facts)
    return failedAnswer(error, options.requestId)
  }
}

interface Asking {
  endpoint: Endpoint
  options: CanaryOptions
  /** The server's address without `/v1`. */
  base: string
  signal: AbortSignal
  model: string
}

/** Asks in the form that the server takes: chat or plain completion, the limit under the name that it knows. */
async function complete(asking: Asking): Promise<Answer> {
  let form: Form = firstForm(asking.endpoint.url)
  for (;;) {
    const start = asking.options.clock()
    const response = await ask(asking, routeOf(form), toBody(form, asking.model))
    if (response.status === 200) return await firstToken(asking, response, start)
    const text = await wholeText(response, asking.signal)
    const next = adapt(form, response.status, text)
    if (!next) throw refusal(asking, response, text)
    form = next
  }
}

function ask(asking: Asking, path: string, body: unknown): Promise<Response> {
  const { endpoint, options } = asking
  return exchange({
    url: below(asking.base, path),
    body,
    headers: {
      ...headersOf(endpoint, options.requestId),
      traceparent: options.traceparent ?? traceparent(options.requestId),
      accept: 'text/event-stream',
    },
    signal: asking.signal,
    dispatcher: options.dispatcher,
  })
}

/** What was heard of an answer so far. */
interface Heard {
  comments: number
  tokens: number
  /** Something came that only a completion has. */
  isCompletion: boolean
  /** The first object that is no part of a completion. */
  other?: string
  /** Seconds until the first token. */
  ttft?: number
}

async function firstToken(asking: Asking, response: Response, start: number): Promise<Answer> {
  if (/text\/html/i.test(response.headers.get('content-type') ?? '')) {
    throw badAnswer(asking, await wholeText(response, asking.signal))
  }
  const { clock } = asking.options
  const elapsed = () => (clock() - start) / 1_000
  const heard: Heard = { comments: 0, tokens: 0, isCompletion: false }
  try {
    await listen(asking, response, heard, elapsed)
  } catch (error) {
    const late = error instanceof CanaryFailed && error.failure.kind === 'timeout'
    if (late && heard.ttft === undefined && heard.comments > 0) return met(asking, { status: 'parked' })
    throw error
  }
  const { ttft, other, isCompletion } = heard
  if (ttft === undefined && other !== undefined && !isCompletion) throw badAnswer(asking, other)
  if (ttft === undefined) throw new CanaryFailed({ kind: 'cut' })
  const total = elapsed()
  return met(asking, { status: 'answered' }, { canary_total: total, canary_ttft: ttft, canary_decode: total - ttft })
}

/** To the end of the answer, or until one that ignores the limit of one token has said enough. */
async function listen(asking: Asking, response: Response, heard: Heard, elapsed: () => number): Promise<void> {
  for await (const event of events(lines(response, asking.signal))) {
    if ('comment' in event) {
      heard.comments += 1
      continue
    }
    const said: Said = event.isError ? { kind: 'error', text: event.data } : readEvent(event.data)
    if (said.kind === 'unreadable') throw badAnswer(asking, event.data)
    if (said.kind === 'error') throw errorInStream(asking, said.text)
    if (said.kind === 'other') heard.other ??= event.data
    else heard.isCompletion ||= said.kind !== 'done'
    if (said.kind === 'other' || said.kind === 'frame') continue
    if (heard.other !== undefined && !heard.isCompletion) return
    // A token may have no text: the end of the answer is then the first that a user sees.
    heard.ttft ??= elapsed()
    heard.tokens += 1
    if (said.kind === 'done' || heard.tokens >= MOST_TOKENS) return
  }
}

function badAnswer(asking: Asking, data: string): Error {
  const words = wordsFrom(data, asking.endpoint)
  return new CanaryFailed({ kind: 'bad-answer', ...(words === '' ? {} : { detail: words }) })
}

function errorInStream(asking: Asking, text: string): Error {
  const words = wordsFrom(text, asking.endpoint)
  if (refusesInStream(text, words)) return new Refused(busyFacts(words, null))
  if (saysModelMissing(text, words)) return new Refused({ status: 'model-missing', detail: words })
  return new CanaryFailed({ kind: 'stream-error', detail: words })
}

function refusal(asking: Asking, response: Response, text: string): Error {
  const words = wordsFrom(text, asking.endpoint)
  const { status, headers } = response
  if (refusesForLoad(status, words)) return new Refused(busyFacts(words, headers.get('retry-after')))
  if ((status === 404 || status === 400) && saysModelMissing(text, words)) {
    return new Refused({ status: 'model-missing', detail: words })
  }
  return new CanaryFailed(failureOfStatus(status, words))
}

function met(
  asking: Omit<Asking, 'signal'>,
  facts: CanaryFacts,
  gauges: Parameters<typeof gaugeReadings>[0] = {},
): Answer {
  const readings = gaugeReadings(gauges, asking.model)
  return {
    up: true,
    readings: facts.status === 'model-missing' ? { ...readings, modelFound: false } : readings,
    canary: { ...facts, requestId: asking.options.requestId },
  }
}
