import type { CanaryRequest, Endpoint } from '../model/config.ts'
import { defined } from '../model/defined.ts'
import type { Answer } from '../model/observation.ts'
import { below, openaiBase } from './address.ts'
import { type Asking, answerInTime, answerOf } from './answer.ts'
import { type CompletionEvent, events, readEvent } from './events.ts'
import { CanaryFailed, type CanaryOptions, exchange, headersOf, lines, wholeText, wordsFrom } from './exchange.ts'
import { isListed, isSameModel } from './model-name.ts'
import { adapt, type Form, firstForm, routeOf, toBody } from './openai-form.ts'
import { fullestQuota } from './quota.ts'
import { errorInStream, refusalOf, saysModelMissing } from './refusal.ts'
import { addTo, answerFacts, ONE_TOKEN, type Reply, rateOf } from './reply.ts'
import { traceparent } from './trace.ts'

/** Parts of an answer beyond those asked for, after which the canary stops reading from a server that ignores the limit. */
const MORE_TOKENS = 15

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
    asking.sent.completions += 1
    const response = await ask(asking, routeOf(form), toBody(form, asking.model, requestOf(asking)))
    if (response.status === 200) return await firstToken(asking, response, start)
    const text = await wholeText(response, asking.signal)
    const next = adapt(form, response.status, text)
    if (!next) throw refusal(asking, response, text)
    form = next
  }
}

function requestOf({ endpoint }: Asking): CanaryRequest {
  return endpoint.canary ?? ONE_TOKEN
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
  /** Seconds until the first token, and until the last. */
  ttft?: number
  last?: number
  reply: Reply
  /** As the answer names it. */
  model?: string
}

async function firstToken(asking: Asking, response: Response, start: number): Promise<Answer> {
  if (/text\/html/i.test(response.headers.get('content-type') ?? '')) {
    throw badAnswer(asking, await wholeText(response, asking.signal))
  }
  const { clock } = asking.options
  const elapsed = () => (clock() - start) / 1_000
  const heard: Heard = { comments: 0, tokens: 0, isCompletion: false, reply: { text: '', thoughts: '' } }
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
  const rate = rateOf(heard.tokens, (heard.last ?? ttft) - ttft)
  const quota = fullestQuota(response.headers)
  const answeredBy = heard.model === undefined ? undefined : await anotherModel(asking, heard.model)
  const facts = { ...answerFacts(heard.reply, requestOf(asking)), ...defined({ answeredBy, quota }) }
  return answerOf(
    asking,
    { status: answeredBy === undefined ? 'answered' : 'model-missing', ...facts },
    {
      canary_total: total,
      canary_ttft: ttft,
      canary_decode: total - ttft,
      canary_rate: rate,
      quota_left: quota && quota.left / quota.of,
    },
  )
}

/** What is another model than the one that was asked for; a server that does not list its models is not doubted. */
async function anotherModel(asking: Asking, answered: string): Promise<string | undefined> {
  if (isSameModel(asking.model, answered)) return undefined
  const listed = await modelsText(asking).catch(() => undefined)
  if (listed === undefined || isListed(asking.model, listed) !== false) return undefined
  return answered
}

async function modelsText(asking: Asking): Promise<string | undefined> {
  const response = await exchange({
    url: below(openaiBase(asking.endpoint.url), 'v1/models'),
    headers: headersOf(asking.endpoint, asking.options),
    signal: asking.signal,
    dispatcher: asking.options.dispatcher,
  })
  const text = await wholeText(response, asking.signal)
  return response.status === 200 ? text : undefined
}

/** To the end of the answer, or until one that ignores the limit of one token has said enough. */
async function listen(asking: Asking, response: Response, heard: Heard, elapsed: () => number): Promise<void> {
  const most = requestOf(asking).tokens + MORE_TOKENS
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
    // A first token may be half a character, and so have no text: the name comes all the same.
    if ('model' in said) heard.model ??= said.model
    if (said.kind === 'other' || said.kind === 'frame') continue
    if (heard.other !== undefined && !heard.isCompletion) return
    // A token may have no text: the end of the answer is then the first that a user sees.
    const at = elapsed()
    heard.ttft ??= at
    if (said.kind === 'token') {
      heard.last = at
      heard.tokens += 1
      addTo(heard.reply, said)
    }
    if (said.kind === 'done' || heard.tokens >= most) return
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
