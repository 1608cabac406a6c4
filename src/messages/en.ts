import type { Verdict } from '../model/explanation.ts'
import { kindOf, nameOf } from '../signals/parts.ts'
import { adviceEn } from './en/advice.ts'
import { belowEn, otherVerdictsEn } from './en/below.ts'
import { briefsEn } from './en/briefs.ts'
import { canaryRulesEn } from './en/canary-rules.ts'
import { engineRulesEn } from './en/engine-rules.ts'
import { failuresEn } from './en/failures.ts'
import { faultRulesEn } from './en/fault-rules.ts'
import { hardwareRulesEn } from './en/hardware-rules.ts'
import { inner, n } from './en/phrases.ts'
import { serverRulesEn } from './en/server-rules.ts'
import { workerRulesEn } from './en/worker-rules.ts'
import { xidsEn } from './en/xids.ts'
import { listed } from './listed.ts'
import type { Catalogue, OtherNumbers, Phases } from './texts.ts'

const SIGNALS: Readonly<Record<string, string>> = {
  waiting: 'requests waiting',
  running: 'requests running',
  kv_cache: 'KV cache use',
  queue_wait: 'time in the queue',
  ttft: 'time to first token',
  itl: 'time per token',
  e2e: 'request duration',
  finished: 'finished requests',
  failed: 'failed requests',
  http_failed: 'answers with HTTP 5xx',
  corrupted: 'corrupt answers',
  transfer_failed: 'failed KV transfers',
  preemptions: 'preemptions',
  prompt_tokens: 'prompt tokens',
  generation_tokens: 'generated tokens',
  prefix_queries: 'prefix cache queries',
  prefix_hits: 'prefix cache hits',
  hit_share: 'prefix hit share',
  gpu_memory: 'GPU memory',
  gpu_utilisation: 'GPU utilisation',
  gpu_temperature: 'GPU temperature',
  gpu_xid: 'XID errors',
  gpu_remap_failed: 'row remap failures',
  gpu_remapped_rows: 'remapped memory rows',
  gpu_throttle: 'reasons of the clocks',
  canary_rate: 'tokens a second of the canary',
  quota_left: 'share of the rate limit that is left',
  vram_share: 'share in GPU memory',
  observer_degraded: 'observer state',
  upstream_health: 'upstream health',
  admission_rejected: 'refused requests',
  admission_parked: 'parked requests',
  engine_state_stale: 'stale engine state',
  queue_full: 'full queue',
}

/** `three times`, `1.6 times`. */
function times(ratio: number | undefined): string | undefined {
  return ratio === undefined ? undefined : `${n.times(ratio)}×`
}

/** ` Most of the rise is “sql-lora”: 70 % of the requests, usually 20 %.` */
function mostFor(grown: Verdict['grown'], what: 'requests' | 'tokens'): string {
  if (!grown) return ''
  const name = nameOf(grown.part)
  const whom = kindOf(grown.part) === 'priority' ? `has priority ${name}` : `is “${name}”`
  return ` Most of the rise ${whom}: ${n.percent(grown.share)} of the ${what}, usually ${n.percent(grown.usual)}.`
}

function loadGrew({ arrivals, tokensPerSecond, grown }: Verdict): string {
  const more = times(arrivals)
  const speed =
    tokensPerSecond === undefined || tokensPerSecond < 0.8
      ? ''
      : tokensPerSecond > 1.25
        ? ', generation runs at its ceiling'
        : ', generation speed as before'
  return `Load grew: ${more === undefined ? 'more requests than usual' : `${more} as many requests as usual`}${speed}.${mostFor(grown, 'requests')}`
}

function broke({ arrivals, tokensPerSecond, timePerToken }: Verdict): string {
  const parts = [
    timePerToken !== undefined && timePerToken >= 1.3
      ? `${n.times(timePerToken)}× the usual time per token`
      : undefined,
    tokensPerSecond !== undefined && tokensPerSecond <= 0.8
      ? `only ${n.percent(tokensPerSecond)} of the usual tokens a second`
      : undefined,
  ].filter((part) => part !== undefined)
  const load = arrivals === undefined || arrivals > 1.5 ? 'Something broke' : 'Something broke: load is as usual'
  if (parts.length === 0) return `${load}, but work goes much slower.`
  return `${load}${arrivals === undefined || arrivals > 1.5 ? ': ' : ', but '}${parts.join(' and ')}.`
}

function heavier({ promptTokens, outputTokens, grown }: Verdict): string {
  const parts = [
    promptTokens !== undefined && promptTokens >= 1.4 ? `prompts ${n.times(promptTokens)}× as long` : undefined,
    outputTokens !== undefined && outputTokens >= 1.4 ? `answers ${n.times(outputTokens)}× as long` : undefined,
  ].filter((part) => part !== undefined)
  return `Requests got heavier${parts.length === 0 ? '' : `: ${parts.join(', ')} as usual`}.${mostFor(grown, 'tokens')}`
}

