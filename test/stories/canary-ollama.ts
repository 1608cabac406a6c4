import { type BundleStory, during, type Reply, type Routes } from './story.ts'

/** Milliseconds of one generation. */
interface Phases {
  wait?: number
  load?: number
  prefill?: number
  decode?: number
}

const MODEL = { name: 'm:latest', model: 'm:latest', size: 4_000_000_000, size_vram: 4_000_000_000 }

/** The last line tells the server's own durations, in nanoseconds; the wait is in none of them. */
function generated({ wait = 0, load = 0, prefill = 100, decode = 20 }: Phases): Reply {
  const nanoseconds = (ms: number) => ms * 1_000_000
  const frame = { model: MODEL.name, created_at: '2026-06-01T00:00:00Z' }
  const final = {
    ...frame,
    response: '',
    done: true,
    done_reason: 'length',
    total_duration: nanoseconds(load + prefill + decode),
    load_duration: nanoseconds(load),
    prompt_eval_count: 9,
    prompt_eval_duration: nanoseconds(prefill),
    eval_count: 1,
    eval_duration: nanoseconds(decode),
  }
  const lines = [{ ...frame, response: 'A', done: false }, final].map((line) => `${JSON.stringify(line)}\n`)
  return { ms: wait + load + prefill + decode, type: 'application/x-ndjson', body: lines.join('') }
}

function ollama(generate: Reply, { loaded = true, known = true } = {}): Routes {
  return {
    'GET /api/ps': { body: JSON.stringify({ models: loaded ? [{ ...MODEL, context_length: 4_096 }] : [] }) },
    'GET /api/tags': { body: JSON.stringify({ models: known ? [MODEL] : [] }) },
    'POST /api/generate': generate,
  }
}

/** The same, with so much of the model in GPU memory. */
function withVram(share: number, phases: Phases) {
  const routes = ollama(generated(phases))
  const model = { ...MODEL, size_vram: MODEL.size * share, context_length: 4_096 }
  return { routes: { ...routes, 'GET /api/ps': { body: JSON.stringify({ models: [model] }) } } }
}

const after = (phases: Phases) => ({ routes: ollama(generated(phases)) })
const cold = (phases: Phases) => ({ routes: ollama(generated(phases), { loaded: false }) })
const says = (status: number, error: string, ms = 40) => ({
  routes: ollama({ ms, status, body: JSON.stringify({ error }) }),
})
const hangs = { routes: ollama({ instead: 'hang' }) }

const WATCHED = { OLLAMA_MODEL: 'm' }
/** A real time-out, so short that a test can wait for it; a limit that it could never reach would be refused. */
const IMPATIENT = { ...WATCHED, OLLAMA_TIMEOUT: '600ms', CANARY_LIMIT: '500ms' }
const LOADING = { ...WATCHED, CANARY_LOAD: 'yes' }
/** A cold load has the priority of an end; here it must be told from one. */
const COLD_LOAD = { ...LOADING, COLD_LOAD_LIMIT: '30s', COLD_LOAD_PRIORITY: '5' }

const WAITING: BundleStory[] = [
  {
    name: '4.9 s of waiting do not fire',
    backend: 'ollama',
    env: WATCHED,
    runs: during(0, 4, after({ wait: 4_900 })),
    pushes: [],
    requests: { 'POST /api/generate': 5 },
  },
  {
    name: '5.1 s of waiting fire once, hold down to the clear limit, and are over at the second run below it',
    backend: 'ollama',
    env: WATCHED,
    runs: [
      ...during(0, 1, after({ wait: 50 })),
      ...during(2, 3, after({ wait: 5_100 })),
      ...during(4, 5, after({ wait: 3_100 })),
      ...during(6, 8, after({ wait: 2_900 })),
    ],
    pushes: [
      [2, 'fired', 'canary'],
      [7, 'resolved', 'canary'],
    ],
    says: ['5.1 s', 'X-Request-Id: '],
  },
  {
    name: 'case 58: 40 s of loading with 1 s of waiting are no queue',
    backend: 'ollama',
    env: LOADING,
    runs: [...during(0, 1, cold({ load: 40_000, wait: 1_000 })), ...during(2, 3, after({ load: 40_000, wait: 1_000 }))],
    pushes: [],
    requests: { 'POST /api/generate': 4 },
  },
  {
    name: '40 s of loading with 5.1 s of waiting are',
    backend: 'ollama',
    env: LOADING,
    runs: during(0, 1, cold({ load: 40_000, wait: 5_100 })),
    pushes: [[0, 'fired', 'canary']],
    says: ['had to be loaded first'],
  },
  {
    name: 'long prefill and decode are no queue either',
    backend: 'ollama',
    env: WATCHED,
    runs: during(0, 2, after({ wait: 100, prefill: 15_000, decode: 9_000 })),
    pushes: [],
  },
]

