import { defined } from '../model/defined.ts'
import type { Proxies, Reach, TlsFiles } from '../model/reach.ts'
import { credentialsOf } from './address.ts'
import { type Environment, find } from './environment.ts'
import { GENERAL, PER_ENDPOINT } from './settings.ts'

const PARTS = { ca: 'TLS_CA', cert: 'TLS_CERT', key: 'TLS_KEY' } as const

/**
 * The proxies of this process, in capitals as in small letters; `undefined` where there is none.
 * HTTPS_PROXY falls back to nothing, not to HTTP_PROXY: a proxy for plain pages need not let tunnels through.
 */
export function readProxies(env: Environment): Proxies | undefined {
  const one = (name: 'HTTP_PROXY' | 'HTTPS_PROXY') => find(env, [name, name.toLowerCase()], GENERAL[name].value)?.value
  const [http, https] = [one('HTTP_PROXY'), one('HTTPS_PROXY')]
  for (const url of [http, https]) {
    const read = url && credentialsOf(url)
    if (!read?.ok) continue
    for (const part of Object.values(read.credentials ?? {})) if (part !== '') env.secrets.add(part)
  }
  if (http === undefined && https === undefined) return undefined
  const list = find(env, ['NO_PROXY', 'no_proxy'], GENERAL.NO_PROXY.value)?.value ?? ''
  return { ...defined({ http: http?.href, https: https?.href }), except: list.split(/[\s,]+/).filter(Boolean) }
}

/**
 * The TLS settings under the first of several beginnings that has one, each setting by itself: `['VLLM_CHAT_', 'VLLM_', '']`.
 * A certificate without its key, or the reverse, is a problem; a switched-off check is warned of.
 */
export function readTls(env: Environment, beginnings: readonly string[]): TlsFiles | undefined {
  const files: TlsFiles = {}
  for (const part of ['ca', 'cert', 'key'] as const) {
    const found = find(
      env,
      beginnings.map((beginning) => beginning + PARTS[part]),
      PER_ENDPOINT[PARTS[part]].value,
    )
    if (found?.value !== undefined) files[part] = { variable: found.name, path: found.value }
  }
  const skip = find(
    env,
    beginnings.map((beginning) => `${beginning}TLS_SKIP_VERIFY`),
    GENERAL.TLS_SKIP_VERIFY.value,
  )
  if (skip?.value === true) {
    files.skipVerify = true
    env.warnings.add(
      `${skip.name}=yes takes any certificate: whoever is on the way can read tokens and answer in its place; ${skip.name.replace(/SKIP_VERIFY$/, 'CA')} is the safe way`,
    )
  }
  const { cert, key } = files
  if (cert && !key)
    env.problems.add(
      `${cert.variable.replace(/CERT$/, 'KEY')}: is not set, but ${cert.variable} is; write the path of its key`,
    )
  if (key && !cert)
    env.problems.add(
      `${key.variable.replace(/KEY$/, 'CERT')}: is not set, but ${key.variable} is; write the path of its certificate`,
    )
  return Object.keys(files).length > 0 ? files : undefined
}

/** What stands between us and one endpoint; `undefined`: nothing. @param levels `VLLM_CHAT_A_`, `VLLM_CHAT_`, `VLLM_`. */
export function readReach(env: Environment, levels: readonly string[]): Reach | undefined {
  const tls = readTls(env, [...levels, ''])
  const byProxy = find(
    env,
    levels.map((level) => `${level}PROXY`),
    PER_ENDPOINT.PROXY.value,
  )?.value
  return tls || byProxy ? { ...defined({ tls }), ...(byProxy && { byProxy: true as const }) } : undefined
}

/** The same for what is no endpoint. */
export function readOutward(env: Environment): { proxies?: Proxies; tls?: TlsFiles } {
  return defined({ proxies: readProxies(env), tls: readTls(env, ['']) })
}
