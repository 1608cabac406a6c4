import type { Endpoint } from '../model/config.ts'
import type { Answer } from '../model/observation.ts'
import { below, openaiBase } from './address.ts'
import { type Asking, answerInTime, answerOf } from './answer.ts'
import { type CompletionEvent, events, readEvent } from './events.ts'
import { CanaryFailed, type CanaryOptions, exchange, headersOf, lines, wholeText, wordsFrom } from './exchange.ts'
import { adapt, type Form, firstForm, routeOf, toBody } from './openai-form.ts'
import { errorInStream, refusalOf, saysModelMissing } from './refusal.ts'
import { traceparent } from './trace.ts'

/** Parts of an answer after which the canary stops reading from a server that ignores the limit of one token. */
const MOST_TOKENS = 16

/**
 * One timed request to an OpenAI-compatible server: a streamed completion of one token, and the time until that token
 * is here, as a user sees it. Reasoning counts as a token, a chunk that holds only the role does not.
 */
export function openaiCanary(endpoint: Endpoint, options: CanaryOptions): Promise<Answer> {
  return answerInTime(endpoint, options, 'OPENAI_MODEL', complete)
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
    url: below(openaiBase(endpoint.url), path),
    body,
    headers: {
      ...headersOf(endpoint, options),
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
  /** The first object that is not part of a completion. */
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
    if (late && heard.ttft === undefined && heard.comments > 0) return answerOf(asking, { status: 'parked' })
    throw error
  }
  const { ttft, other, isCompletion } = heard
  if (ttft === undefined && other !== undefined && !isCompletion) throw badAnswer(asking, other)
  if (ttft === undefined) throw new CanaryFailed({ kind: 'cut' })
  const total = elapsed()
  return answerOf(
    asking,
    { status: 'answered' },
    { canary_total: total, canary_ttft: ttft, canary_decode: total - ttft },
  )
}

/** To the end of the answer, or until one that ignores the limit of one token has said enough. */
async function listen(asking: Asking, response: Response, heard: Heard, elapsed: () => number): Promise<void> {
  for await (const event of events(lines(response, asking.signal))) {
    if ('comment' in event) {
      heard.comments += 1
      continue
    }
    const said: CompletionEvent = event.isError ? { kind: 'error', text: event.data } : readEvent(event.data)
    if (said.kind === 'unreadable') throw badAnswer(asking, event.data)
    if (said.kind === 'error') throw streamError(asking, said.text)
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

function streamError(asking: Asking, text: string): Error {
  const words = wordsFrom(text, asking.endpoint)
  return errorInStream(text, words, saysModelMissing(text, words))
}

function refusal(asking: Asking, response: Response, text: string): Error {
  const words = wordsFrom(text, asking.endpoint)
  const mayBeMissing = response.status === 404 || response.status === 400
  return refusalOf(response, words, mayBeMissing && saysModelMissing(text, words))
}
