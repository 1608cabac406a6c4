import { formatDuration } from '../../src/config/duration.ts'
import { clearOf, limitOf } from '../../src/config/limits.ts'
import type { Setting } from '../../src/config/setting.ts'
import { CHANNEL, GENERAL, NAMING, PER_ENDPOINT } from '../../src/config/settings.ts'
import { UNITS } from '../../src/config/units.ts'
import { backendsOf, RULE_IDS, specOf } from '../../src/rules/rules.ts'

/** What a first set-up needs; the README has these rows of the table, in its order. */
export const FIRST = [
  '<BACKEND>_ENDPOINTS',
  '<BACKEND>_TARGETS',
  'OLLAMA_URL',
  'HEARTBEAT_WORKERS',
  '<BACKEND>_MODEL',
  '<BACKEND>_BEARER_TOKEN',
  '<BACKEND>_TIMEOUT',
  '<RULE>_LIMIT',
  '<RULE>_FOR',
  '<RULE>_PRIORITY',
  'NOTIFLY_URL',
  'NOTIFLY_TOKEN',
  'PUSH_<NAME>',
  'PUSH_<NAME>_TOKEN',
  'ALERT_LANGUAGE',
  'TIMEZONE',
  'STATE_BUCKET',
  'STATE_DIR',
  'S3_ENDPOINT',
  'PING_URL',
  'HTTPS_PROXY',
  'NO_PROXY',
  'TLS_CA',
  'HEARTBEAT_TOKEN',
]

/** The table of variables as markdown, ending in a line feed: of all for `docs/variables.md`, of {@link FIRST} for the README. */
export function variablesTable(only?: readonly string[]): string {
  const row = ([name, setting]: [string, Setting<unknown, unknown>]) => [name, setting.meaning, defaultOf(setting)]
  const naming = Object.entries(NAMING).map(([name, meaning]) => [
    name === 'ENDPOINTS' || name === 'TARGETS' ? `<BACKEND>_${name}` : name,
    meaning,
    NAMING_DEFAULTS[name] ?? '',
  ])
  const own = Object.entries(PER_ENDPOINT).map(([name, setting]) => row([`<BACKEND>_${name}`, setting]))
  const channels = Object.entries(CHANNEL).map(([name, setting]) => row([`PUSH_<NAME>_${name}`, setting]))
  const [first, ...others] = Object.entries(GENERAL).map(row).reduce<string[][][]>(apart, [[], []])
  const rows = [...naming, ...own, ...RULE_ROWS, ...(first ?? []), DECLARATION, ...channels, ...others.flat()]
  const wanted = only === undefined ? rows : rows.filter(([name = '']) => only.includes(name))
  return table(
    ['variable', 'meaning', 'default'],
    wanted.map(([name = '', ...rest]) => [`\`${name}\``, ...rest]),
  )
}

/** The whole page `docs/variables.md`. */
export function variablesPage(): string {
  return `${INTRODUCTION}\n${variablesTable()}\n${LOOKUP}\n${rulesTable()}`
}

const NAMING_DEFAULTS: Record<string, string> = {
  METRICS_URL: 'locally, for `vllm`: `http://localhost:8000/metrics`',
  OLLAMA_URL: 'locally: `http://localhost:11434`',
}

/** The rows of the push server before those of the other channels. */
function apart([push = [], others = []]: string[][][], row: string[]): string[][][] {
  return row[0]?.startsWith('NOTIFLY_') ? [[...push, row], others] : [push, [...others, row]]
}

const DECLARATION = [
  'PUSH_<NAME>',
  'a channel: `<service>+<url>`, such as `ntfy+https://ntfy.sh/topic`; the name is letters and digits, and `PUSH` writes it in small letters. See `docs/push.md`',
  '',
]

