import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/** What a link is for; a token of one purpose is worth nothing for another. */
export type Purpose = 'status' | 'act' | 'image' | 'badge'

/** What a token says beside its purpose. */
export interface Claim {
  /** The function whose state it is about; `*` is all of them. */
  function: string
  /** What inside it: incidents, an endpoint, or nothing. */
  subject: string
  /** Epoch milliseconds after which it is worth nothing; absent: until the secret changes. */
  end?: number
}

/** Longer ones are not looked at. */
const LONGEST = 2_048

/** A token for a path: what it claims in base64url, and the HMAC-SHA-256 over purpose and claim. */
export function makeToken(secret: string, purpose: Purpose, claim: Claim): string {
  const body = Buffer.from(JSON.stringify([claim.function, claim.subject, claim.end ?? 0])).toString('base64url')
  return `${body}.${sign(secret, purpose, body)}`
}

/**
 * @param secrets any of them may have signed it: while a secret is changed there are two.
 * @returns what the token claims; `undefined` where it is forged, for another purpose, or past its end.
 */
export function readToken(secrets: readonly string[], purpose: Purpose, token: string, now: number): Claim | undefined {
  if (token.length > LONGEST) return undefined
  const dot = token.lastIndexOf('.')
  const body = token.slice(0, Math.max(0, dot))
  const given = token.slice(dot + 1)
  // All secrets are tried, and hashes compared: how long it takes says neither which one it was nor how far it fits.
  const signed = secrets.map((secret) => isSame(sign(secret, purpose, body), given)).includes(true)
  if (!signed) return undefined
  const [name, subject, end] = JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) as [string, string, number]
  if (end !== 0 && now >= end) return undefined
  return { function: name, subject, ...(end === 0 ? {} : { end }) }
}

/** Whether two secrets are one, in a time that does not depend on where they differ. */
export function isSame(one: string, other: string): boolean {
  return timingSafeEqual(sha256(one), sha256(other))
}

function sign(secret: string, purpose: Purpose, body: string): string {
  return createHmac('sha256', secret).update(`queuebell page\n${purpose}\n${body}`).digest('base64url')
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
