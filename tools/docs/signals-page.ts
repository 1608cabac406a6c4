import { TABLES } from '../../src/backends/backends.ts'
import type { Alias, BackendTable, SignalRow } from '../../src/model/backend.ts'
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
endpoint \`blind\` when it is missing.
`

function meanings(): string {
  const rows = Object.entries(SIGNALS).map(
    ([name, { kind, unit, meaning }]) => `| \`${name}\` | ${kind} | ${unit} | ${meaning} |`,
  )
  return ['| signal | kind | unit | meaning |', '| --- | --- | --- | --- |', ...rows, ''].join('\n')
}

function tableOf(table: BackendTable): string {
  const rows = Object.entries(table.signals).map(
    ([signal, row]) => `| \`${signal}\`${row.core ? ' **core**' : ''} | ${seriesOf(signal as Signal, row)} |`,
  )
  const text = ['| signal | series |', '| --- | --- |', ...rows].join('\n')
  return table.oneCoreIsEnough ? `${text}\n\nBlind only when none of the core signals is there.` : text
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