function cacheFull({ preemptions }: Verdict): string {
  const more = preemptions !== undefined && preemptions >= 2 ? ` (${n.times(preemptions)}× as often as usual)` : ''
  return `The KV cache overflows: running requests are evicted and computed again${more}.`
}

function otherNumbers(numbers: OtherNumbers): string | undefined {
  const now = [
    numbers.waiting === undefined ? undefined : `${n.count(numbers.waiting)} waiting`,
    numbers.running === undefined ? undefined : `${n.count(numbers.running)} running`,
    numbers.kvCache === undefined
      ? undefined
      : `KV cache ${n.percent(numbers.kvCache)}${numbers.kvAt === undefined ? '' : ` (${numbers.kvAt})`}`,
  ]
  const over = [
    numbers.queueWait === undefined ? undefined : `mean wait ${n.seconds(numbers.queueWait)}`,
    numbers.ttft === undefined
      ? undefined
      : `first token p99 ${numbers.ttftAtLeast ? '≥ ' : ''}${n.seconds(numbers.ttft)}`,
    numbers.tokensPerSecond === undefined ? undefined : `${n.large(numbers.tokensPerSecond)} tok/s`,
    numbers.failedShare === undefined ? undefined : `${n.percent(numbers.failedShare)} failed`,
  ]
  const since = numbers.window === undefined ? 'Lately' : `Last ${n.seconds(numbers.window)}`
  return listed([
    ['Now', now],
    [since, over],
  ])
}

function gpu(busiest: { utilisation?: number; temperature?: number; xid?: number }): string | undefined {
  const parts = [
    busiest.utilisation === undefined ? undefined : `${n.percent(busiest.utilisation)} busy`,
    busiest.temperature === undefined ? undefined : `${n.count(busiest.temperature)} °C`,
    busiest.xid ? `XID ${busiest.xid}` : undefined,
  ].filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : `GPU: ${parts.join(', ')}.`
}

const endpoints = (count: number) => `${n.count(count)} ${n.plural(count, { one: 'endpoint', other: 'endpoints' })}`
const all = (count: number) => (count === 2 ? 'Both endpoints' : `All ${endpoints(count)}`)
const withDetail = (detail: string | undefined) => (detail === undefined ? '' : `, ${detail}`)