const FALLEN_BACK: BundleStory[] = [
  {
    name: 'case 238: a model that is on the CPU after 70 good canaries is told once, and over when it is back',
    backend: 'ollama',
    env: WATCHED,
    runs: [
      ...during(0, 70, withVram(1, {})),
      ...during(71, 85, withVram(0, { prefill: 700, decode: 550 })),
      ...during(86, 88, withVram(1, {})),
    ],
    pushes: [
      [71, 'fired', 'cpu_fallback'],
      [87, 'resolved', 'cpu_fallback'],
    ],
    says: ['CPU'],
  },
  {
    name: 'a model that was always half on the CPU, or loses a little, is none',
    backend: 'ollama',
    env: WATCHED,
    runs: [...during(0, 70, withVram(0.6, {})), ...during(71, 75, withVram(0.5, {}))],
    pushes: [],
  },
]

const REFUSED: BundleStory[] = [
  {
    name: 'case 239: a runner that no longer fits into the memory, and one that stopped: down after three, with its words',
    backend: 'ollama',
    env: WATCHED,
    runs: [
      ...during(0, 1, after({})),
      ...during(2, 4, says(500, 'model requires more system memory (9.8 GiB) than is available (3.1 GiB)')),
      ...during(5, 6, after({})),
      ...during(7, 9, says(500, 'model runner has unexpectedly stopped, this may be due to resource limitations')),
    ],
    pushes: [
      [4, 'fired', 'down'],
      [6, 'resolved', 'down'],
      [9, 'fired', 'down'],
    ],
    says: ['requires more system memory'],
  },
  {
    name: 'case 54: 503 in 40 ms fires busy at once, not down, and is over when it answers',
    backend: 'ollama',
    env: WATCHED,
    runs: [
      { minute: 0, ...after({}) },
      ...during(1, 4, says(503, 'server busy, please try again.  maximum pending requests exceeded')),
      ...during(5, 7, after({})),
    ],
    pushes: [
      [1, 'fired', 'busy'],
      [6, 'resolved', 'busy'],
    ],
    says: ['maximum pending requests exceeded'],
  },
  {
    name: '503 in 40 ms while a model is loading is no full queue: it counts as down, after three',
    backend: 'ollama',
    env: WATCHED,
    runs: [
      ...during(0, 1, says(503, 'loading model')),
      { minute: 2, ...after({}) },
      ...during(3, 5, says(503, 'loading model')),
    ],
    pushes: [[5, 'fired', 'down']],
  },
  {
    name: 'case 67: three time-outs fire down, with the id that the server has seen; two good answers end it',
    backend: 'ollama',
    env: IMPATIENT,
    runs: [{ minute: 0, ...after({}) }, ...during(1, 4, hangs), ...during(5, 7, after({}))],
    pushes: [
      [3, 'fired', 'down'],
      [6, 'resolved', 'down'],
    ],
    says: ['X-Request-Id: '],
  },
  {
    name: 'two time-outs do not',
    backend: 'ollama',
    env: IMPATIENT,
    runs: [...during(0, 1, hangs), { minute: 2, ...after({}) }, ...during(3, 4, hangs), { minute: 5, ...after({}) }],
    pushes: [],
  },
  {
    name: 'case 63: 404 for the model fires blind at the second run and names it',
    backend: 'ollama',
    env: WATCHED,
    runs: [{ minute: 0, ...after({}) }, ...during(1, 3, says(404, "model 'm' not found")), ...during(4, 6, after({}))],
    pushes: [
      [2, 'fired', 'blind'],
      [5, 'resolved', 'blind'],
    ],
    says: ['“m”'],
  },
  {
    name: 'a model that is not even listed is blind too, and is never asked for',
    backend: 'ollama',
    env: WATCHED,
    runs: during(0, 2, { routes: ollama(generated({}), { loaded: false, known: false }) }),
    pushes: [[1, 'fired', 'blind']],
    requests: { 'POST /api/generate': 0 },
  },
  {
    name: 'one 404 is not',
    backend: 'ollama',
    env: WATCHED,
    runs: [{ minute: 0, ...after({}) }, { minute: 1, ...says(404, "model 'm' not found") }, ...during(2, 4, after({}))],
    pushes: [],
  },
  {
    name: '404 for everything is no Ollama: down after three, and never blind',
    backend: 'ollama',
    env: WATCHED,
    runs: during(0, 3, { routes: {} }),
    pushes: [[2, 'fired', 'down']],
  },
]

