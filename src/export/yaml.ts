import type { PrometheusRules } from './prometheus-rules.ts'

/** A rule file as `promtool` and Prometheus read it, with what is not in it as comments at its head. */
export function ruleFile(groups: readonly PrometheusRules[]): string {
  return `${[
    '# Alerting and recording rules with the limits of this configuration, written by `npm run export -- prometheus`.',
    '# They need keep_firing_for: Prometheus 2.42 or newer.',
    ...groups.flatMap(({ name, unsaid }) =>
      unsaid.length === 0 ? [] : [`# ${name}: not here:`, ...unsaid.map(({ rule, why }) => `#   ${rule}: ${why}`)],
    ),
    'groups:',
    ...groups.flatMap(({ name, interval, rules }) => [
      `  - name: ${quoted(name)}`,
      `    interval: ${interval}`,
      '    rules:',
      ...rules.flatMap((rule) => fields(rule)),
    ]),
  ].join('\n')}\n`
}

function fields(rule: PrometheusRules['rules'][number]): string[] {
  const lines = Object.entries(rule).flatMap(([name, value]): string[] => {
    if (name === 'expr')
      return [
        'expr: |-',
        ...String(value)
          .split('\n')
          .map((line) => `  ${line}`),
      ]
    if (typeof value !== 'object') return [`${name}: ${name === 'record' || name === 'alert' ? quoted(value) : value}`]
    return [`${name}:`, ...Object.entries(value).map(([key, text]) => `  ${key}: ${quoted(String(text))}`)]
  })
  return lines.map((line, i) => `      ${i === 0 ? '- ' : '  '}${line}`)
}

/** JSON's text is YAML's double-quoted one. */
function quoted(text: string): string {
  return JSON.stringify(text)
}
