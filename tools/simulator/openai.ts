import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Asked, answerJson, type CanaryFault, park, readAsked, sendStream } from './asked-server.ts'
import type { Clock } from './clock.ts'
import { type Loopback, serveOnLoopback } from './loopback.ts'
import { createSlots } from './slots.ts'

export interface OpenAISettings {
  model: string
  /** Milliseconds. */
  prefillMs: number
  tokenMs: number
  /** Requests computed at once (1). */
  parallel?: number
  /** Requests that may wait before one is refused with 503 (no limit). */
  maxQueue?: number
  /** The key that it asks for (none). */
  key?: string
  /** Routes that it has (both). */
  routes?: readonly ('chat' | 'plain')[]
  /** The name under which it takes the limit of tokens (`max_tokens`). */
  limit?: 'max_tokens' | 'max_completion_tokens'
  /** Its first token is a thought: under this name. */
  reasoning?: 'reasoning' | 'reasoning_content'
  /** Comment lines before the answer (none). */
  keepAlives?: number
  /** Ends its stream with `[DONE]` (yes). */
  done?: boolean
  /** The pieces of its answer (a greeting); `tokenMs` apart. */
  says?: readonly string[]
  /** How it calls itself in its answers (as it was asked). */
  answersAs?: string
  /** Takes any name for its model, as llama.cpp does. */
  takesAnyName?: boolean
  /** Headers of every answer: rate limits. */
  headers?: Readonly<Record<string, string>>
  /** Publishes its queue as vLLM does (no). */
  metrics?: boolean
}

export interface OpenAIServer extends Loopback {
  asked: readonly Asked[]
  /** Requests of users: `times` of them, each computing for `ms`. */
  occupy(ms: number, times?: number): void
  /** The next `times` completions meet this fault; once, when it is not said. */
  meet(fault: CanaryFault, times?: number): void
}

