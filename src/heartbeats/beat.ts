import { defined } from '../model/defined.ts'
import { isRecord, parseJson } from '../model/json.ts'

/** What a worker last said: it lives, it begins, or it failed. The object `beats/<worker>.json` holds this as JSON. */
export interface Beat {
  kind: 'ok' | 'start' | 'progress' | 'fail'
  /** 1..255, of a failed worker that named one. */
  exit?: number
  /** `progress`: done so far, of all. */
  n?: number
  of?: number
  /** At most {@link MOST_BODY} bytes, foreign text. */
  body?: string
}

/** Bytes of a beat's body. */
export const MOST_BODY = 4_096

export function keyOf(worker: string): string {
  return `beats/${worker}.json`
}

export function toText(beat: Beat): string {
  const { kind, exit, n, of, body } = beat
  // JSON leaves out what is undefined.
  return JSON.stringify({ kind, exit, n, of, body })
}

/** @returns `undefined` when the text is not a beat: a person may have edited it. */
export function fromText(text: string): Beat | undefined {
  const value = parseJson(text)
  if (!isRecord(value)) return undefined
  const { kind, exit, n, of, body } = value
  if (kind !== 'ok' && kind !== 'start' && kind !== 'progress' && kind !== 'fail') return undefined
  if (kind === 'progress' && (typeof n !== 'number' || typeof of !== 'number')) return undefined
  return defined({
    kind: kind as Beat['kind'],
    exit: typeof exit === 'number' ? exit : undefined,
    n: typeof n === 'number' ? n : undefined,
    of: typeof of === 'number' ? of : undefined,
    body: typeof body === 'string' ? body : undefined,
  })
}

/** What the objects say that hold no more than their kind, by their size in bytes: one of these need not be read. */
export const PLAIN_SIZES: ReadonlyMap<number, 'ok' | 'start'> = new Map(
  (['ok', 'start'] as const).map((kind) => [Buffer.byteLength(toText({ kind })), kind]),
)