export const en: Catalogue = {
  format: n,
  rules: {
    ...engineRulesEn,
    ...serverRulesEn,
    ...canaryRulesEn,
    ...workerRulesEn,
    ...faultRulesEn,
    ...hardwareRulesEn,
  },
  briefs: briefsEn,
  lots: {
    waiting: 'Queue',
    growth: 'Queue growing',
    kv_cache: 'KV cache full',
    ttft: 'First token late',
    stalled: 'No progress',
  },
  failures: failuresEn,
  verdicts: {
    'load-grew': loadGrew,
    broke,
    heavier,
    'cache-full': cacheFull,
    stalled: () => 'The engine makes no progress: hung, or its numbers are frozen.',
    ...otherVerdictsEn,
    restarted: () => 'The server restarted: what it held was lost, its caches are empty.',
  },
  advice: adviceEn,
  xids: xidsEn,
  canary: {
    answered: undefined,
    'cold-load': 'The model had to be loaded first; that time is not counted as waiting.',
    'not-loaded': 'The model is not loaded, so it was not asked.',
    'other-model': 'Another model holds the memory.',
    busy: undefined,
    'model-missing': undefined,
    skipped: 'Our own request was not sent: the queue is known to be deep.',
    idle: 'Nobody else uses the model, so it was not asked and may leave the memory.',
    'over-budget': 'Our own request was not sent: the requests of the day are spread over it.',
    'backing-off': 'Our own request was not sent: the server was over its limit, and more would add to that.',
    parked: 'A gateway holds our own request and only keeps the connection alive.',
    failed: undefined,
  },
  signal: (name) => SIGNALS[name] ?? name,
  title: {
    repeated: (headline, lasted) => `${headline}, for ${lasted} now`,
    worse: (headline) => `Worse: ${headline}`,
    comesAndGoes: (headline) => `Comes and goes: ${headline}`,
    cameAndWent: (headline, times) => `Came and went ${often(times)}: ${inner(headline)}`,
    restarted: (headline) => `Over after a restart: “${headline}”`,
    forgotten: (headline) => `Not known to be over: “${headline}”`,
    limitChanged: (headline) => `Limit changed, no longer: “${headline}”`,
    idle: (headline) => `Over for lack of traffic: “${headline}”`,
    late: (headline) => `Was: “${headline}”`,
    lot: (what, count, of, names) => `${what} at ${n.count(count)}${of > count ? ` of ${n.count(of)}` : ''}: ${names}`,
    allDown: (count) => `${all(count)} unreachable from the watcher`,
    allFail: (count, headline) => `${all(count)}: ${inner(headline)}`,
    allUp: (count) => `${all(count)} answer again`,
  },
  line: {
    newRequestWaits: (seconds) => `A new request waits about ${n.estimate(seconds)}.`,
    noneFinishes: 'No request finished lately.',
    otherNumbers,
    drains: (minutes) => `At this rate the queue is empty in about ${n.estimate(minutes * 60)}.`,
    kvFull: (minutes) => `At this rate the KV cache is full in about ${n.estimate(minutes * 60)}.`,
    ...belowEn,
    partlyOut: (upstreams) => `Partly out: ${upstreams}.`,
    gpu,
    spark: (bars, first, last, minutes, what) =>
      `${what === undefined ? '' : `${what} `}${bars} ${first} → ${last}${minutes === undefined ? '' : ` in ${n.seconds(minutes * 60)}`}`,
    sparkOf: { queue: 'Queue', wait: 'Wait', memory: 'Memory' },
    lasted: (headline, ms, detail) => `“${headline}” lasted ${n.lasted(ms)}${withDetail(detail)}.`,
    also: (parts) => `Also: ${parts.join('; ')}.`,
    began: (times) => `It came and went ${often(times)} in that time.`,
    comesAndGoes: (times, since, stays) =>
      stays
        ? `It came and went ${often(times)} since ${since}; for an hour it has been there without a break.`
        : `Began ${often(times)} since ${since}. Its ends and beginnings are not told until an hour has passed without either.`,
    cameAndWent: (times, since, bad, detail) =>
      `Began ${often(times)} since ${since}, ${n.lasted(bad)} of trouble in all${withDetail(detail)}. Calm for an hour.`,
    ended: {
      clear: undefined,
      idle: 'No traffic for 15 minutes: closed for lack of traffic; recovery not confirmed.',
      restarted: 'It ended because the server restarted: what was waiting is lost.',
      forgotten:
        'The exporter restarted or no longer shows it, so that nothing is known. Look at the GPU by hand (nvidia-smi, dmesg).',
      'limit-changed': 'By the limit that is set now it is no breach.',
    },
    was: (from, to, ms, detail) =>
      `Lasted from ${from} to ${to} (${n.lasted(ms)})${withDetail(detail)}. Reported late: the push server was unreachable.`,
    wasOften: (times, from, to, detail) =>
      `Happened ${often(times)} between ${from} and ${to}${withDetail(detail)}. Reported late: the push server was unreachable.`,
    over: (sign, over, ms) => `${sign} ${over} (after ${n.lasted(ms)}).`,
    lateLine: (headline, from, to, times) =>
      times === undefined
        ? `🕓 Lasted from ${from} to ${to}: “${headline}”.`
        : `🕓 Happened ${often(times)} between ${from} and ${to}: “${headline}”.`,
    maybeSent: '(Possible duplicate: the push server did not confirm the first one.)',
    says: (who, text) => `${who === 'worker' ? 'Worker' : 'Server'} says: “${text}”`,
    pointsTo: (address) => `It points to ${address}`,
    subject: (subject, text) => `${subject}: ${inner(text)}`,
    more: (count) => `… and ${n.count(count)} more.`,
    cause: (words) => `cause: ${words}`,
    asOf: (clock) => `As of ${clock}.`,
    since: (clock) => `Since ${clock}.`,
    allDown: (cause, clock) => `Since ${clock} none of them gives a usable answer: ${cause}.`,
    allUp: (lasted) => `There was no usable answer for ${lasted}; nothing is known of that time.`,
    phases,
    requestId: (id) => `X-Request-Id: ${id}`,
  },
  test: { title: '🔔 Queuebell: test', body: (backend) => `A test push of ${backend}. Nothing is wrong.` },
}

function phases({ wait, load, prefill, decode, ttft }: Phases): string | undefined {
  const parts = [
    wait === undefined ? undefined : `waiting ${n.seconds(wait)}`,
    load === undefined ? undefined : `loading ${n.seconds(load)}`,
    prefill === undefined ? undefined : `reading ${n.seconds(prefill)}`,
    ttft === undefined ? undefined : `waiting and reading ${n.seconds(ttft)}`,
    decode === undefined ? undefined : `writing ${n.seconds(decode)}`,
  ].filter((part) => part !== undefined)
  return parts.length < 2 ? undefined : `Where it went: ${parts.join(', ')}.`
}

function often(times: number): string {
  return `${n.count(times)} times`
}
