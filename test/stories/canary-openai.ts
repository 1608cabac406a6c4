import { page } from './pages.ts'
import { type BundleStory, during, type Reply, type Routes } from './story.ts'

function chunk(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }]
  return `data: ${JSON.stringify({ object: 'chat.completion.chunk', model: 'm', choices })}\n\n`
}

/** A stream of these events. */
function events(...bodies: readonly string[]): Reply {
  return { ms: 200, type: 'text/event-stream', body: bodies.join('') }
}

const ROLE = chunk({ role: 'assistant', content: '' })
const DONE = 'data: [DONE]\n\n'
const broken = (message: string) => events(ROLE, `data: ${JSON.stringify({ error: { message, code: 500 } })}\n\n`)

/** A chat completion of one token that comes after so many milliseconds; `parked`: with comment lines before it. */
function streamed(ttft: number, { parked = false } = {}): Reply {
  const body = [
    parked ? ': keep-alive\n\n'.repeat(5) : '',
    chunk({ role: 'assistant', content: '' }),
    chunk({ content: 'A' }),
    chunk({}, 'length'),
    'data: [DONE]\n\n',
  ].join('')
  return { ms: ttft, type: 'text/event-stream', body }
}

/** @param waiting the server's own queue, where it publishes one. */
function server(completion: Reply, waiting?: number): { routes: Routes } {
  const metrics = page({ 'vllm:num_requests_waiting{model_name="m"}': waiting, 'vllm:num_requests_running': 4 })
  return {
    routes: {
      'POST /v1/chat/completions': completion,
      ...(waiting === undefined ? {} : { 'GET /metrics': { type: 'text/plain; version=0.0.4', body: metrics } }),
    },
  }
}

/** @param ms that our stopwatch shows in the end. */
const parks = (ms: number): Reply => ({ ms, type: 'text/event-stream', instead: 'park' })

const refuses = (status: number, error: object) => server({ ms: 40, status, body: JSON.stringify({ error }) })

const WATCHED = { OPENAI_MODEL: 'm' }
/** A real time-out, so short that a test can wait for it; a limit that it could never reach would be refused. */
const IMPATIENT = { ...WATCHED, OPENAI_TIMEOUT: '600ms', CANARY_LIMIT: '500ms' }

