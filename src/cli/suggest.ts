import { UNITS } from '../config/units.ts'
import type { Backend } from '../model/backend.ts'
import { prefixOf } from '../model/backend.ts'
import { ConfigError } from '../model/config.ts'
import { candidatesOf } from '../recordings/candidates.ts'
import { openRecordings } from '../recordings/files.ts'
import { replay, type Span } from '../recordings/replay.ts'
import { replayConfig } from '../recordings/settings.ts'
import { type Suggestion, suggest } from '../recordings/suggest.ts'
import { createSurvey } from '../recordings/survey.ts'
import { runsOf } from '../recordings/timeline.ts'
import { rulesOf, specOf } from '../rules/rules.ts'
import { lasting } from './replay.ts'
import { align } from './table.ts'

const WEEK = 7 * 86_400_000

/**
 * Limits with reasons, from a recording. @returns the exit code.
 * @throws {ConfigError | RecordingError}
 */
export async function suggestCommand(
  backend: Backend,
  paths: readonly string[],
  options: { perWeek: number; json: boolean },
): Promise<number> {
  const opened = await openRecordings(paths, backend)
  const made = replayConfig(backend, process.env, opened.endpoints, {})
  if (!made.ok) throw new ConfigError(made.problems)
  const on = new Set(made.config.endpoints.flatMap(({ rules }) => rules.map(({ id }) => id)))
  // Rules that are off are looked at too, with a limit that nothing reaches.
  const asleep = rulesOf(backend).filter((id) => !on.has(id) && candidatesOf(id, specOf(id).unit).length > 0)
  const set = Object.fromEntries(asleep.map((id) => [`${id.toUpperCase()}_LIMIT`, unreachable(id)]))
  const awake = replayConfig(backend, process.env, opened.endpoints, set)
  if (!awake.ok) throw new ConfigError(awake.problems)
  const survey = createSurvey()
  const { span } = await replay(runsOf(opened.files, awake.nameOf), [{ set, config: awake.config }], (_, report, at) =>
    survey.add(report, at),
  )
  const weeks = Math.max(0, (span.to ?? 0) - (span.from ?? 0)) / WEEK
  const allowed = Math.ceil(options.perWeek * weeks - 0.01)
  const suggestions = suggest(survey.rules(), allowed, (id) => on.has(id))
  const told = await replayWith(backend, paths, suggestions)
  if (options.json) console.log(JSON.stringify({ allowed, suggestions, ...told }, null, 2))
  else console.log(report(backend, suggestions, { ...options, allowed, span, ...told }))
  return 0
}

function unreachable(id: string): string {
  const { unit } = specOf(id)
  return UNITS[unit].variable(candidatesOf(id, unit).at(-1) ?? 1)
}

/** The lines judged by the very run: what they would have told. */
async function replayWith(backend: Backend, paths: readonly string[], suggestions: readonly Suggestion[]) {
  const { endpoints, files } = await openRecordings(paths, backend)
  const set = Object.fromEntries(
    suggestions.flatMap(({ rule, limit, suggested }) =>
      limit === undefined || suggested === undefined
        ? []
        : [[variableOf(backend, rule), UNITS[specOf(rule).unit].variable(suggested)]],
    ),
  )
  const made = replayConfig(backend, process.env, endpoints, set)
  if (!made.ok) throw new ConfigError(made.problems)
  const { settings } = await replay(runsOf(files, made.nameOf), [{ set, config: made.config }])
  return { set, incidents: settings[0]?.incidents.length ?? 0, pushes: settings[0]?.pushes.length ?? 0 }
}

function variableOf(backend: Backend, rule: string): string {
  return `${prefixOf(backend)}_${rule.toUpperCase()}_LIMIT`
}

interface Facts {
  perWeek: number
  allowed: number
  span: Span
  set: Record<string, string>
  incidents: number
  pushes: number
}

function report(backend: Backend, suggestions: readonly Suggestion[], facts: Facts): string {
  const { perWeek, allowed, span, set, incidents, pushes } = facts
  const rows = suggestions.map((one) => {
    const unit = specOf(one.rule).unit
    const number = (value: number | undefined) => (value === undefined ? '–' : UNITS[unit].brief(value))
    const { p50, p95, p99, highest } = one.spread
    return [
      one.rule,
      one.limit === undefined ? 'off' : number(one.limit),
      ...[p50, p95, p99, highest].map(number),
      one.longest === 0 ? '–' : lasting(one.longest),
      firedText(one, number),
      number(one.suggested),
    ]
  })
  const off = suggestions.filter(({ limit, suggested }) => limit === undefined && suggested !== undefined)
  return [
    `${span.runs} runs over ${lasting((span.to ?? 0) - (span.from ?? 0))}; at most ${perWeek} incidents a week and rule: ${allowed} in this recording`,
    '',
    align([
      ['rule', 'limit', 'p50', 'p95', 'p99', 'highest', 'longest beyond', 'incidents at a limit', 'suggested'],
      ...rows,
    ]),
    '',
    '# for .env',
    ...Object.entries(set).map(([name, value]) => `${name}=${value}`),
    ...off.map(
      (one) => `# off: ${variableOf(backend, one.rule)}=${UNITS[specOf(one.rule).unit].variable(one.suggested ?? 0)}`,
    ),
    '',
    `With these lines this recording would have told ${incidents} ${incidents === 1 ? 'incident' : 'incidents'} in ${pushes} pushes.`,
  ].join('\n')
}

/** Around the suggested limit: where a limit begins to be quiet is what a person wants to see. */
const SHOWN = 4

function firedText({ tried, suggested }: Suggestion, number: (value: number) => string): string {
  const at = tried.findIndex(({ limit }) => limit === suggested)
  const from = Math.max(0, (at < 0 ? tried.length : at) - SHOWN + 1)
  return tried
    .slice(from, from + SHOWN + 1)
    .map(({ limit, incidents }) => `${number(limit)}: ${incidents}`)
    .join(', ')
}
