import { formatDuration } from '../../src/config/duration.ts'
import { RULE_IDS, type RuleId, specOf } from '../../src/rules/catalogue.ts'

/** When each rule fires, in words; the numbers stand in the table beside. */
const FIRES_WHEN: Record<RuleId, string> = {
  waiting: 'more requests wait than the limit',
  inflight: 'waiting and running requests together reach the limit (a gateway parks at its admission cap)',
  growth: 'the queue rose at each of the last 5 runs, and by at least the limit over all of them',
  queue_wait: 'the mean time in the queue, of the requests finished in the window, is above the limit',
  kv_cache: 'the fullest KV cache of the endpoint reaches the limit',
  ttft: 'the p99 of the time to first token in the window is above the limit',
  itl: 'the p99 of the time per output token in the window is above the limit',
  prefix_hits:
    'the token hit share of the prefix cache fell below its own past by the limit (34 % to 12 % is a fall of 65 %)',
  throughput:
    'generated tokens a second, at the same number of requests running, fell below their own past by the limit',
  stalled: 'work is reported and nothing moved for this many runs: the engine hangs, or its gauges are stale',
  errors:
    "the share of requests that failed by the server's fault, of at least 20, is above the limit; a client's abort or invalid request is none",
  preemptions: 'more requests a second than the limit are thrown out of the KV cache to be computed again',
  sibling: 'this replica is slower than the median of the others in its group of three or more, by the limit',
  down: 'this many scrapes or canaries failed in a row; over after two good ones',
  blind:
    'for this many good answers, a series that the backend always has is missing, one that was here is gone, or the model is not there',
  gpu_memory:
    'used / (used + free) of a GPU or MIG instance is above the limit; no reminders, since servers that reserve memory stay there',
  gpu_temperature: 'a GPU is hotter than the limit',
  gpu_xid: 'the XID code of a GPU changed to one that is not 0; over when it is 0 or gone',
  gpu_lost: 'a GPU that was there is gone from a good answer of the exporter',
  observer: "the gateway's view of its engine is degraded",
  upstream: 'the gateway considers an upstream unhealthy',
  rejected: 'the gateway refused more requests at admission since the last run than the limit, by reason',
  stale: 'the gateway judged by an old engine state more often since the last run than the limit',
  queue_full: 'the gateway refused more requests for a full queue since the last run than the limit',
  parked: 'the gateway parked more requests since the last run than the limit',
  canary: 'the waiting part of the canary (time to first token for `openai`) is above the limit',
  busy: 'the server refused the canary because its queue is full',
  cold_load: 'the canary had to wait for the model to load for longer than the limit',
  heartbeat: 'no beat came for longer than interval + grace, or the worker said that it failed',
  gap: 'the watcher itself did not run for more than this many of its usual intervals; told once, by the first run after it',
}

/** The page `docs/rules.md`. */
export function rulesPage(): string {
  const head = ['rule', 'fires when', 'limit', 'clear', 'for', 'reminder', 'priority', 'backends']
  const rows = RULE_IDS.map((id) => {
    const spec = specOf(id)
    const sign = spec.breach === 'above' ? '>' : '≥'
    return [
      `\`${id}\``,
      FIRES_WHEN[id],
      spec.unit === 'switch' ? '' : spec.limit === undefined ? 'off' : `${sign} ${numberText(id, spec.limit)}`,
      spec.clear === undefined ? '' : numberText(id, spec.clear),
      formatDuration(spec.for),
      spec.repeat === undefined ? 'none' : formatDuration(spec.repeat),
      String(spec.priority),
      spec.backends.join(' '),
    ]
  })
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return `${INTRODUCTION}\n${[line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')}\n${LIFE}`
}

function numberText(id: RuleId, value: number): string {
  const { unit } = specOf(id)
  switch (unit) {
    case 'share':
    case 'fall':
      return `${Number((value * 100).toPrecision(6))} %`
    case 'seconds':
      return `${value} s`
    case 'times':
      return `${value}×`
    case 'per-second':
      return `${value}/s`
    case '°C':
      return `${value} °C`
    case 'runs':
      return `${value} runs`
    case 'requests':
    case 'switch':
      return String(value)
    default:
      return unit satisfies never
  }
}

const INTRODUCTION = `# Rules

This page is made from the code (\`tools/docs/rules-page.ts\`); a test compares them. Each limit, clear, hold time, reminder and
priority is a variable: [variables.md](variables.md).
`

const LIFE = `
## The life of an alert

Between means past *clear* but not past *limit*. Unknown means that this run has no number: no data resolves nothing.

| phase | breach | between | clear | unknown |
| --- | --- | --- | --- | --- |
| ok | pending; firing at once when *for* is 0 | ok | ok | ok |
| pending | firing once *for* has passed by the clock | ok | ok | stays; more than 3 minutes without data begin it anew |
| firing | a reminder when its time has passed since the last push | as breach | resolved after 2 clear runs in a row | stays |

- While \`down\` fires, the endpoint's other alerts are held back; while \`stalled\` fires, \`kv_cache\` is.
- A latency alert without traffic closes as "idle" after 15 minutes; a canary's when its model has left the memory for
  so long.
- A queue that is gone because the process restarted is told as "restarted", not as a recovery.
- One message an endpoint and run: the rule of the highest priority gives the title. More than three endpoints that
  change in one run are one digest. All endpoints of a function that fail in one run for one cause are one message.
- The end is told only of what was told. A problem that came and went while the push server was away is told once,
  late; one that did so again and again, from the fourth time on as one.
- What falls "below its own past" needs an hour of history, learned only while nothing is wrong. A fall that has lasted
  for a day is the new usual.
`
