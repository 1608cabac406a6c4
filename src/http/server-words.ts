import { mask } from '../log.ts'
import { chunksOf } from './body.ts'
import { withDeadline } from './deadline.ts'

const MOST_BYTES = 8 * 1024
const MOST_CHARACTERS = 200
/** An error text is worth having, not worth waiting for. */
const PATIENCE_MS = 500

/**
 * The server's own words in an error answer: the text of a JSON error, the title of a page, else the beginning.
 * One line of at most 200 characters without control characters or the given secrets. The rest of the body is discarded.
 * @returns `undefined` when there are none in time.
 */
export async function serverWords(response: Response, secrets: readonly string[]): Promise<string | undefined> {
  return toWords(await opening(response.body), secrets)
}

/** {@link serverWords} of a text that is here already. */
export function toWords(text: string, secrets: readonly string[]): string | undefined {
  const said = mask(fromJson(text) ?? fromHtml(text) ?? text, secrets).replace(PERSONAL, '***')
  const words = sayOnOneLine(said)
  return words === '' ? undefined : words
}

/** Keys, what remains of them where they are shortened, their hashes, and addresses of people: proxies name whom they refuse. */
const PERSONAL = /\bsk-[\w.-]{3,}|\b[0-9a-f]{40,}\b|[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+/g

/** The beginning of a body as text, as far as it comes in time. What is left of it is let go of. Never throws. */
export function opening(body: ReadableStream<Uint8Array> | null, limits: Limits = {}): Promise<string> {
  return openingOf((signal) => chunksOf(body, signal), limits)
}

interface Limits {
  /** Characters. */
  most?: number
  /** Milliseconds. */
  patience?: number
}

/** {@link opening} of a body that need not end with its signal. */
export async function openingOf(
  body: (signal: AbortSignal) => AsyncIterable<Uint8Array>,
  { most = MOST_BYTES, patience = PATIENCE_MS }: Limits = {},
): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  const read = async (signal: AbortSignal) => {
    for await (const chunk of body(signal)) {
      text += decoder.decode(chunk, { stream: true })
      if (text.length >= most) return
    }
  }
  // The status is what counts; an error text that was cut short is used as far as it came.
  await withDeadline(patience, read, { abandon: true }).catch(() => {})
  return text.slice(0, most)
}

/** `{"error": {"message": …}}`, `{"error": …}`, `{"errorDescription": …}`, `{"detail": …}` and their like. */
function fromJson(text: string): string | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined
  try {
    return words(JSON.parse(text), 0)
  } catch {
    return undefined
  }
}

function words(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value
  if (typeof value !== 'object' || value === null || depth > 3) return undefined
  const fields = Array.isArray(value) ? value : NAMES.map((name) => (value as Record<string, unknown>)[name])
  for (const field of fields) {
    const found = words(field, depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}

/** Gotify puts the reason in `errorDescription` and the status' name in `error`, so the longer names come first. */
const NAMES = [
  'errorDescription',
  'error_description',
  'message',
  'msg',
  'detail',
  'reason',
  'error',
  'errors',
  'title',
  'description',
]

function fromHtml(text: string): string | undefined {
  if (!/^\s*</.test(text)) return undefined
  return /<title[^>]*>([^<]*)<\/title/i.exec(text)?.[1] ?? text.replace(/<(script|style)[\s\S]*?<\/\1>|<[^>]*>/gi, ' ')
}

/** Control characters, line and paragraph separators, and marks that turn or hide text, become blanks; cut between characters. */
export function sayOnOneLine(text: string): string {
  const clean = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\s]+/gu, ' ').trim()
  // Twice as many units hold more characters than are kept, if there are more.
  const characters = [...clean.slice(0, MOST_CHARACTERS * 2 + 2)]
  return characters.length > MOST_CHARACTERS
    ? `${characters.slice(0, MOST_CHARACTERS - 1).join('')}…`
    : characters.join('')
}
