import { page, vllm, vllmHistogram } from './pages.ts'
import { from, type Story } from './story.ts'

const busy = (minute: number) => ({ running: 4, finished: 100 * minute, tokens: 10_000 * minute })

/** Half an answer, a restart, a rule that was held back, a subject that is gone: what is easily judged wrong. */
export const EDGE_STORIES: readonly Story[] = [
  {
    name: 'inflight: half of the sum is no proof that it fell',
    backend: 'vllm',
    env: { VLLM_INFLIGHT_LIMIT: '30' },
    runs: [
      ...from(0, 1, (m) => vllm({ ...busy(m), running: 18, waiting: 15 })),
      ...from(2, 5, (m) => vllm({ ...busy(m), running: 18, waiting: Number.NaN })),
      ...from(6, 8, (m) => vllm({ ...busy(m), running: 18, waiting: 15 })),
    ],
    pushes: [
      [0, 'fired', 'inflight'],
      [3, 'fired', 'blind'],
      [7, 'resolved', 'blind'],
    ],
  },
  {
    name: 'kv_cache: a clock that was a day ahead for one run does not hold back its alert for a day',
    backend: 'vllm',
    env: { GAP_LIMIT: 'off' },
    runs: [
      ...from(0, 2, (m) => vllm(busy(m))),
      { minute: 1_443, served: vllm({ ...busy(3), kv: 0.95 }) },
      ...from(4, 10, (m) => vllm({ ...busy(m), kv: 0.95 })),
    ],
    pushes: [[9, 'fired', 'kv_cache']],
  },
  {
    name: 'waiting: nor its reminder',
    backend: 'vllm',
    env: { GAP_LIMIT: 'off', WAITING_REPEAT: '10m' },
    runs: [
      { minute: 1_440, served: vllm({ ...busy(0), waiting: 30 }) },
      ...from(1, 12, (m) => vllm({ ...busy(m), waiting: 30 })),
    ],
    pushes: [
      [1_440, 'fired', 'waiting'],
      [11, 'repeated', 'waiting'],
    ],
  },
  {
    name: 'queue_wait: nor its end without traffic',
    backend: 'vllm',
    env: { GAP_LIMIT: 'off' },
    runs: [
      { minute: 0, served: vllm({ ...busy(0), more: queue(0, 0) }) },
      { minute: 1, served: vllm({ ...busy(1), more: queue(100, 400) }) },
      { minute: 1_440, served: vllm({ ...busy(1), running: 0, more: queue(100, 400) }) },
      ...from(3, 20, () => vllm({ ...busy(1), running: 0, more: queue(100, 400) })),
    ],
    pushes: [
      [1, 'fired', 'queue_wait'],
      [18, 'resolved', 'queue_wait'],
    ],
  },
  {
    name: 'blind: the counter of finished requests is gone while requests go on',
    backend: 'vllm',
    runs: [
      ...from(0, 1, (m) => vllm({ ...busy(m), more: whole(m) })),
      ...from(2, 4, (m) => vllm({ ...busy(m), more: whole(m) }).replace(/^vllm:request_success.*\n/gm, '')),
    ],
    pushes: [[3, 'fired', 'blind']],
  },
  {
    name: 'blind: so is a counter of a server that never says how many requests have finished',
    backend: 'llamacpp',
    runs: [
      ...from(0, 1, (m) => llama(m, 1_200 * m)),
      ...from(2, 4, (m) => llama(m, 1_200 * m).replace(/^llamacpp:tokens_predicted.*\n/gm, '')),
    ],
    pushes: [[3, 'fired', 'blind']],
  },
  {
    name: 'blind: hits of the prefix cache that are counted from the first one on are not missed after a restart',
    backend: 'sglang',
    runs: [
      ...from(0, 1, (m) => sglang(prompts(100 + m, 50_000 * (m + 1)))),
      ...from(2, 8, (m) => sglang(prompts(m))),
      ...from(9, 12, (m) => sglang(prompts(m, 100 * m))),
    ],
    pushes: [],
  },
  {
    name: 'stalled: tokens that stream are progress before any request has finished',
    backend: 'sglang',
    runs: from(0, 5, (m) => sglang({ 'sglang:inter_token_latency_seconds_count{model_name="m"}': 100 * m })),
    pushes: [],
  },
  {
    name: "stalled: so are the scheduler's own token counts",
    backend: 'sglang',
    runs: from(0, 5, (m) => sglang({ 'sglang:realtime_tokens_total{mode="decode",model_name="m"}': 100 * m })),
    pushes: [],
  },
  {
    name: 'stalled: requests run, and no count moves',
    backend: 'sglang',
    runs: from(0, 3, () => sglang({ 'sglang:realtime_tokens_total{mode="decode",model_name="m"}': 100 })),
    pushes: [[2, 'fired', 'stalled']],
  },
  {
    name: 'throughput: an answer of a quarter of an hour, whose tokens are counted when it ends, is no fall',
    backend: 'llamacpp',
    runs: [
      ...from(0, 80, (m) => llama(m, 1_200 * m)),
      ...from(81, 95, (m) => llama(m, 96_000)),
      ...from(96, 100, (m) => llama(m, 114_000 + 1_200 * (m - 96))),
    ],
    pushes: [],
  },
  {
    name: 'throughput: a third of the usual tokens is one there too',
    backend: 'llamacpp',
    runs: [...from(0, 80, (m) => llama(m, 1_200 * m)), ...from(81, 95, (m) => llama(m, 96_000 + 400 * (m - 80)))],
    pushes: [[86, 'fired', 'throughput']],
  },
  {
    name: "prefix_hits: the server's own share of its last batch says nothing while no prompts come",
    backend: 'sglang',
    runs: [...from(0, 75, (m) => sharing(0.8, 5_000 * m)), ...from(76, 110, () => sharing(0, 375_400))],
    pushes: [],
  },
  {
    name: 'prefix_hits: it does while they come',
    backend: 'sglang',
    runs: [...from(0, 75, (m) => sharing(0.8, 5_000 * m)), ...from(76, 90, (m) => sharing(0.2, 5_000 * m))],
    pushes: [[86, 'fired', 'prefix_hits']],
  },
  {
    name: 'gpu_xid: a code that appeared while the exporter was away is told when it is back',
    backend: 'dcgm',
    runs: [...from(0, 1, () => gpu(0)), ...from(2, 5, () => 'refused'), ...from(6, 9, () => gpu(79))],
    pushes: [
      [4, 'fired', 'down'],
      [7, 'fired', 'gpu_xid'],
    ],
  },
  {
    name: 'gpu_xid: an exporter that was away from the beginning shows old codes',
    backend: 'dcgm',
    runs: [...from(0, 3, () => 'refused'), ...from(4, 7, () => gpu(79))],
    pushes: [
      [2, 'fired', 'down'],
      [5, 'resolved', 'down'],
    ],
  },
  {
    name: 'gpu_xid: over when the exporter restarted, though it still shows the code',
    backend: 'dcgm',
    runs: [
      { minute: 0, served: gpu(0, 1_760_000_000) },
      ...from(1, 2, () => gpu(31, 1_760_000_000)),
      ...from(3, 6, () => gpu(31, 1_760_009_000)),
    ],
    pushes: [
      [1, 'fired', 'gpu_xid'],
      [4, 'resolved', 'gpu_xid'],
    ],
  },
  {
    name: 'gpu_xid: with a hold time, a code that is still there when it has passed',
    backend: 'dcgm',
    env: { GPU_XID_FOR: '2m' },
    runs: [
      { minute: 0, served: gpu(0) },
      { minute: 1, served: gpu(31) },
      { minute: 2, served: gpu(0) },
      ...from(3, 7, () => gpu(79)),
      ...from(8, 9, () => gpu(0)),
    ],
    pushes: [
      [5, 'fired', 'gpu_xid'],
      [9, 'resolved', 'gpu_xid'],
    ],
  },
  {
    name: 'gpu_xid: a value that cannot be is not the end of it',
    backend: 'dcgm',
    runs: [
      { minute: 0, served: gpu(0) },
      { minute: 1, served: gpu(79) },
      ...from(2, 4, () => gpu(2 ** 63)),
      ...from(5, 6, () => gpu(79)),
    ],
    pushes: [[1, 'fired', 'gpu_xid']],
  },
  {
    name: 'gpu_lost: forgotten a week after it was last seen',
    backend: 'dcgm',
    env: { GPU_LOST_REPEAT: 'off', GAP_LIMIT: 'off' },
    runs: [
      { minute: 0, served: gpu(0) + gpu(0).replaceAll('GPU-1', 'GPU-2') },
      ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((day) => ({ minute: day * 1440, served: gpu(0) })),
      { minute: 14_400, served: gpu(0) + gpu(0).replaceAll('GPU-1', 'GPU-2') },
      { minute: 14_401, served: gpu(0) + gpu(0).replaceAll('GPU-1', 'GPU-2') },
    ],
    pushes: [[1440, 'fired', 'gpu_lost']],
  },
  {
    name: 'upstream: one that was taken out of the gateway leaves without a message',
    backend: 'gateway',
    env: { GAP_LIMIT: 'off' },
    runs: [
      { minute: 0, served: gateway('upstream_health{upstream="b"} 1\n') },
      { minute: 1, served: gateway('upstream_health{upstream="b"} 0\n') },
      ...[2, 3, 1_500, 1_501].map((minute) => ({ minute, served: gateway('') })),
      ...[1_502, 1_503, 1_504].map((minute) => ({ minute, served: gateway('upstream_health{upstream="b"} 1\n') })),
    ],
    pushes: [[1, 'fired', 'upstream']],
  },
  {
    name: 'rejected: a counter that cannot be read is no counter that stood still; a reason may hold any sign',
    backend: 'gateway',
    runs: [
      { minute: 0, served: gateway('admission_rejected_total{reason="kv@0.90"} 1\n') },
      { minute: 1, served: gateway('admission_rejected_total{reason="kv@0.90"} 4\n') },
      ...from(2, 4, () => gateway('admission_rejected_total{reason="kv@0.90"} NaN\n')),
      ...from(5, 8, () => gateway('admission_rejected_total{reason="kv@0.90"} 4\n')),
    ],
    pushes: [
      [1, 'fired', 'rejected'],
      [6, 'resolved', 'rejected'],
    ],
  },
]