const RULE_ROWS = [
  [
    '<RULE>_LIMIT',
    "the rule's limit in its own unit; `off` switches the rule off, `on` sets its default limit",
    'by rule',
  ],
  ['<RULE>_CLEAR', 'where it is over; follows a changed limit in proportion when it is not set itself', 'by rule'],
  [
    '<RULE>_CRITICAL',
    'a second limit: beyond it a running incident is told once more, with priority 9, and a new one has that at once; `off` for none',
    '`200` for `waiting`, `98%` for `kv_cache`, else off',
  ],
  ['<RULE>_FOR', 'how long the breach must last before it fires', 'by rule'],
  ['<RULE>_REPEAT', 'time between reminders while it fires, or `off`', '`4h`'],
  ['<RULE>_PRIORITY', 'priority of the push, a whole number from 0 to 10', 'by rule'],
]

const INTRODUCTION = `# Variables

This page is made from the code (\`tools/docs/variables-page.ts\`); a test compares them. A variable that is empty counts as
not set. All problems are reported together, each naming its variable, none showing a secret.
\`<BACKEND>\` is \`VLLM\`, \`TGI\`, \`TEI\`, \`SGLANG\`, \`LLAMACPP\`, \`OLLAMA\`, \`OPENAI\`, \`DCGM\` or \`GATEWAY\`; for
\`heartbeat-check\` it is \`HEARTBEAT\`, and its workers take the place of endpoints.
`

const LOOKUP = `## Which variable counts

The most specific one that is set. For the rule \`waiting\` of the endpoint \`chat/a\`:
\`VLLM_CHAT_A_WAITING_LIMIT\` (endpoint), \`VLLM_CHAT_WAITING_LIMIT\` (group), \`VLLM_WAITING_LIMIT\` (backend),
\`WAITING_LIMIT\` (every backend that has the rule), the default. Settings of an endpoint that are no rule's
(\`VLLM_CHAT_A_MODEL\`, \`VLLM_CHAT_MODEL\`, \`VLLM_MODEL\`) are looked up the same way, without the bare form; \`FLAPS\`
and \`PUSH\` have it.

Names of endpoints and groups have a-z, 0-9 and - inside. A name may not read like the beginning of a setting
(\`waiting\`, \`kv-cache\`), and two that would share variables (\`chat/a\` and \`chat-a\`) are refused. A variable that
begins with the backend's prefix, ends like a rule's setting and belongs to nothing is a problem: it is most likely
misspelt.

## How values are written

- A time carries its unit: \`1500ms\`, \`90s\`, \`5m\`, \`4h\`, \`1d\`.
- A limit in seconds is a number (\`2\`) or such a time (\`1500ms\`).
- A share or a fall is \`0.9\` or \`90%\`; a bare \`90\` is refused.
- A factor is \`1.5\` or \`1.5x\`, a rate \`1\` or \`1/s\`, a temperature \`85\`.
- A limit that the signal can never reach is refused.

## Rules
`

function rulesTable(): string {
  return table(
    ['variables', '`_LIMIT` may be', 'limit', 'clear', 'for', 'repeat', 'priority', 'backends'],
    RULE_IDS.map((id) => {
      const spec = specOf(id)
      const { variable } = UNITS[spec.unit]
      return [
        `\`${id.toUpperCase()}_…\``,
        limitOf(id).mayBe,
        spec.limit === undefined ? 'off' : variable(spec.limit),
        clearOf(id) ? (spec.clear === undefined ? 'at the limit' : variable(spec.clear)) : '',
        formatDuration(spec.for),
        spec.repeat === undefined ? 'off' : formatDuration(spec.repeat),
        String(spec.priority),
        backendsOf(id).join(' '),
      ]
    }),
  )
}

/** All numeric defaults of the general variables are times. */
function defaultOf({ fallback, fallbackText }: Setting<unknown, unknown>): string {
  if (fallbackText !== undefined) return fallbackText
  if (typeof fallback === 'boolean') return fallback ? '`yes`' : '`no`'
  if (typeof fallback === 'number') return `\`${formatDuration(fallback)}\``
  return typeof fallback === 'string' ? `\`${fallback}\`` : ''
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replace(/\|/g, '\\|')).join(' | ')} |`.replace(/ {2}/g, ' ')
  return `${[line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')}\n`
}