const LOADED: BundleStory[] = [
  {
    name: 'case 66: a model that is not loaded is not loaded by us, and nothing is told',
    backend: 'ollama',
    env: WATCHED,
    runs: during(0, 9, cold({ load: 40_000 })),
    pushes: [],
    requests: { 'GET /api/ps': 10, 'POST /api/generate': 0 },
  },
  {
    name: 'a model that leaves the memory while its canary waits long is not called quick: closed as idle',
    backend: 'ollama',
    env: WATCHED,
    runs: [...during(0, 1, after({ wait: 9_000 })), ...during(2, 18, cold({}))],
    pushes: [
      [0, 'fired', 'canary'],
      [17, 'resolved', 'canary'],
    ],
  },
  {
    name: 'a short deadline does not abort a load that we were asked to make',
    backend: 'ollama',
    env: { ...LOADING, ...IMPATIENT },
    runs: [{ minute: 0, routes: ollama({ ...generated({ load: 40_000 }), realMs: 900 }, { loaded: false }) }],
    pushes: [],
    requests: { 'POST /api/generate': 1, 'left before the answer': 0 },
  },
  {
    name: 'the same short deadline does end the canary of a loaded model',
    backend: 'ollama',
    env: { ...LOADING, ...IMPATIENT },
    runs: [{ minute: 0, routes: ollama({ ...generated({}), realMs: 900 }) }],
    pushes: [],
    requests: { 'POST /api/generate': 1, 'left before the answer': 1 },
  },
  {
    name: 'a load that does not fit into the run is not begun, for it would be aborted again and again',
    backend: 'ollama',
    env: LOADING,
    remaining: 60_000,
    runs: during(0, 4, cold({ load: 40_000 })),
    pushes: [],
    requests: { 'POST /api/generate': 0 },
  },
  {
    name: 'cold_load: 31 s of loading above a limit of 30 s are told when a limit is set',
    backend: 'ollama',
    env: COLD_LOAD,
    runs: [{ minute: 0, ...cold({ load: 31_000 }) }, ...during(1, 3, after({}))],
    pushes: [
      [0, 'fired', 'cold_load'],
      [2, 'resolved', 'cold_load'],
    ],
  },
  {
    name: 'cold_load: 29 s are not',
    backend: 'ollama',
    env: COLD_LOAD,
    runs: [{ minute: 0, ...cold({ load: 29_000 }) }, ...during(1, 3, after({}))],
    pushes: [],
  },
]

/** Ollama: a canary against a scripted server. */
export const OLLAMA_STORIES: readonly BundleStory[] = [...WAITING, ...FALLEN_BACK, ...REFUSED, ...LOADED]
