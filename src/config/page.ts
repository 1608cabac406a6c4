import type { Language, LogLevel, PageLinks, StateConfig } from '../model/config.ts'
import type { Fallible } from '../model/fallible.ts'
import type { Environment } from './environment.ts'
import { environmentOf, isSet, read } from './environment.ts'
import { takeOffQuotes } from './known-names.ts'
import { readOutward } from './reach.ts'
import { GENERAL } from './settings.ts'
import { readStatePlace } from './state-place.ts'

/** What the function `page` needs. */
export interface PageConfig {
  /** Signs links; those that were signed by a second one still hold. Secret. */
  secrets: readonly string[]
  /** Without a slash at the end. */
  url: string | undefined
  /** For machines; without it there is nothing for them. Secret. */
  token: string | undefined
  language: Language
  timezone: string
  state: StateConfig
  logLevel: LogLevel
  /** Every secret of this configuration, so that the log can mask it. */
  masked: string[]
}

/** The configuration of `page`: all problems at once, or none. */
export function parsePage(
  variables: Readonly<Record<string, string | undefined>>,
  { lambda }: { lambda: boolean },
): Fallible<{ config: PageConfig }, { problems: string[] }> {
  const env = environmentOf(variables)
  takeOffQuotes(env, variables)
  const secrets = read(env, 'PAGE_SECRET', GENERAL.PAGE_SECRET)
  for (const secret of secrets ?? []) env.secrets.add(secret)
  if (!isSet(env, 'PAGE_SECRET')) {
    env.problems.add('PAGE_SECRET: is not set; it signs the links: make one with openssl rand -base64 32')
  }
  const config = {
    secrets: secrets ?? [],
    url: urlOf(env),
    token: read(env, 'PAGE_TOKEN', GENERAL.PAGE_TOKEN),
    language: read(env, 'ALERT_LANGUAGE', GENERAL.ALERT_LANGUAGE),
    timezone: read(env, 'TIMEZONE', GENERAL.TIMEZONE),
    state: readStatePlace(env, lambda, readOutward(env)),
    logLevel: read(env, 'LOG_LEVEL', GENERAL.LOG_LEVEL),
    masked: [...env.secrets],
  }
  return env.problems.size > 0 ? { ok: false, problems: [...env.problems] } : { ok: true, config }
}

/** What a watcher needs to put links into its pushes; `undefined` where there is no page. */
export function readPageLinks(env: Environment): PageLinks | undefined {
  const secrets = read(env, 'PAGE_SECRET', GENERAL.PAGE_SECRET)
  for (const secret of secrets ?? []) env.secrets.add(secret)
  const url = urlOf(env)
  if (url !== undefined && !isSet(env, 'PAGE_SECRET')) {
    env.problems.add('PAGE_SECRET: is not set; PAGE_URL needs it to sign the links in pushes')
  }
  const [secret] = secrets ?? []
  return url === undefined || secret === undefined ? undefined : { url, secret }
}

function urlOf(env: Environment): string | undefined {
  return read(env, 'PAGE_URL', GENERAL.PAGE_URL)?.href.replace(/\/+$/, '')
}
