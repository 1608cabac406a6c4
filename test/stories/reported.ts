import { page, vllm, vllmHistogram } from './pages.ts'
import { from, type Served, type Story } from './story.ts'

const PEACE = 90

/** Time in the queue and to the first token: so many quick ones, and so many that took 8 s. */
function times(quick: number, slow: number): Record<string, number> {
  const all = quick + slow
  const buckets = { 0.3: quick, 5: quick, 10: all, '+Inf': all }
  const names = ['request_queue_time_seconds', 'time_to_first_token_seconds']
  return Object.assign({}, ...names.map((name) => vllmHistogram(name, buckets, 0.1 * quick + 8 * slow)))
}

const working = (m: number) => ({ running: 4, finished: 30 * m, tokens: 3_000 * m })

/** Late answers, and then nothing finishes any more. @param tokens per minute from then on. */
function thenNothingFinishes(tokens: number): Story['runs'] {
  return [
    ...from(0, 5, (m) => vllm({ ...working(m), more: times(30 * m, 0) })),
    ...from(6, 10, (m) => vllm({ ...working(m), waiting: 6, more: times(150, 30 * (m - 5)) })),
    ...from(11, 55, (m) =>
      vllm({ running: 1, waiting: 14, finished: 300, tokens: 30_000 + tokens * (m - 10), more: times(150, 150) }),
    ),
  ]
}

/** So many minutes after long prompts have filled the cache. */
function filled(since: number) {
  return { waiting: Math.min(80, 18 + 5 * since), finished: 20 * PEACE + 18 * since, preemptions: 30 * since }
}

function llama(m: number, ended: number): string {
  return page({
    'llamacpp:requests_processing': 1,
    'llamacpp:requests_deferred': 0,
    'llamacpp:n_decode_total': 1_800 * m,
    'llamacpp:tokens_predicted_total': 1_800 * ended,
    'llamacpp:tokens_predicted_seconds_total': 60 * ended,
    'llamacpp:prompt_tokens_total': 100 * ended,
    'llamacpp:prompt_seconds_total': ended,
  })
}

/** TGI with two requests in its batch. @param moved minutes that it has worked. */
function tgi({ queue, moved }: { queue: number; moved: number }): string {
  return page({
    tgi_queue_size: queue,
    tgi_batch_current_size: 2,
    tgi_request_success: 40 * moved,
    tgi_batch_inference_count: 900 * moved,
  })
}

/** A decode node whose two tensor-parallel ranks print the same numbers. */
function decodeNode(m: number, transferring: number): string {
  const ranks = ['0', '1'].map((tp) => {
    const labels = `model_name="m",tp_rank="${tp}",dp_rank="0"`
    return {
      [`sglang:num_queue_reqs{${labels}}`]: 0,
      [`sglang:num_running_reqs{${labels}}`]: 5,
      [`sglang:token_usage{${labels}}`]: 0.4,
      [`sglang:num_decode_transfer_queue_reqs{${labels}}`]: transferring,
      [`sglang:generation_tokens_total{${labels}}`]: 1_000 * m,
    }
  })
  return page(Object.assign({}, ...ranks))
}

function gpus(xid: number): string {
  return page(
    Object.assign(
      {},
      ...[0, 1, 2, 3, 4, 5, 6, 7].map((gpu) => ({
        [`DCGM_FI_DEV_GPU_UTIL{gpu="${gpu}",UUID="GPU-${gpu}"}`]: 5,
        [`DCGM_FI_DEV_XID_ERRORS{gpu="${gpu}",UUID="GPU-${gpu}"}`]: xid,
      })),
    ),
  )
}

/** Eight engines, of which two have the queue and six next to nothing. */
function unevenEngines(m: number): string {
  const byEngine = (name: string, values: readonly number[]) =>
    Object.fromEntries(values.map((value, engine) => [`vllm:${name}{engine="${engine}",model_name="m"}`, value]))
  return page({
    ...byEngine('num_requests_running', [51, 31, 2, 2, 2, 2, 2, 2]),
    ...byEngine('num_requests_waiting', [117, 108, 0, 0, 0, 0, 0, 0]),
    ...byEngine('kv_cache_usage_perc', [1, 0.986, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05]),
    ...byEngine('generation_tokens_total', Array(8).fill(m * 5_000)),
    ...byEngine('request_success_total', Array(8).fill(m * 20)),
  })
}

const failing: readonly Served[] = [
  'refused',
  { status: 503 },
  { status: 502 },
  { status: 504 },
  { status: 401 },
  'refused',
  { status: 404 },
  { status: 500 },
]

