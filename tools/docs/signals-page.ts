import { TABLES } from '../../src/backends/backends.ts'
import { lifeOf } from '../../src/backends/lives.ts'
import type { Alias, BackendTable, Flag, FlagUse, Life, SignalRow } from '../../src/model/backend.ts'
import { SIGNALS, type Signal } from '../../src/model/signals.ts'

/** The page `docs/signals.md`: which series feeds which signal on which server. */
export function signalsPage(): string {
  const sections = Object.entries(TABLES).map(([backend, table]) => `## ${backend}\n\n${tableOf(table)}\n`)
  return `${INTRODUCTION}\n${meanings()}\n${sections.join('\n')}`
}

const INTRODUCTION = `# Signals

This page is made from the code (\`tools/docs/signals-page.ts\`); a test compares them. One name and one unit for all backends.
Names stand newest first: the first one present on a page wins, they are never added together. Over engines, ranks and
models of one endpoint requests, counters and buckets add up, shares take the maximum. A signal marked **core** makes the
endpoint \`blind\` when it is missing. The last column names the versions of a series that not all of them have: the oldest
that is known to have it, and the first without it; for llama.cpp, whose releases are numbered builds, the date.
`

function meanings(): string {
  const rows = Object.entries(SIGNALS).map(
    ([name, { kind, unit, meaning }]) => `| \`${name}\` | ${kind} | ${unit} | ${meaning} |`,
  )
  return ['| signal | kind | unit | meaning |', '| --- | --- | --- | --- |', ...rows, ''].join('\n')
}

function tableOf(table: BackendTable): string {
  const rows = Object.entries(table.signals).map(([signal, row]) => {
    const name = `\`${signal}\`${row.core ? ' **core**' : ''}`
    return `| ${name} | ${seriesOf(signal as Signal, row)} |${table.lives ? ` ${livesOf(row, table)} |` : ''}`
  })
  const last = table.lives ? [' from which version |', ' --- |'] : ['', '']
  const text = [`| signal | series |${last[0]}`, `| --- | --- |${last[1]}`, ...rows].join('\n')
  const blind = table.oneCoreIsEnough ? ['Blind only when none of the core signals is there.'] : []
  return [text, ...blind, ...flagsOf(table)].join('\n\n')
}

/** Each name once, without the prefixes under which it may stand. */
function livesOf({ from }: SignalRow, table: BackendTable): string {
  const lives = Object.entries(table.lives ?? {}).filter(([, life]) =>
    from.some(({ name }) => lifeOf(name, table) === life),
  )
  return lives.length === 0 ? 'all' : lives.map(([name, life]) => `\`${name}\` ${spanOf(life)}`).join(', ')
}

function spanOf({ since, until }: Life): string {
  return [since && `from ${since}`, until && `before ${until}`].filter(Boolean).join(', ')
}

const USES: Record<FlagUse, string> = {
  offload: 'keep dropped KV blocks in CPU memory',
  'queue-cap': 'refuse what would wait too long',
  draft: 'speculative decoding',
}

function flagsOf({ flags, called }: BackendTable): string[] {
  if (!flags) return []
  const rows = (Object.entries(flags) as [FlagUse, readonly Flag[]][]).flatMap(([use, spellings]) =>
    spellings.map((flag) => `| ${USES[use]} | \`${flag.name}\` | ${spanOf(flag)} |`),
  )
  const intro = `What advice names where the version of ${called} is known. A run asks for it only when it tells something that this would make clearer, at most once a day and after each restart.`
  return [intro, ['| to | setting | from which version |', '| --- | --- | --- |', ...rows].join('\n')]
}

function seriesOf(signal: Signal, row: SignalRow): string {
  const suffix = SIGNALS[signal].kind === 'histogram' ? '_*' : ''
  return row.from.map((alias) => aliasText(alias, suffix)).join(', ')
}

function aliasText(alias: Alias, suffix: string): string {
  const labels = [
    ...Object.entries(alias.labels ?? {}).map(([name, values]) => `${name}=${values.join('/')}`),
    ...Object.entries(alias.not ?? {}).map(([name, values]) => `${name}≠${values.join('/')}`),
  ]
  const name = `\`${alias.name}${suffix}\`${labels.length > 0 ? ` (${labels.join(', ')})` : ''}`
  if (alias.count !== undefined) return `\`${alias.name}\` / \`${alias.count}\``
  if (alias.rest !== undefined) return `${name} / (it + \`${alias.rest}\`)`
  return alias.plus === undefined ? name : `${name} + ${alias.plus.map((other) => `\`${other}\``).join(' + ')}`
}
