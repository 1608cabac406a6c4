/** Series as lines of a page: `name` or `name{labels}` → value. */
export function page(series: Record<string, number | undefined>): string {
  return Object.entries(series)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}\n`]))
    .join('')
}

/** Cumulative buckets, sum and count of one histogram; the last bound given is +Inf. */
export function histogram(
  name: string,
  labels: string,
  buckets: Record<string, number>,
  sum: number,
): Record<string, number> {
  const with_ = (more: string) => `{${[labels, more].filter((l) => l !== '').join(',')}}`
  const lines = Object.entries(buckets).map(([le, n]): [string, number] => [`${name}_bucket${with_(`le="${le}"`)}`, n])
  const count = Math.max(...Object.values(buckets))
  return { ...Object.fromEntries(lines), [`${name}_sum${with_('')}`]: sum, [`${name}_count${with_('')}`]: count }
}

export interface Vllm {
  waiting?: number
  running?: number
  kv?: number
  finished?: number
  errors?: number
  tokens?: number
  prompt?: number
  preemptions?: number
  queries?: number
  hits?: number
  started?: number
  more?: Record<string, number>
}

const LABELS = 'engine="0",model_name="m"'

/** A vLLM V1 page; all is quiet unless said. */
export function vllm(v: Vllm = {}): string {
  const series = (name: string, extra = '') => `vllm:${name}{${LABELS}${extra}}`
  return page({
    process_start_time_seconds: v.started ?? 1_760_000_000,
    [series('num_requests_running')]: v.running ?? 0,
    [series('num_requests_waiting')]: v.waiting ?? 0,
    [series('kv_cache_usage_perc')]: v.kv ?? 0.1,
    [series('request_success_total', ',finished_reason="stop"')]: v.finished ?? 0,
    [series('request_success_total', ',finished_reason="error"')]: v.errors ?? 0,
    [series('generation_tokens_total')]: v.tokens ?? 0,
    [series('prompt_tokens_total')]: v.prompt ?? 0,
    [series('num_preemptions_total')]: v.preemptions ?? 0,
    [series('prefix_cache_queries_total')]: v.queries ?? 0,
    [series('prefix_cache_hits_total')]: v.hits ?? 0,
    ...v.more,
  })
}

/** A histogram of the vLLM page. */
export function vllmHistogram(name: string, buckets: Record<string, number>, sum: number): Record<string, number> {
  return histogram(`vllm:${name}`, LABELS, buckets, sum)
}
