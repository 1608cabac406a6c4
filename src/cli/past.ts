import { BACKENDS } from '../backends/backends.ts'
import { parseDuration } from '../config/duration.ts'
import type { Backend } from '../model/backend.ts'
import { ConfigError } from '../model/config.ts'
import type { Fallible } from '../model/fallible.ts'
import { RecordingError } from '../recordings/entry.ts'
import { didYouMean, type Options } from './command-line.ts'
import { exportCommand } from './export.ts'
import { importCommand } from './import.ts'
import { recordCommand } from './record.ts'
import { replayCommand } from './replay.ts'
import { suggestCommand } from './suggest.ts'

export type PastCommand = 'record' | 'replay' | 'suggest' | 'import' | 'export'

/** What can be followed, ready to be done; else why not. */
type Planned = Fallible<{ act: () => Promise<number> | number }>

const MOST_A_WEEK = 10_000
const LONGEST_EVERY = 24 * 60 * 60_000

/** Understands the words and options of a command that looks at the past. */
export function planPast(command: PastCommand, words: readonly string[], options: Options): Planned {
  switch (command) {
    case 'record':
      return planRecord(words, options)
    case 'replay':
      return withFiles(command, words, (backend, files) =>
        replayCommand(backend, files, { set: linesOf(options.set), json: options.json === true }),
      )
    case 'suggest':
      return planSuggest(words, options)
    case 'import':
      return planImport(words, options)
    case 'export':
      return planExport(words, options)
    default:
      return command satisfies never
  }
}

/** Does it; what the configuration or a recording forbids is said. @returns the exit code. */
export async function doPast(act: () => Promise<number> | number): Promise<number> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof RecordingError)) throw error
    console.error(error.message)
    return 1
  }
}

function planRecord(words: readonly string[], options: Options): Planned {
  const named = functionOf('record', words)
  if (!named.ok) return named
  if (words.length > 1) return no(`record takes one function, and nothing after it: ${words.slice(1).join(' ')}`)
  const everyText = textOf(options.every) ?? '1m'
  const every = parseDuration(everyText)
  if (!every || every > LONGEST_EVERY)
    return no(`--every ${everyText}: may be a time with its unit, above 0 and at most 24h, as in 15s or 1m`)
  const timesText = textOf(options.times)
  const times = timesText === undefined ? undefined : Number(timesText)
  if (times !== undefined && !(Number.isInteger(times) && times > 0))
    return no(`--times ${timesText}: may be a whole number from 1`)
  const folder = textOf(options.to) ?? 'recordings'
  return { ok: true, act: () => recordCommand(named.backend, { every, folder, times }) }
}

function planSuggest(words: readonly string[], options: Options): Planned {
  const text = textOf(options['per-week']) ?? '2'
  const perWeek = Number(text)
  if (!(perWeek > 0 && perWeek <= MOST_A_WEEK)) return no(`--per-week ${text}: may be a number of incidents, such as 2`)
  return withFiles('suggest', words, (backend, files) =>
    suggestCommand(backend, files, { perWeek, json: options.json === true }),
  )
}

function planImport([kind, place, ...more]: readonly string[], options: Options): Planned {
  if (kind !== 'prometheus' && kind !== 'openmetrics')
    return no(`import ${kind ?? ''}: write import prometheus <address> or import openmetrics <file>`)
  if (place === undefined) return no(`import ${kind} needs ${kind === 'prometheus' ? 'an address' : 'a file'}`)
  if (more.length > 0) return no(`import ${kind} takes nothing after it: ${more.join(' ')}`)
  const { match, from, to, out, header } = options
  const given = { match: textOf(match), from: textOf(from), to: textOf(to), out: textOf(out), header: linesOf(header) }
  return { ok: true, act: () => importCommand(kind, place, given) }
}

function planExport([kind, ...names]: readonly string[], options: Options): Planned {
  if (kind !== 'prometheus' && kind !== 'grafana')
    return no(`export ${kind ?? ''}: write export prometheus or export grafana`)
  const unknown = names.find((name) => !isBackend(name))
  if (unknown !== undefined) return no(`there is no function ${unknown}${didYouMean(unknown, BACKENDS)}`)
  return { ok: true, act: () => exportCommand(kind, names.filter(isBackend), { match: textOf(options.match) }) }
}

function withFiles(
  command: PastCommand,
  words: readonly string[],
  act: (backend: Backend, files: readonly string[]) => Promise<number>,
): Planned {
  const named = functionOf(command, words)
  if (!named.ok) return named
  const files = words.slice(1)
  if (files.length === 0) return no(`${command} ${named.backend} needs a recording: a file or a folder`)
  return { ok: true, act: () => act(named.backend, files) }
}

function functionOf(command: PastCommand, [name]: readonly string[]): Fallible<{ backend: Backend }> {
  if (name === undefined) return no(`${command} needs the name of a function`)
  return isBackend(name) ? { ok: true, backend: name } : no(`there is no function ${name}${didYouMean(name, BACKENDS)}`)
}

function isBackend(name: string): name is Backend {
  return (BACKENDS as readonly string[]).includes(name)
}

function no(why: string): { ok: false; why: string } {
  return { ok: false, why }
}

function textOf(option: string | true | undefined): string | undefined {
  return option === true ? undefined : option
}

/** An option that may be given more than once. */
function linesOf(option: string | true | undefined): string[] {
  return textOf(option)?.split('\n') ?? []
}
