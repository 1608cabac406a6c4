import { type Backend, prefixOf } from '../model/backend.ts'
import type { Failure } from '../model/failure.ts'
import type { FailureTexts } from './texts.ts'

/** ` (ECONNREFUSED)`: the network's own code, where there is one. */
export function code(failure: Failure): string {
  return failure.code === undefined ? '' : ` (${failure.code})`
}

export function status(failure: Failure, otherwise: string): string {
  return failure.status === undefined ? otherwise : `HTTP ${failure.status}`
}

/** A kind of failure whose texts do not depend on what else is known. */
export function same(headline: string, words: string, todo: string): FailureTexts {
  return { headline: () => headline, words: (failure) => `${words}${code(failure)}`, todo: () => todo }
}

/** The server's own word: it listens, and has not read its weights yet. */
export function isLoading({ status, detail = '' }: Failure): boolean {
  return status === 503 && /\bloading (the )?model\b|\bmodel is (still )?loading\b/i.test(detail)
}

/** 503 and 429 come from a server that is alive: full, or still loading its model. */
export function isOverload(failure: Failure): boolean {
  return (failure.status === 503 || failure.status === 429) && !isProxyAlone(failure)
}

/**
 * A proxy answered because nobody behind it did: 502 and 504 by what they mean, 503 by the words of HAProxy, nginx and
 * Envoy.
 */
export function isProxyAlone({ status, detail = '' }: Failure): boolean {
  return status === 502 || status === 504 || (status === 503 && NOBODY_BEHIND.test(detail))
}

const NOBODY_BEHIND =
  /no server is available|no healthy upstream|upstream connect error|no (available|healthy) (server|backend|endpoint)|^(503 )?service temporarily unavailable/i

/** Whether the bytes were declared compressed: then there is a code that names how decoding failed. */
export function isDeclared(failure: Failure): boolean {
  return failure.code !== undefined
}

/** What a TLS handshake failed over, as far as its code says. */
export type TlsTrouble = 'plain-port' | 'tls-port' | 'expired' | 'not-yet' | 'issuer' | 'name' | 'client' | 'other'

/** Codes: https://nodejs.org/api/tls.html#x509-certificate-error-codes, and OpenSSL's names of TLS alerts. */
export function tlsTrouble({ code = '' }: Failure): TlsTrouble {
  if (/HTTP_ON_TLS/.test(code)) return 'tls-port'
  if (/WRONG_VERSION_NUMBER|UNKNOWN_PROTOCOL|HTTP_REQUEST|PACKET_LENGTH_TOO_LONG/.test(code)) return 'plain-port'
  if (/CERT_HAS_EXPIRED/.test(code)) return 'expired'
  if (/CERT_NOT_YET_VALID/.test(code)) return 'not-yet'
  if (/SELF_SIGNED|UNABLE_TO_GET_ISSUER|UNABLE_TO_VERIFY|INVALID_CA/.test(code)) return 'issuer'
  if (/ALTNAME_INVALID|HOSTNAME_MISMATCH/.test(code)) return 'name'
  if (/CERTIFICATE_REQUIRED|ALERT_(BAD_CERTIFICATE|UNKNOWN_CA|CERTIFICATE_UNKNOWN|HANDSHAKE_FAILURE)/.test(code))
    return 'client'
  return 'other'
}

/** Settings of a backend by their full names: `TLS_CA` as `VLLM_TLS_CA`, `<BACKEND>_BASIC_AUTH` as `VLLM_BASIC_AUTH`. */
export function withPrefix(text: string, backend: Backend | undefined): string {
  return backend === undefined ? text : underPrefix(text, prefixOf(backend))
}

/** The same by the beginning of their names: `NOTIFLY`, `PUSH_TEAM`. */
export function underPrefix(text: string, prefix: string): string {
  return text.replace(OWN_SETTING, `${prefix}_$&`).replaceAll('<BACKEND>', prefix)
}

const OWN_SETTING = /(?<![A-Z_>])(BEARER_TOKEN|BASIC_AUTH|TLS_CA|TLS_CERT|TLS_KEY|ENDPOINTS)(?![A-Z_])/g
