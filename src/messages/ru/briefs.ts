import type { Catalogue } from '../texts.ts'
import { atLeast, days, limit, n, times, tokens } from './phrases.ts'

/** What stands in the title behind the endpoint: the figure first. A rule that is not here has its headline. */
export const briefsRu: Catalogue['briefs'] = {
  waiting: ({ value, limit: max }) => value && `в очереди ${n.count(value)}${limit(max, n.count)}`,
  inflight: ({ value, limit: max }) => value && `в системе ${n.count(value)}${limit(max, n.count)}`,
  growth: ({ value, waiting }) =>
    value && `очередь +${n.count(value)}${waiting === undefined ? '' : `, уже ${n.count(waiting)}`}`,
  queue_wait: ({ value, limit: max }) => value && `${n.seconds(value)} в очереди${limit(max, n.seconds)}`,
  queue_tail: ({ value, limit: max, atLeast: least }) =>
    value && `${atLeast(least)}${n.seconds(value)} в очереди, p95${limit(max, n.seconds)}`,
  ttft: ({ value, limit: max, atLeast: least }) =>
    value && `первый токен через ${atLeast(least)}${n.seconds(value)}${limit(max, n.seconds)}`,
  itl: ({ value, limit: max, atLeast: least }) =>
    value && `${atLeast(least)}${n.seconds(value)} на токен${limit(max, n.seconds)}`,
  e2e: ({ value, limit: max, atLeast: least }) =>
    value && `запрос идёт ${atLeast(least)}${n.seconds(value)}${limit(max, n.seconds)}`,
  token_time: ({ value }) => value && `токен генерируется ${times(value)} дольше`,
  slo: ({ value, limit: max }) => value && `первый токен вовремя у ${n.percent(value)}${limit(max, n.percent)}`,
  kv_cache: ({ value, limit: max }) => value && `KV-кэш ${n.percent(value)}${limit(max, n.percent)}`,
  preemptions: ({ value, limit: max }) => value && `вытеснений ${n.rate(value)}${limit(max, n.rate)}`,
  prefix_hits: ({ value, usual }) =>
    value && usual && `попаданий ${n.percent(usual * Math.max(0, 1 - value))}, обычно ${n.percent(usual)}`,
  throughput: ({ value, usual }) =>
    value && usual && `${tokens(usual * Math.max(0, 1 - value))}/с, обычно ${n.large(usual)}`,
  stalled: ({ running, waiting, heldBy }) =>
    heldBy === 'unhealthy'
      ? undefined
      : `движок завис${running === undefined ? '' : `, выполняется ${n.count(running)}`}${waiting === undefined ? '' : `, ждут ${n.count(waiting)}`}`,
  stuck: ({ waiting, value, heldBy }) =>
    waiting && value && heldBy !== 'asleep'
      ? `ждут ${n.count(waiting)}, ни один не завершён ${n.lasted(value * 1_000)}`
      : undefined,
  errors: ({ value, limit: max }) => value && `${n.percent(value)} запросов с ошибкой${limit(max, n.percent)}`,
  sibling: ({ value }) => value && `${times(value)} медленнее соседних реплик`,
  gpu_memory: ({ value, limit: max }) => value && `память ${n.percent(value)}${limit(max, n.percent)}`,
  gpu_temperature: ({ value, limit: max }) => value && `${n.count(value)} °C${limit(max, n.count)}`,
  gpu_xid: ({ value }) => value && `XID ${value}`,
  canary: ({ value, limit: max, atLeast: least }) =>
    value && `пробный запрос ждёт ${atLeast(least)}${n.seconds(value)}${limit(max, n.seconds)}`,
  canary_rate: ({ value, usual }) =>
    value && usual && `${tokens(usual * Math.max(0, 1 - value))}/с на запрос, обычно ${n.count(usual)}`,
  tls_expiry: ({ value }) => value && (value > 0 ? `сертификат истекает через ${days(value)}` : undefined),
  quota: ({ quota }) => quota && `осталось ${n.count(quota.left)} из ${n.count(quota.of)} по лимиту`,
}
