import { formatDuration } from '../../src/config/duration.ts'
import { BREACH_SIGNS, UNITS } from '../../src/config/units.ts'
import { backendsOf, RULE_IDS, specOf } from '../../src/rules/rules.ts'

/** The page `docs/rules.md`. */
export function rulesPage(): string {
  const head = ['rule', 'fires when', 'limit', 'clear', 'critical', 'for', 'reminder', 'priority', 'backends']
  const rows = RULE_IDS.map((id) => {
    const spec = specOf(id)
    const { exact } = UNITS[spec.unit]
    const sign = BREACH_SIGNS[spec.breach]
    return [
      `\`${id}\``,
      spec.firesWhen,
      spec.unit === 'switch' ? '' : spec.limit === undefined ? 'off' : `${sign} ${exact(spec.limit)}`,
      spec.clear === undefined ? '' : exact(spec.clear),
      spec.critical === undefined ? '' : exact(spec.critical),
      spec.runs === undefined ? formatDuration(spec.for) : `${spec.runs} runs`,
      spec.repeat === undefined ? 'none' : formatDuration(spec.repeat),
      String(spec.priority),
      backendsOf(id).join(' '),
    ]
  })
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return `${INTRODUCTION}\n${[line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')}\n${LIFE}`
}

const SYMPTOMS = RULE_IDS.filter((id) => specOf(id).symptom)

function list(ids: readonly string[]): string {
  return ids.map((id) => `\`${id}\``).join(', ')
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
| firing | stays | stays | over after 2 clear runs in a row | stays |

- While \`down\` fires, the endpoint's other alerts are held back; while \`stalled\` fires, \`kv_cache\` is.
- A latency alert without traffic closes as "idle" after 15 minutes; a canary's when its model has left the memory for
  so long.
- A queue that is gone because the process restarted is told as "restarted", not as a recovery.
- One message an endpoint and run. More than three endpoints that change in one run are one digest. All endpoints of a
  function that fail in one run for one cause are one message.
- What falls "below its own past" needs an hour of history, learned only while nothing is wrong. A fall that has lasted
  for a day is the new usual.

## The life of an incident

What is told is an incident. All of one endpoint's symptoms that work does not get through are one: ${list(SYMPTOMS)}. Every other
alert is an incident of its own.

| incident | something of it fires | nothing of it fires |
| --- | --- | --- |
| none, or over | it opens: one push. The third beginning within two hours is told as "comes and goes" | forgotten after two hours |
| open | what joins is silent. One push "worse" when a priority is higher than all told so far, when a value passes its *critical* limit (priority 9), or when the verdict turns to \`broke\`, \`stalled\` or \`transfer\`; each once. A reminder when the worst one's time has passed since the last push; it tells what fires then | over: one push, with how long, what took part, and the peak |
| open, and nobody asks any more | as open; the third beginning is told as "comes and goes" | waits for requests, for 15 minutes: an empty queue is no proof that they get through |
| comes and goes | silent, but for a turn for the worse. After an hour without a break: one push with how often and how long; then open | silent. After an hour of calm: one push with how often and how long; then over |

- A first push beyond the critical limit has priority 9 at once. \`<RULE>_CRITICAL\` sets it, \`off\` switches it off.
- The first push is also as urgent as what is about to fire: a value beyond its critical limit whose time is not full yet, and
  a queue that has stood still for half of the limit of \`stuck\`. So a full cache beside a queue is one push, not two.
- \`FLAPS\` says which beginning is told as "comes and goes"; \`off\`: each beginning and end is told.
- The end is told only of what was told. An incident that came and went while the push server was away is told once,
  late; one that did so again and again, from the fourth time on as one.
- An incident whose rule is switched off is not told any more.
`
