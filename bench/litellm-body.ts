/** LiteLLM's bounds, seconds. */
const BOUNDS =
  '0.005 0.00625 0.0125 0.025 0.05 0.1 0.5 1.0 1.5 2.0 2.5 3.0 3.5 4.0 4.5 5.0 6.0 7.0 8.0 9.0 10.0 15.0 20.0 25.0 30.0 60.0 120.0 +Inf'.split(
    ' ',
  )

/** A page of LiteLLM's proxy after many keys have used it: a label set for each person, `series` samples, about 2 MB. */
export function litellmBody(series = 17_000): string {
  const models = ['gpt-4o', 'llama-3.1-70b', 'qwen3-coder']
  const families: Record<'total' | 'created' | 'times', string[]> = { total: [], created: [], times: [] }
  let count = 1
  for (let person = 0; count < series; person++) {
    const model = models[person % models.length] ?? ''
    const who = `api_key_alias="key-${person}"`
    const rest = `requested_model="${model}",team="team-${person % 40}",user="person-${person}"`
    const request = `{${who},hashed_api_key="sk-hash-${person}",client_ip="10.0.${person >> 8}.${person & 255}",model_id="m${person % 3}",${rest},route="/chat/completions",status_code="200",user_agent="agent-${person}"}`
    const latency = 'litellm_request_total_latency_metric'
    families.total.push(`litellm_proxy_total_requests_metric_total${request} ${person + 1}.0\n`)
    families.created.push(`litellm_proxy_total_requests_metric_created${request} ${1_786_114_997 + person}.25\n`)
    for (const [i, le] of BOUNDS.entries())
      families.times.push(`${latency}_bucket{${who},le="${le}",${rest}} ${i + 1}.0\n`)
    families.times.push(`${latency}_count{${who},${rest}} ${BOUNDS.length}.0\n`)
    families.times.push(`${latency}_sum{${who},${rest}} ${BOUNDS.length * 2}.5\n`)
    count += BOUNDS.length + 4
  }
  const gauge = '# TYPE litellm_in_flight_requests gauge\nlitellm_in_flight_requests 12.0\n'
  return [gauge, ...families.total, ...families.created, ...families.times].join('')
}