/** An OpenAI-compatible server on loopback with a queue, streaming as vLLM does. On a test's clock no time really passes. */
export async function openOpenAI(settings: OpenAISettings, clock: Clock): Promise<OpenAIServer> {
  const asked: Asked[] = []
  const faults: CanaryFault[] = []
  const slots = createSlots(settings.parallel ?? 1)

  async function complete(request: Asked, route: 'chat' | 'plain', response: ServerResponse): Promise<void> {
    const fault = faults.shift()
    if (fault?.kind === 'status') return answerJson(response, fault.status, fault.body ?? '', fault.headers)
    if (fault?.kind === 'hang') return
    if (fault?.kind === 'parked') return park(response, fault.every)
    const refused = refuse(request, settings) ?? refuseQueue(slots.waiting(clock.now()), settings)
    if (refused) return answerJson(response, refused.status, { error: refused.error }, refused.headers)
    const now = clock.now()
    const written = settings.says ? 0 : settings.tokenMs
    const job = slots.enter(now, settings.prefillMs + written)
    await clock.sleep(job.ended - now)
    if (fault?.kind === 'stall') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.flushHeaders()
      return
    }
    if (fault === undefined && settings.says) return writeOut(settings, clock, route, request, response)
    const text = streamText(settings, route, fault)
    await sendStream(response, 'text/event-stream', text, fault?.kind === 'cut' ? 'cut' : 'whole')
  }

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readAsked(incoming)
    asked.push(request)
    const route = routeOf(request)
    if (request.path === '/metrics' && settings.metrics) {
      response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' })
      response.end(page(settings.model, slots.running(clock.now()), slots.waiting(clock.now())))
    } else if (request.path === '/v1/models' && settings.answersAs !== undefined) {
      answerJson(response, 200, { object: 'list', data: [{ id: settings.answersAs, object: 'model' }] })
    } else if (settings.key !== undefined && request.headers.authorization !== `Bearer ${settings.key}`) {
      answerJson(response, 401, { error: 'Unauthorized' })
    } else if (route !== undefined && (settings.routes ?? ['chat', 'plain']).includes(route)) {
      await complete(request, route, response)
    } else {
      answerJson(response, 404, { detail: 'Not Found' })
    }
  }

  const server = await serveOnLoopback((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  return {
    ...server,
    asked,
    occupy(ms, times = 1) {
      for (let time = 0; time < times; time += 1) slots.enter(clock.now(), ms)
    },
    meet(fault, times = 1) {
      for (let time = 0; time < times; time += 1) faults.push(fault)
    },
  }
}

function routeOf({ method, path }: Asked): 'chat' | 'plain' | undefined {
  if (method !== 'POST') return undefined
  if (path === '/v1/chat/completions') return 'chat'
  return path === '/v1/completions' ? 'plain' : undefined
}

interface Refusal {
  status: number
  error: { message: string; type: string; code?: number }
  headers?: Record<string, string>
}

function refuse(request: Asked, settings: OpenAISettings): Refusal | undefined {
  const { model, limit = 'max_tokens', takesAnyName = false } = settings
  if (request.body.model !== model && !takesAnyName) {
    const message = `The model \`${String(request.body.model)}\` does not exist.`
    return { status: 404, error: { message, type: 'NotFoundError', code: 404 } }
  }
  const other = limit === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
  if (!(other in request.body)) return undefined
  const message = `Unsupported parameter: '${other}' is not supported with this model. Use '${limit}' instead.`
  return { status: 400, error: { message, type: 'invalid_request_error' } }
}

function refuseQueue(waiting: number, { maxQueue = Number.POSITIVE_INFINITY }: OpenAISettings): Refusal | undefined {
  if (waiting < maxQueue) return undefined
  const error = { message: 'The request queue is full, try again later', type: 'overloaded_error' }
  return { status: 503, error, headers: { 'retry-after': '7' } }
}

/** Piece by piece, each after its time. */
async function writeOut(
  { says = [], tokenMs, answersAs, headers = {} }: OpenAISettings,
  clock: Clock,
  route: 'chat' | 'plain',
  { body }: Asked,
  response: ServerResponse,
): Promise<void> {
  const object = route === 'chat' ? 'chat.completion.chunk' : 'text_completion'
  const frame = { id: 'cmpl-1', object, model: answersAs ?? body.model }
  const limit = Number(body.max_tokens ?? body.max_completion_tokens ?? says.length)
  const write = (data: object | string) =>
    response.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`)
  response.writeHead(200, { 'content-type': 'text/event-stream', ...headers })
  for (const piece of says.slice(0, limit)) {
    await clock.sleep(tokenMs)
    const said = route === 'chat' ? { delta: { content: piece } } : { text: piece }
    write({ ...frame, choices: [{ index: 0, finish_reason: null, ...said }] })
  }
  write({
    ...frame,
    choices: [{ index: 0, finish_reason: 'stop', ...(route === 'chat' ? { delta: {} } : { text: '' }) }],
  })
  write('[DONE]')
  response.end()
}

function streamText(settings: OpenAISettings, route: 'chat' | 'plain', fault: CanaryFault | undefined): string {
  const { model, reasoning, keepAlives = 0, done = true } = settings
  const frame = { id: 'cmpl-1', object: route === 'chat' ? 'chat.completion.chunk' : 'text_completion', model }
  const chunk = (choice: object) => ({ ...frame, choices: [{ index: 0, finish_reason: null, ...choice }] })
  const first = route === 'chat' ? [chunk({ delta: { role: 'assistant', content: '' } })] : []
  const token = route === 'chat' ? chunk({ delta: { [reasoning ?? 'content']: 'Grüß' } }) : chunk({ text: 'Grüß' })
  const last =
    route === 'chat' ? chunk({ delta: {}, finish_reason: 'length' }) : chunk({ text: '', finish_reason: 'length' })
  const usage = { ...frame, choices: [], usage: { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 } }
  const parts: object[] =
    fault?.kind === 'error'
      ? [...first, { error: { message: fault.words, type: 'server_error' } }]
      : fault?.kind === 'unfinished'
        ? first
        : [...first, token, last, usage]
  const lines = parts.map((part) => `data: ${JSON.stringify(part)}\n\n`)
  const end = done && fault?.kind !== 'unfinished' ? 'data: [DONE]\n\n' : ''
  return `${': keep-alive\n\n'.repeat(keepAlives)}${lines.join('')}${end}`
}

function page(model: string, running: number, waiting: number): string {
  const labels = `{engine="0",model_name="${model}"}`
  return [
    '# TYPE vllm:num_requests_running gauge',
    `vllm:num_requests_running${labels} ${running}`,
    '# TYPE vllm:num_requests_waiting gauge',
    `vllm:num_requests_waiting${labels} ${waiting}`,
    '# TYPE vllm:kv_cache_usage_perc gauge',
    `vllm:kv_cache_usage_perc${labels} 0.5`,
    '',
  ].join('\n')
}