/** An OpenAI-compatible server: a canary against a scripted one. */
export const OPENAI_STORIES: readonly BundleStory[] = [
  {
    name: '5.1 s to the first token fire once and are over',
    backend: 'openai',
    env: WATCHED,
    runs: [
      ...during(0, 1, server(streamed(200))),
      ...during(2, 3, server(streamed(5_100))),
      ...during(4, 6, server(streamed(2_900))),
    ],
    pushes: [
      [2, 'fired', 'canary'],
      [5, 'resolved', 'canary'],
    ],
    says: ['5.1 s', 'X-Request-Id: '],
  },
  {
    name: '4.9 s do not',
    backend: 'openai',
    env: WATCHED,
    runs: during(0, 4, server(streamed(4_900))),
    pushes: [],
    requests: { 'POST /v1/chat/completions': 5 },
  },
  {
    name: 'a gateway that parks with keep-alive lines until our deadline fires: the lines are no token',
    backend: 'openai',
    env: IMPATIENT,
    runs: [...during(0, 1, server(parks(600))), ...during(2, 4, server(streamed(50)))],
    pushes: [
      [0, 'fired', 'canary'],
      [3, 'resolved', 'canary'],
    ],
    says: ['gateway', 'X-Request-Id: '],
  },
  {
    name: "parked until the run's own end, before the limit: longer than that is all that is known, and nothing is told",
    backend: 'openai',
    env: WATCHED,
    remaining: 2_000,
    runs: during(0, 3, server(parks(500))),
    pushes: [],
  },
  {
    name: 'parked and then answered: the time until the token counts, 5.1 s fire',
    backend: 'openai',
    env: WATCHED,
    runs: during(0, 1, server(streamed(5_100, { parked: true }))),
    pushes: [[0, 'fired', 'canary']],
  },
  {
    name: 'parked and then answered: 4.9 s do not',
    backend: 'openai',
    env: WATCHED,
    runs: during(0, 1, server(streamed(4_900, { parked: true }))),
    pushes: [],
  },
  {
    name: 'skipped while 20 requests are waiting: what fires stays, and no completion is asked for',
    backend: 'openai',
    env: WATCHED,
    runs: [{ minute: 0, ...server(streamed(5_100), 3) }, ...during(1, 8, server(streamed(100), 20))],
    pushes: [[0, 'fired', 'canary']],
    requests: { 'POST /v1/chat/completions': 1 },
  },
  {
    name: 'asked while 19 are waiting',
    backend: 'openai',
    env: WATCHED,
    runs: [{ minute: 0, ...server(streamed(5_100), 3) }, ...during(1, 3, server(streamed(100), 19))],
    pushes: [
      [0, 'fired', 'canary'],
      [2, 'resolved', 'canary'],
    ],
    requests: { 'POST /v1/chat/completions': 4 },
  },
  {
    name: 'case 54: 429 in 40 ms fires busy at once',
    backend: 'openai',
    env: WATCHED,
    runs: [
      { minute: 0, ...server(streamed(100)) },
      ...during(1, 3, refuses(429, { message: 'Too many requests' })),
      ...during(4, 6, server(streamed(100))),
    ],
    pushes: [
      [1, 'fired', 'busy'],
      [5, 'resolved', 'busy'],
    ],
    says: ['Too many requests'],
  },
  {
    name: 'case 244: the one token is swallowed: no text, null, or reasoning alone: it answers, and nothing is told',
    backend: 'openai',
    env: WATCHED,
    runs: [
      ...during(0, 3, server(events(ROLE, chunk({}, 'length'), DONE))),
      ...during(
        4,
        7,
        server(events(chunk({ role: 'assistant', content: null }), chunk({ content: null }, 'length'), DONE)),
      ),
      ...during(8, 11, server(events(ROLE, chunk({ reasoning: 'Th' }), chunk({}, 'length'), DONE))),
      ...during(12, 15, server(events(ROLE, chunk({ reasoning_content: 'Th' }), chunk({}, 'length'), DONE))),
    ],
    pushes: [],
  },
  {
    name: 'case 245: an error of the parser inside the stream: down after three, with its words',
    backend: 'openai',
    env: WATCHED,
    runs: [
      { minute: 0, ...server(streamed(100)) },
      ...during(1, 4, server(broken('list index out of range in tool parser'))),
    ],
    pushes: [[3, 'fired', 'down']],
    says: ['list index out of range in tool parser'],
  },
  {
    name: 'case 245: a dead engine behind an API that lives: down after three, with its words',
    backend: 'openai',
    env: WATCHED,
    runs: [
      { minute: 0, ...server(streamed(100)) },
      ...during(1, 4, refuses(500, { message: 'EngineCore encountered an issue', type: 'InternalServerError' })),
    ],
    pushes: [[3, 'fired', 'down']],
    says: ['HTTP 500', 'EngineCore encountered an issue'],
  },
  {
    name: 'nobody behind the proxy is no full queue: down after three',
    backend: 'openai',
    env: WATCHED,
    runs: during(0, 3, server({ ms: 40, status: 503, type: 'text/plain', body: 'no healthy upstream' })),
    pushes: [[2, 'fired', 'down']],
  },
  {
    name: 'case 67: three time-outs fire down, with the id that the server has seen',
    backend: 'openai',
    env: IMPATIENT,
    runs: [
      ...during(0, 1, server({ instead: 'hang' })),
      { minute: 2, ...server(streamed(100)) },
      ...during(3, 6, server({ instead: 'hang' })),
    ],
    pushes: [[5, 'fired', 'down']],
    says: ['X-Request-Id: '],
  },
  {
    name: 'case 63: a model that the server does not have fires blind, a route that it does not have down',
    backend: 'openai',
    env: WATCHED,
    runs: [
      ...during(0, 2, refuses(404, { message: 'The model `m` does not exist.', type: 'NotFoundError', code: 404 })),
      ...during(3, 4, server(streamed(100))),
      ...during(5, 7, { routes: {} }),
    ],
    pushes: [
      [1, 'fired', 'blind'],
      [4, 'resolved', 'blind'],
      [7, 'fired', 'down'],
    ],
  },
]
