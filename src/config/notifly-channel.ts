import { type ChannelConfig, NOTIFLY } from '../model/config.ts'
import { defined } from '../model/defined.ts'
import { type Environment, isSet, read } from './environment.ts'
import { readTls } from './reach.ts'
import { GENERAL } from './settings.ts'

/** The channel of `NOTIFLY_URL`. @param required a function in Lambda without another channel. */
export function readNotifly(env: Environment, required: boolean): ChannelConfig | undefined {
  const settings = {
    service: 'notifly',
    auth: read(env, 'NOTIFLY_AUTH', GENERAL.NOTIFLY_AUTH),
    markdown: read(env, 'NOTIFLY_MARKDOWN', GENERAL.NOTIFLY_MARKDOWN),
    language: read(env, 'ALERT_LANGUAGE', GENERAL.ALERT_LANGUAGE),
    minPriority: 0,
    fallback: undefined,
  } as const
  const first = readServer(env, 'NOTIFLY', required)
  const second = readServer(env, 'NOTIFLY_FALLBACK', false)
  if (isSet(env, 'NOTIFLY_FALLBACK_URL') && !isSet(env, 'NOTIFLY_URL') && !required) {
    env.problems.add('NOTIFLY_URL: is not set, but NOTIFLY_FALLBACK_URL is; the first push server comes first')
  }
  if (!first) return undefined
  const fallback = second && { ...settings, ...second, name: 'notifly-fallback', isSpare: true as const }
  return { ...settings, ...first, name: NOTIFLY, fallback }
}

type Server = Pick<ChannelConfig, 'url' | 'token' | 'variables' | 'tls'>

function readServer(env: Environment, name: 'NOTIFLY' | 'NOTIFLY_FALLBACK', required: boolean): Server | undefined {
  const urlName = `${name}_URL` as const
  const tokenName = `${name}_TOKEN` as const
  const base = read(env, urlName, GENERAL[urlName])
  const token = read(env, tokenName, GENERAL[tokenName])
  if (!isSet(env, urlName)) {
    if (required) {
      env.problems.add(
        `${urlName}: is not set; in Lambda it must name the push server, such as https://push.example.com, or PUSH_<NAME> another channel`,
      )
    } else if (isSet(env, tokenName)) {
      env.problems.add(`${urlName}: is not set, but ${tokenName} is; write the address of the push server`)
    }
    return undefined
  }
  if (base === undefined) return undefined
  const inUrl = tokenIn(env, base, urlName, isSet(env, tokenName) ? tokenName : undefined)
  if (!isSet(env, tokenName) && inUrl === undefined) {
    env.warnings.add(`${tokenName} is not set: most push servers refuse messages without a token`)
  }
  const url = `${base.origin}${base.pathname.replace(/\/+$/, '')}`
  const tls = readTls(env, ['NOTIFLY_', ''])
  return { url, token: token ?? inUrl, variables: { url: urlName, token: tokenName }, ...defined({ tls }) }
}

/** Takes the token out of an address that was pasted with it: `https://push.example.com/?token=…`. */
function tokenIn(env: Environment, base: URL, name: string, tokenName: string | undefined): string | undefined {
  if (/\/message\/*$/.test(base.pathname)) {
    env.problems.add(`${name}: is the base address of the push server; leave out /message, it is appended`)
  }
  const parameters = [...base.searchParams]
  for (const [, secret] of parameters) if (secret !== '') env.secrets.add(secret)
  const inUrl = base.searchParams.get('token') ?? undefined
  if (parameters.some(([parameter]) => parameter !== 'token'))
    env.problems.add(`${name}: may have no query but ?token=…`)
  if (inUrl !== undefined && tokenName !== undefined) {
    env.problems.add(`${name}: has a token in it, and ${tokenName} is set as well; leave one out`)
  }
  return inUrl
}
