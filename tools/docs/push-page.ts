import { SERVICES } from '../../src/model/config.ts'
import { CHANNELS } from '../../src/push/services.ts'

/** The whole page `docs/push.md`. */
export function pushPage(): string {
  const rows = SERVICES.map((service) => {
    const { address, token, limit, thread, quiet } = CHANNELS[service].page
    return [service, address, token, limit, thread, quiet]
  })
  return `${BEFORE}\n${table(['service', '`PUSH_<NAME>`', '`PUSH_<NAME>_TOKEN`', 'longest text', 'one incident', 'priorities'], rows)}\n${AFTER}`
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replace(/\|/g, '\\|')).join(' | ')} |`
  return `${[line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')}\n`
}

const BEFORE = `# Where pushes go

The table is made from the code (\`tools/docs/push-page.ts\`); a test compares them.

\`NOTIFLY_URL\` and \`NOTIFLY_TOKEN\` name one push server that speaks Notifly's or Gotify's protocol; it is the channel
\`notifly\`. A Gotify of your own is one line:

\`\`\`
docker run -d -p 8090:80 -v gotify:/app/data gotify/server      # then NOTIFLY_URL=http://…:8090, and the token of an app
\`\`\`

Any number of other channels stand beside it, or in its place:

\`\`\`
PUSH_TEAM=slack+https://slack.com/api?channel=C0123
PUSH_TEAM_TOKEN=xoxb-…
PUSH_PAGER=pagerduty+https://events.pagerduty.com
PUSH_PAGER_TOKEN=…
PUSH_PAGER_MIN_PRIORITY=9
\`\`\`

The name (\`TEAM\`, \`PAGER\`) is yours: letters and digits. \`npm run doctor -- vllm --push\` sends a test push to each channel and
says what it answered.

## Services

A service may be reached at any base address: a proxy, a server of your own.
`

const AFTER = `An address whose whole is the secret is masked like a token, in logs, errors and the state. Where \`npm run deploy\` deploys,
every \`PUSH_<NAME>\` and its token lie in the parameter store.

## Who hears of what

- \`PUSH=team,pager\` chooses channels, and is looked up like any setting: \`VLLM_CHAT_A_PUSH\` (endpoint), \`VLLM_CHAT_PUSH\`
  (group), \`VLLM_PUSH\` (backend), \`PUSH\`. Without it all channels hear of all.
- \`PUSH_<NAME>_MIN_PRIORITY\`: what begins below it is not told there. What becomes worse is judged anew. Reminders and the end go
  to whoever was told, and to nobody else.
- \`PUSH_<NAME>_LANGUAGE\`: \`en\` or \`ru\`, else \`ALERT_LANGUAGE\`.
- \`PUSH_<NAME>_FALLBACK=<name>\`: that channel takes what this one could not. It is told nothing else, unless \`PUSH\` names it.
  What it took ends there as well.

Priorities go from 0 to 10: each rule has one (\`docs/rules.md\`), \`<RULE>_PRIORITY\` changes it, an end has 4.

## Links and pictures

With \`PAGE_URL\` and \`PAGE_SECRET\` each push of what lasts carries the link where it can be acknowledged or silenced, and the
chart of its signal. Channels fetch the picture when the message is there: none waits for it, or fails with it.

| service | links | picture |
| --- | --- | --- |
| notifly, gotify | a tap opens it; with a runbook the link stands in the text | \`bigImageUrl\` of the notification |
| ntfy | buttons: acknowledge with one tap, open, runbook | attachment |
| telegram, teams | buttons | preview of the message; image of the card |
| slack | buttons | attachment |
| discord | named links in the text | embed |
| pagerduty | links of the incident | image, https alone |
| alertmanager | the runbook alone: what it is posted lies in the state, where no token belongs, and it has silences of its own | – |
| webhook | \`links\` | \`picture\` |

## One incident, one thread

What a service answered (the id of the message) is kept in the state while the incident lasts. What became worse, a reminder
and the end go on from there, as the table says. A message that a person deleted, or whose update the service refuses, becomes a
new one. A message that tells several incidents at once is only brought up to date when all of them end at once: the end of one
is a message of its own.

## What counts as delivered

Each channel is tried, waits and is settled by itself: one that is away holds back none of the others, and is told what it missed
in as few messages as can be when it is back.

| answer | what happens |
| --- | --- |
| 2xx, and the body is what the service answers | delivered |
| 2xx with a web page, with JSON that says it failed, or from another service | kept; the run fails and says what answered |
| no connection, 408, 5xx | three tries in this run, then each run |
| 429 | once a run: when the service says, else after 1, 2, 5, then 10 minutes |
| the connection broke after the message was sent | it may have arrived: the next run sends it again and says so; PagerDuty, Alertmanager and a webhook know it by its id and get it again at once |
| 400, 422, and 413 after a shorter form | sent once more as its bare facts, then dropped, and the run fails |
| any other 4xx, 3xx | ours to mend: kept, and each run fails until it is |

What has waited for 15 minutes on any channel makes the run fail, so that the platform's own alarm tells.

## Alertmanager

What fires is posted at each run with an end three intervals ahead (\`INTERVAL\`, else learned), so it goes stale by itself when the
watcher dies; what is over is posted twice more. Labels: \`alertname\` (the rule), \`job\` (queuebell), \`function\`, \`endpoint\`,
\`group\`, \`subject\`, \`model\`, and \`severity\` as at the beginning; they do not change while the incident lasts. Values are annotations:
\`summary\`, \`description\`, \`value\`, \`limit\`, \`priority\`. Reminders, grouping and silences are Alertmanager's own.

## A webhook

\`\`\`json
{ "type": "incident.fired", "timestamp": "2026-11-30T12:00:00.000Z",
  "data": { "id": "chat/a|waiting|@1796040000000/fired/1796040000000", "incident": "chat/a|waiting|@1796040000000",
    "reason": "fired", "function": "vllm", "endpoint": "chat/a", "rule": "waiting", "priority": 8, "value": 42, "limit": 20,
    "at": "…", "firedAt": "…", "signals": { "waiting": 42 }, "title": "…", "message": "…" } }
\`\`\`

One request a notification; \`reason\` is \`fired\`, \`worse\`, \`repeated\`, \`resolved\`, \`late\` (came and went before it could be told) or
\`told-once\`. With a token the headers are those of [Standard Webhooks](https://www.standardwebhooks.com): \`webhook-id\` (the
notification's id: the same for a repetition), \`webhook-timestamp\` and \`webhook-signature\` (\`v1,\` and the HMAC-SHA-256 over
\`<id>.<timestamp>.<body>\`). Any 2xx will do as an answer.
`
