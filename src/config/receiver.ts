import type { LogLevel, StateConfig } from '../model/config.ts'
import type { Fallible } from '../model/fallible.ts'
import { parseDuration } from './duration.ts'
import { type Environment, environmentOf, isSet, read } from './environment.ts'
import { refuseMisspelt, takeOffQuotes } from './known-names.ts'
import { type Pairs, readPairs } from './pairs.ts'
import { readOutward } from './reach.ts'
import { GENERAL } from './settings.ts'
import { readStatePlace } from './state-place.ts'

/** One program that sends beats. Milliseconds. */
export interface Worker {
  name: string
  /** 0 where it has a calendar. */
  interval: number
  grace: number
}

/** What the heartbeat receiver needs. */
export interface ReceiverConfig {
  /** Secret. */
  token: string
  workers: Worker[]
  state: StateConfig
  logLevel: LogLevel
  secrets: string[]
  warnings: string[]
}

/** Workers whose names could be read; `beat` is undefined when their times could not. */
export interface NamedWorkers {
  named: { name: string; beat: { interval: number; grace: number } | undefined }[]
  incomplete: boolean
}

const EXAMPLE = 'indexer=60s+30s'
const SHORT_TOKEN = 16
/** In place of an interval. */
export const CALENDAR = 0

/** The configuration of `heartbeat-receive`: all problems at once, or none. */
export function parseReceiver(
  variables: Readonly<Record<string, string | undefined>>,
  { lambda }: { lambda: boolean },
): Fallible<{ config: ReceiverConfig }, { problems: string[] }> {
  const env = environmentOf(variables)
  takeOffQuotes(env, variables)
  const token = read(env, 'HEARTBEAT_TOKEN', GENERAL.HEARTBEAT_TOKEN)
  if (!isSet(env, 'HEARTBEAT_TOKEN')) {
    env.problems.add('HEARTBEAT_TOKEN: is not set; make one that cannot be guessed and give it to the workers')
  }
  if (token !== undefined && token.length < SHORT_TOKEN) {
    env.warnings.add(`HEARTBEAT_TOKEN is shorter than ${SHORT_TOKEN} characters and may be guessed`)
  }
  const { named } = readWorkers(env)
  const workers = named.flatMap(({ name, beat }) => (beat ? [{ name, ...beat }] : []))
  const state = readStatePlace(env, lambda, readOutward(env))
  const logLevel = read(env, 'LOG_LEVEL', GENERAL.LOG_LEVEL)
  refuseMisspelt(env, variables)
  if (token === undefined || env.problems.size > 0) return { ok: false, problems: [...env.problems] }
  return {
    ok: true,
    config: { token, workers, state, logLevel, secrets: [...env.secrets], warnings: [...env.warnings] },
  }
}

/** Reads `HEARTBEAT_WORKERS`: `indexer=60s+30s`, the beat's interval and how much later it may come. */
export function readWorkers(env: Environment): NamedWorkers {
  const text = env.texts.get('HEARTBEAT_WORKERS')
  if (text === undefined) {
    env.problems.add(
      `HEARTBEAT_WORKERS: no workers are configured; write name=interval+grace pairs, such as ${EXAMPLE}`,
    )
    return { named: [], incomplete: true }
  }
  const { pairs, unreadable }: Pairs = readPairs(env, text, {
    variable: 'HEARTBEAT_WORKERS',
    name: /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/,
    nameWords: 'a-z, 0-9 and - inside',
    example: EXAMPLE,
    what: 'interval+grace',
  })
  const named = pairs.map((pair) => ({
    name: pair.name,
    beat: pair.text === undefined ? undefined : beatOf(env, pair.name, pair.text),
  }))
  if (pairs.length === 0 && !unreadable) {
    env.problems.add(`HEARTBEAT_WORKERS: is empty; write name=interval+grace pairs, such as ${EXAMPLE}`)
  }
  return { named, incomplete: unreadable || pairs.length === 0 }
}

function beatOf(env: Environment, name: string, text: string): { interval: number; grace: number } | undefined {
  const [first = '', ...rest] = text.split('+')
  const interval = first === 'cron' ? CALENDAR : parseDuration(first)
  const [grace, ...more] = rest.map(parseDuration)
  if (first === 'cron' && more.length === 0 && grace !== undefined) return { interval: CALENDAR, grace }
  if (more.length === 0 && interval !== undefined && interval > 0 && grace !== undefined) return { interval, grace }
  env.problems.add(
    `HEARTBEAT_WORKERS: ${name} needs two times with their units, the interval above 0, such as ${EXAMPLE}; or cron and a grace, such as nightly=cron+1h`,
  )
  return undefined
}
