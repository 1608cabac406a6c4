import type { Language } from '../model/config.ts'
import { escapeHtml } from './html.ts'
import { STYLE } from './style.ts'
import { clockText } from './texts.ts'

/** In whose words and whose time a page is written. */
export interface Reader {
  language: Language
  /** IANA name. */
  timezone: string
  /** Epoch milliseconds. */
  now: number
}

/** A bell, so that no browser asks for a picture of ours. */
const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill='%23d08a00' d='M8 1a5 5 0 0 0-5 5v3l-1.500 2.500h13L13 9V6a5 5 0 0 0-5-5zM6 13a2 2 0 0 0 4 0z'/%3E%3C/svg%3E"

/**
 * One whole document.
 * @param body safe to print. @param refresh seconds after which it is asked for again.
 */
export function documentOf(title: string, body: string, reader: Reader, refresh?: number): string {
  return `<!doctype html>
<html lang="${reader.language}"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="robots" content="noindex,nofollow"><meta name="referrer" content="no-referrer">${refresh === undefined ? '' : `<meta http-equiv="refresh" content="${refresh}">`}<link rel="icon" href="${ICON}"><style>${STYLE}</style></head>
<body>${body}</body></html>
`
}

/** A moment for people and for machines. Epoch milliseconds. */
export function timeOf(at: number, reader: Reader): string {
  const iso = new Date(at).toISOString().replace(/\.\d+Z$/, 'Z')
  return `<time datetime="${iso}">${escapeHtml(clockText(at, reader.now, reader))}</time>`
}
