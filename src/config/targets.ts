import { type Backend, prefixOf } from '../model/backend.ts'
import type { DnsName, Source } from '../model/config.ts'
import type { Fallible } from '../model/fallible.ts'
import { readAddress } from './address.ts'
import { type Environment, read } from './environment.ts'
import { GENERAL } from './settings.ts'
import { failed } from './values.ts'

const DNS = 'dns+http://'
export const GROUP_NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/
export const ENDPOINT_NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\/[a-z0-9]([a-z0-9-]*[a-z0-9])?)?$/
export const NAME_WORDS = 'a-z, 0-9 and - inside, or is group/replica'

/** Where `<BACKEND>_TARGETS` says that the list of endpoints lies. `undefined`: it is not set, or a problem by now. */
export function readSource(env: Environment, backend: Backend): Source | undefined {
  const variable = `${prefixOf(backend)}_TARGETS`
  const text = env.texts.get(variable)
  if (text === undefined) return undefined
  if (isDns(text)) {
    const name = dnsName(text, groupOfHost(text))
    if (name.ok) return name.name
    env.problems.add(`${variable}: ${name.why}`)
    return undefined
  }
  if (/^https?:/i.test(text)) return readHttp(env, variable, text)
  if (/^s3:/i.test(text)) return readS3(env, variable, text)
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text) || /^[[{]/.test(text) || /\p{Cc}/u.test(text)) {
    env.problems.add(`${variable}: may be a file, an http or https address, s3://bucket/key or dns+http://name:port`)
    return undefined
  }
  return { kind: 'file', id: text, path: text }
}

export function isDns(text: string): boolean {
  return /^dns\+/i.test(text)
}

/** Reads a `dns+http://` address. A failure never repeats it. */
export function dnsName(text: string, group: string): Fallible<{ name: Source & DnsName }> {
  if (!text.toLowerCase().startsWith(DNS)) {
    return failed('only dns+http:// can be followed: a certificate names the host, not its addresses')
  }
  const found = readAddress(text.slice('dns+'.length), 'http://vllm-headless:8000/metrics')
  if (!found.ok) return found
  if (found.credentials) return failed('a dns+http:// address carries no user and password: use _BASIC_AUTH')
  if (!GROUP_NAME.test(group))
    return failed('a dns+http:// address is named by its group alone, as in chat=dns+http://…')
  const { href } = found.url
  return { ok: true, name: { kind: 'dns', id: `dns+${href}`, group, url: href } }
}

/** `dns+http://vllm-headless.ml.svc:8000` → `vllm-headless`. */
function groupOfHost(text: string): string {
  const url = text.slice('dns+'.length)
  return URL.canParse(url) ? (new URL(url).hostname.split('.')[0] ?? '') : ''
}

function readHttp(env: Environment, variable: string, text: string): Source | undefined {
  const found = readAddress(text, 'https://discovery.example.com/targets.json')
  if (!found.ok) {
    env.problems.add(`${variable}: ${found.why}`)
    return undefined
  }
  const { url, credentials } = found
  // What follows the path may be a key to the list.
  if (url.search !== '') env.secrets.add(url.search.slice(1)).add(url.href)
  const id = `${url.origin}${url.pathname}`
  if (!credentials) return { kind: 'http', id, url: url.href, authorization: undefined }
  const pair = `${credentials.user}:${credentials.password}`
  const authorization = `Basic ${Buffer.from(pair, 'utf8').toString('base64')}`
  for (const secret of [pair, credentials.password || credentials.user, authorization]) env.secrets.add(secret)
  return { kind: 'http', id, url: url.href, authorization }
}

function readS3(env: Environment, variable: string, text: string): Source | undefined {
  const [, bucket, key] = /^s3:\/\/([A-Za-z0-9][A-Za-z0-9._-]{1,254})\/([^\p{Cc}]+)$/iu.exec(text) ?? []
  if (bucket === undefined || key === undefined) {
    env.problems.add(`${variable}: is no object; write s3://bucket/key, such as s3://ops/queuebell/targets.json`)
    return undefined
  }
  const endpoint = read(env, 'S3_ENDPOINT', GENERAL.S3_ENDPOINT)?.href.replace(/\/$/, '')
  const forcePathStyle = read(env, 'S3_FORCE_PATH_STYLE', GENERAL.S3_FORCE_PATH_STYLE)
  return { kind: 's3', id: `s3://${bucket}/${key}`, bucket, key, endpoint, forcePathStyle }
}
