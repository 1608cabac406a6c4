import { type ChannelConfig, NOTIFLY, SERVICES, type Service } from '../model/config.ts'
import { defined } from '../model/defined.ts'
import { isSecretParameter } from '../secrets/names.ts'
import { readAddress } from './address.ts'
import { type Environment, isSet, read, understand } from './environment.ts'
import { readNotifly } from './notifly-channel.ts'
import { readTls } from './reach.ts'
import { formOf } from './services.ts'
import { CHANNEL, GENERAL } from './settings.ts'
import { suggest } from './suggest.ts'

const DECLARES = /^PUSH_([A-Z0-9]+)$/
const SETS = /^PUSH_([A-Z0-9]+)_([A-Z_]+)$/

/** Is this the name of a variable that declares a channel, or one of its settings? */
export function isChannelVariable(name: string): boolean {
  return DECLARES.test(name) || (SETS.exec(name)?.[2] ?? '') in CHANNEL
}

/** Every channel that is configured, that of `NOTIFLY_URL` first; none on a laptop, which then prints its pushes. */
export function readChannels(env: Environment, lambda: boolean): ChannelConfig[] {
  const declared = [...env.texts.keys()].flatMap((variable) => DECLARES.exec(variable)?.[1] ?? []).sort()
  const notifly = readNotifly(env, lambda && declared.length === 0)
  const own = declared.flatMap((name) => readChannel(env, name) ?? [])
  checkSettings(env, declared)
  if (isSet(env, 'NOTIFLY_URL') && declared.includes(NOTIFLY.toUpperCase()))
    env.problems.add('PUSH_NOTIFLY: NOTIFLY_URL is the channel notifly already; give this one another name')
  return withFallbacks(env, notifly ? [notifly, ...own] : own)
}

function readChannel(env: Environment, name: string): ChannelConfig | undefined {
  const variable = `PUSH_${name}`
  const text = env.texts.get(variable) ?? ''
  const [, word = '', address = text] = /^([A-Za-z]+)\+(.*)$/s.exec(text) ?? []
  const service = SERVICES.find((one) => one === word.toLowerCase())
  hideAddress(env, text, service)
  if (service === undefined) {
    const meant = suggest(
      word.toUpperCase(),
      SERVICES.map((one) => one.toUpperCase()),
    )?.toLowerCase()
    const what = meant === undefined ? `one of ${SERVICES.join(', ')}` : `${meant}, perhaps`
    env.problems.add(
      `${variable}: write the service before the address, as in ntfy+https://ntfy.sh/topic; the service may be ${what}`,
    )
    return undefined
  }
  const url = readUrl(env, variable, service, address)
  const token = read(env, `${variable}_TOKEN`, CHANNEL.TOKEN)
  hideToken(env, token)
  checkToken(env, variable, service, url)
  if (url === undefined) return undefined
  return {
    name: name.toLowerCase(),
    service,
    url: url.href.replace(/\/+$/, ''),
    token,
    variables: { url: variable, token: `${variable}_TOKEN` },
    language:
      read(env, `${variable}_LANGUAGE`, CHANNEL.LANGUAGE) ?? read(env, 'ALERT_LANGUAGE', GENERAL.ALERT_LANGUAGE),
    minPriority: read(env, `${variable}_MIN_PRIORITY`, CHANNEL.MIN_PRIORITY),
    fallback: undefined,
    ...defined({ tls: readTls(env, [`${variable}_`, '']) }),
    auth: 'bearer',
    markdown: false,
  }
}

function readUrl(env: Environment, variable: string, service: Service, address: string): URL | undefined {
  const { example, problem } = formOf(service)
  const found = readAddress(address, `${service}+${example}`)
  const why = !found.ok
    ? found.why
    : found.credentials
      ? `may not carry a user and a password; ${variable}_TOKEN may be user:password`
      : problem?.(found.url)
  if (why !== undefined) env.problems.add(`${variable}: ${why}`)
  return found.ok && why === undefined ? found.url : undefined
}

function checkToken(env: Environment, variable: string, service: Service, url: URL | undefined): void {
  const { needsToken, takesNoToken, wantsToken, example } = formOf(service)
  if (isSet(env, `${variable}_TOKEN`)) {
    if (url && takesNoToken(url))
      env.warnings.add(
        `${variable}_TOKEN is not sent: the whole address of ${service} is the secret${service === 'slack' ? `; a bot is ${service}+${example}` : ''}`,
      )
    return
  }
  if (url && needsToken(url)) env.problems.add(`${variable}_TOKEN: is not set; ${service} needs it`)
  if (wantsToken) env.warnings.add(`${variable}_TOKEN is not set: most push servers refuse messages without a token`)
}