function queue(count: number, sum: number): Record<string, number> {
  return vllmHistogram('request_queue_time_seconds', { 0.3: 0, 5: count, '+Inf': count }, sum)
}

function whole(minute: number): Record<string, number> {
  const count = 100 * minute
  return vllmHistogram('e2e_request_latency_seconds', { 1: count, '+Inf': count }, count / 2)
}

/** Three requests run; counts of finished ones stand still. */
function sglang(more: Record<string, number>): string {
  return page({
    'sglang:num_queue_reqs{model_name="m"}': 0,
    'sglang:num_running_reqs{model_name="m"}': 3,
    'sglang:token_usage{model_name="m"}': 0.3,
    'sglang:num_requests_total{model_name="m"}': 7,
    'sglang:prompt_tokens_total{model_name="m"}': 900,
    'sglang:generation_tokens_total{model_name="m"}': 700,
    ...more,
  })
}

function prompts(minute: number, cached?: number): Record<string, number> {
  return {
    ...(cached !== undefined && { 'sglang:cached_tokens_total{model_name="m",cache_source="device"}': cached }),
    'sglang:num_requests_total{model_name="m"}': 10 * minute,
    'sglang:prompt_tokens_total{model_name="m"}': 5_000 * minute,
    'sglang:generation_tokens_total{model_name="m"}': 2_000 * minute,
  }
}

function llama(minute: number, tokens: number): string {
  return page({
    'llamacpp:requests_processing': 1,
    'llamacpp:requests_deferred': 0,
    'llamacpp:tokens_predicted_total': tokens,
    'llamacpp:n_decode_total': 1_200 * minute,
  })
}

/** SGLang without a count of cached tokens. */
function sharing(share: number, prompt: number): string {
  return page({
    'sglang:num_queue_reqs{model_name="m"}': 0,
    'sglang:num_running_reqs{model_name="m"}': 0,
    'sglang:token_usage{model_name="m"}': 0.1,
    'sglang:cache_hit_rate{model_name="m"}': share,
    'sglang:prompt_tokens_total{model_name="m"}': prompt,
  })
}

function gpu(xid: number, startedAt?: number): string {
  return page({
    process_start_time_seconds: startedAt,
    'DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1"}': 50,
    'DCGM_FI_DEV_XID_ERRORS{gpu="0",UUID="GPU-1"}': xid,
  })
}

function gateway(more: string): string {
  return `vllm_requests_running 3\nvllm_kv_usage_perc 0.3\nupstream_health{upstream="a"} 1\n${more}`
}
