import { formatDuration } from '../../src/config/duration.ts'
import { UNITS } from '../../src/config/units.ts'
import { RULE_IDS, specOf } from '../../src/rules/rules.ts'

/** The page `docs/rules.md`. */
export function rulesPage(): string {
  const head = ['rule', 'fires when', 'limit', 'clear', 'for', 'reminder', 'priority', 'backends']
  const rows = RULE_IDS.map((id) => {
    const spec = specOf(id)
    const { exact } = UNITS[spec.unit]
    const sign = spec.breach === 'above' ? '>' : '≥'
    return [
      `\`${id}\``,
      spec.firesWhen,
      spec.unit === 'switch' ? '' : spec.limit === undefined ? 'off' : `${sign} ${exact(spec.limit)}`,
      spec.clear === undefined ? '' : exact(spec.clear),
      spec.runs === undefined ? formatDuration(spec.for) : `${spec.runs} runs`,
      spec.repeat === undefined ? 'none' : formatDuration(spec.repeat),
      String(spec.priority),
      spec.backends.join(' '),
    ]
  })
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return `${INTRODUCTION}\n${[line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')}\n${LIFE}`
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