/** Shorter parts are no keys. */
const SHORTEST_KEY = 8
/** Parts of webhooks' paths that say nothing. */
const WORDS =
  /^(services|webhooks?|workflows|triggers|channels|messages|automations|powerautomate|default|integrations)$/i

/** Masks the token in each form in which it is sent. */
function hideToken(env: Environment, token: string | undefined): void {
  if (token === undefined) return
  const password = token.slice(token.indexOf(':') + 1)
  for (const secret of [token, Buffer.from(token, 'utf8').toString('base64'), password]) {
    if (secret !== '') env.secrets.add(secret)
  }
}

/** Masks what is secret in an address, in whichever part a server repeats it: of some services all of it, of others what looks like a key. */
function hideAddress(env: Environment, text: string, service: Service | undefined): void {
  const address = text.replace(/^[a-z]+\+/i, '')
  if (!URL.canParse(address)) return void env.secrets.add(text)
  const url = new URL(address)
  const isSecret = service === undefined || formOf(service).isSecret(url)
  const isKey = (part: string) =>
    part.length >= SHORTEST_KEY && !WORDS.test(part) && (isSecret || (/\d/.test(part) && /[a-z]/i.test(part)))
  const keys = url.pathname.split('/').filter(isKey)
  for (const key of keys) env.secrets.add(key)
  for (const [name, value] of url.searchParams) if (value !== '' && isSecretParameter(name)) env.secrets.add(value)
  if (!isSecret || (url.pathname === '/' && url.search === '')) return
  for (const whole of [address, url.href, url.pathname]) if (whole.length >= SHORTEST_KEY) env.secrets.add(whole)
}

/** Settings of channels that are not there, and settings that channels do not have. */
function checkSettings(env: Environment, declared: readonly string[]): void {
  for (const variable of env.texts.keys()) {
    const [, name = '', setting = ''] = SETS.exec(variable) ?? []
    if (name === '') continue
    if (!(setting in CHANNEL)) {
      if (!declared.includes(name)) continue // another program's
      const meant = suggest(setting, Object.keys(CHANNEL))
      env.problems.add(
        `${variable}: unknown setting${meant ? `, did you mean PUSH_${name}_${meant}?` : ` of a channel; there are ${Object.keys(CHANNEL).join(', ')}`}`,
      )
    } else if (!declared.includes(name)) {
      const meant = suggest(name, declared)
      if (setting === 'TOKEN') env.secrets.add(env.texts.get(variable) ?? '')
      env.problems.add(
        `${variable}: PUSH_${name} is not set${meant ? `; did you mean PUSH_${meant}_${setting}?` : '; it declares the channel'}`,
      )
    }
  }
}

function withFallbacks(env: Environment, channels: ChannelConfig[]): ChannelConfig[] {
  const names = channels.map(({ name }) => name)
  return channels.map((channel) => {
    const variable = `${channel.variables.url}_FALLBACK`
    const text = channel.variables.url.startsWith('PUSH_') ? env.texts.get(variable) : undefined
    if (text === undefined) return channel
    const wanted = understand(env, variable, text, CHANNEL.FALLBACK.value)
    const fallback = channels.find(({ name }) => name === wanted)
    if (wanted !== undefined && fallback === undefined)
      env.problems.add(`${variable}: no channel is called so; ${listed(names)}`)
    if (fallback?.name === channel.name) env.problems.add(`${variable}: a channel cannot be its own fallback`)
    return { ...channel, fallback: fallback && { ...fallback, fallback: undefined } }
  })
}

/**
 * The channels that a setting names, in their order.
 * @param text of the variable `name`: names, parted by commas or blanks.
 */
export function namedChannels(
  env: Environment,
  name: string,
  text: string,
  channels: readonly ChannelConfig[],
): string[] {
  const names = channels.map((channel) => channel.name)
  const wanted = text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
  const unknown = wanted.filter((one) => !names.includes(one))
  if (unknown.length > 0 || wanted.length === 0) {
    const meant = suggest(
      (unknown[0] ?? '').toUpperCase(),
      names.map((one) => one.toUpperCase()),
    )?.toLowerCase()
    env.problems.add(`${name}: names a channel that is not there; ${meant ? `did you mean ${meant}?` : listed(names)}`)
  }
  return names.filter((one) => wanted.includes(one))
}

/** All, but those that only take what another could not take. */
export function channelsByDefault(channels: readonly ChannelConfig[]): string[] {
  const spare = new Set(channels.flatMap(({ fallback }) => (fallback && !fallback.isSpare ? [fallback.name] : [])))
  const names = channels.map(({ name }) => name)
  const first = names.filter((name) => !spare.has(name))
  return first.length > 0 ? first : names
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'none is declared: PUSH_<NAME>=<service>+<url>' : `there are ${names.join(', ')}`
}
