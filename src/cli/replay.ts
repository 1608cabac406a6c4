import { formatDuration } from '../config/duration.ts'
import { UNITS } from '../config/units.ts'
import type { Backend } from '../model/backend.ts'
import { ConfigError } from '../model/config.ts'
import type { RuleUnit } from '../model/rule.ts'
import { openRecordings } from '../recordings/files.ts'
import type { Incident } from '../recordings/incidents.ts'
import { type Replayed, replay, type Span } from '../recordings/replay.ts'
import { type Choice, combinations, parseChoice, replayConfig } from '../recordings/settings.ts'
import { runsOf } from '../recordings/timeline.ts'
import { specOf } from '../rules/rules.ts'
import { align } from './table.ts'

/**
 * What a recording would have told, by setting. @returns the exit code.
 * @throws {ConfigError | RecordingError}
 */
export async function replayCommand(
  backend: Backend,
  paths: readonly string[],
  options: { set: readonly string[]; json: boolean },
): Promise<number> {
  const choices = options.set.map(parseChoice)
  const wrong = choices.find((one) => typeof one === 'string')
  if (wrong !== undefined) throw new ConfigError([String(wrong)])
  const { endpoints, files } = await openRecordings(paths, backend)
  const settings = combinations(choices as Choice[]).map((set) => {
    const made = replayConfig(backend, process.env, endpoints, set)
    if (!made.ok) throw new ConfigError(made.problems)
    return { set, ...made }
  })
  const nameOf = settings[0]?.nameOf ?? new Map<string, string>()
  const { settings: replayed, span } = await replay(runsOf(files, nameOf), settings)
  console.log(options.json ? JSON.stringify(asJson(replayed), null, 2) : tables(replayed, span))
  return 0
}

function asJson(settings: readonly Replayed[]): object {
  return {
    settings: settings.map(({ set, pushes, incidents }) => ({
      set,
      pushes: pushes.map((push) => ({ ...push, at: iso(push.at) })),
      incidents: incidents.map(({ endpoint, rules, from, to, peak }) => ({
        endpoint,
        rules,
        from: iso(from),
        to: to === undefined ? null : iso(to),
        peak: peak ?? null,
      })),
    })),
  }
}

function tables(settings: readonly Replayed[], span: Span): string {
  return [spanText(span), ...settings.map((one) => settingText(one, span))].join('\n\n')
}

function spanText({ runs, scrapes, failed, from, to, gaps }: Span): string {
  if (from === undefined || to === undefined) return 'The recording is empty.'
  const lines = [
    `${minute(from)} to ${minute(to)} UTC (${lasting(to - from)}): ${runs} runs, ${scrapes} scrapes, ${failed} of them failed`,
    ...gaps
      .slice(0, MOST_GAPS)
      .map((gap) => `nothing was recorded from ${minute(gap.from)} for ${lasting(gap.to - gap.from)}`),
    ...(gaps.length > MOST_GAPS ? [`and ${gaps.length - MOST_GAPS} more gaps`] : []),
  ]
  return lines.join('\n')
}

const MOST_GAPS = 10

function settingText({ set, pushes, incidents }: Replayed, span: Span): string {
  const name = Object.entries(set)
    .map(([variable, value]) => `${variable}=${value}`)
    .join(' ')
  const head = `${name === '' ? 'as configured' : name}: ${counted(incidents.length, 'incident')}, ${counted(pushes.length, 'push', 'pushes')}`
  if (incidents.length === 0) return head
  const rows = incidents.map((incident) => [
    minute(incident.from),
    incident.to === undefined
      ? `${lasting((span.to ?? incident.from) - incident.from)}, still open`
      : lasting(incident.to - incident.from),
    incident.endpoint,
    incident.rules.join(' '),
    peakText(incident),
    titleAt(incident, pushes),
  ])
  return `${head}\n\n${align([['from (UTC)', 'lasted', 'endpoint', 'rules', 'peak', 'told'], ...rows])}`
}

function titleAt({ from }: Incident, pushes: Replayed['pushes']): string {
  return pushes.find(({ at }) => at === from)?.title ?? 'not told'
}

function peakText({ rules, peak }: Incident): string {
  const unit: RuleUnit | undefined = rules[0] === undefined ? undefined : specOf(rules[0])?.unit
  return peak === undefined || unit === undefined || unit === 'switch' ? '–' : UNITS[unit].brief(peak)
}

function counted(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`
}

function iso(at: number): string {
  return new Date(at).toISOString()
}

function minute(at: number): string {
  return iso(at).slice(0, 16).replace('T', ' ')
}

/** To the two largest units. */
export function lasting(ms: number): string {
  if (ms < 60_000) return formatDuration(Math.round(ms / 1000) * 1000)
  const minutes = Math.round(ms / 60_000)
  const [days, hours, rest] = [Math.floor(minutes / 1440), Math.floor((minutes % 1440) / 60), minutes % 60]
  if (days > 0) return `${days}d ${hours}h`
  return hours > 0 ? `${hours}h ${rest}m` : `${rest}m`
}
