import { POLICY } from './style.ts'

export interface PageRequest {
  method: string
  /** As requested, nothing decoded, without the query. */
  path: string
  /** Names in small letters. */
  headers: Readonly<Record<string, string | undefined>>
  body: string
  /** The body was longer than {@link MOST_BODY} and not kept. */
  bodyTooLarge: boolean
}

export interface PageAnswer {
  status: 200 | 303 | 400 | 403 | 404 | 413 | 503
  headers: Record<string, string>
  body: string | Buffer
}

/** Bytes. */
export const MOST_BODY = 4_096

/** Said with every answer: nobody keeps, indexes, passes on or guesses anything. */
export const ALWAYS = {
  'cache-control': 'no-store',
  'x-robots-tag': 'noindex, nofollow',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}
const BARE_POLICY = "default-src 'none'; frame-ancestors 'none'"
export const HTML = 'text/html; charset=utf-8'

/** What every request gets that has no token which fits. */
export function nothing(): PageAnswer {
  return { status: 404, headers: { ...ALWAYS }, body: '' }
}

export function say(status: PageAnswer['status'], type: string, body: string | Buffer): PageAnswer {
  const policy = type === HTML ? POLICY : BARE_POLICY
  return { status, headers: { ...ALWAYS, 'content-type': type, 'content-security-policy': policy }, body }
}