/** Public incidents that were told right, or are now, with their numbers as far as they are known. */
export const REPORTED_STORIES: readonly Story[] = [
  {
    name: 'case 202: one crawling request holds the cache and 14 wait for an hour: told within ten minutes, once',
    backend: 'vllm',
    runs: [
      ...from(0, PEACE, (m) => vllm({ running: 1, finished: 2 * m, tokens: 2_400 * m, kv: 0.3 })),
      ...from(PEACE + 1, PEACE + 70, (m) =>
        vllm({
          running: 1,
          waiting: 14,
          kv: 0.7 + 0.0012 * (m - PEACE),
          finished: 2 * PEACE,
          tokens: 2_400 * PEACE + 324 * (m - PEACE),
        }),
      ),
    ],
    pushes: [[98, 'fired', 'throughput']],
  },
  {
    name: 'case 208: the queue stands on two of eight engines, whose caches are full: told once',
    backend: 'vllm',
    runs: from(0, 30, unevenEngines),
    pushes: [[0, 'fired', 'waiting']],
  },
  {
    name: 'case 210: long prompts fill the cache and the queue grows for half an hour: told once',
    backend: 'vllm',
    runs: [
      ...from(0, PEACE, (m) => vllm({ running: 33, kv: 0.7, finished: 20 * m, tokens: 45_000 * m })),
      ...from(PEACE + 1, PEACE + 60, (m) => vllm({ running: 33, kv: 0.99, tokens: 45_000 * m, ...filled(m - PEACE) })),
    ],
    pushes: [[91, 'fired', 'waiting']],
  },
  {
    name: 'case 209: a cache that is full though nothing runs, and then four requests that wait for it',
    backend: 'vllm',
    runs: [
      ...from(0, 5, (m) => vllm({ ...working(m), kv: 0.4 })),
      ...from(6, 25, () => vllm({ ...working(5), running: 0, kv: 0.95 })),
      ...from(26, 35, () => vllm({ ...working(5), running: 0, waiting: 4, kv: 0.95 })),
    ],
    pushes: [
      [11, 'fired', 'kv_cache'],
      [28, 'worse', 'stalled'],
    ],
  },
  {
    name: 'case 217: late answers, and then none for 44 minutes while tokens come: no end, and a queue that stands still',
    backend: 'vllm',
    runs: thenNothingFinishes(2_700),
    pushes: [[6, 'fired', 'ttft']],
  },
  {
    name: 'case 217: late answers, and then neither answers nor tokens: no end, and stalled',
    backend: 'vllm',
    runs: thenNothingFinishes(0),
    pushes: [
      [6, 'fired', 'ttft'],
      [12, 'worse', 'stalled'],
    ],
  },
  {
    name: 'case 225: a queue that stands in the KV transfer of a decode node counts once',
    backend: 'sglang',
    runs: [...from(0, 1, (m) => decodeNode(m, 0)), ...from(2, 5, (m) => decodeNode(m, 124))],
    pushes: [[2, 'fired', 'waiting']],
  },
  {
    name: 'case 232: a queue that rises and never falls while the batch stands: stalled, once',
    backend: 'tgi',
    runs: [...from(0, 4, (m) => tgi({ queue: 0, moved: m })), ...from(5, 40, (m) => tgi({ queue: m - 4, moved: 4 }))],
    pushes: [[6, 'fired', 'stalled']],
  },
  {
    name: 'case 411: 25 wait, told; an hour later 900: told once more, as worse',
    backend: 'vllm',
    runs: [
      ...from(0, 5, (m) => vllm(working(m))),
      ...from(6, 65, (m) => vllm({ ...working(m), waiting: 25 })),
      ...from(66, 80, (m) => vllm({ ...working(m), waiting: 900 })),
    ],
    pushes: [
      [6, 'fired', 'waiting'],
      [66, 'worse', 'waiting'],
    ],
  },
  {
    name: 'case 226: an answer of a quarter of an hour is no standstill',
    backend: 'llamacpp',
    runs: [...from(0, 70, (m) => llama(m, m)), ...from(71, 86, (m) => llama(m, 70))],
    pushes: [],
  },
  {
    name: 'case 237: a killed job leaves its code on eight GPUs: one push, and none again',
    backend: 'dcgm',
    runs: [...from(0, 2, () => gpus(0)), ...from(3, 600, () => gpus(45))],
    pushes: [[3, 'fired', 'gpu_xid']],
  },
  {
    name: 'case 329: a failure that changes its kind is one outage, with one end',
    backend: 'vllm',
    runs: [
      ...from(0, 2, (m) => vllm(working(m))),
      ...failing.flatMap((served, i) => from(3 + 2 * i, 4 + 2 * i, () => served)),
      ...from(19, 22, (m) => vllm(working(m))),
    ],
    pushes: [
      [5, 'fired', 'down'],
      [20, 'resolved', 'down'],
    ],
  },
]
