import { defined } from '../model/defined.ts'
import { isRecord, parseJson } from '../model/json.ts'

/** What a worker last said: it lives, it begins, or it failed. The object `beats/<worker>.json` holds this as JSON. */
export interface Beat {
  kind: 'ok' | 'start' | 'fail'
  /** 1..255, of a failed worker that named one. */
  exit?: number
  /** At most {@link MOST_BODY} bytes, foreign text. */
  body?: string
}

/** Bytes of a beat's body. */
export const MOST_BODY = 4_096

export function keyOf(worker: string): string {
  return `beats/${worker}.json`
}

export function toText(beat: Beat): string {
  const { kind, exit, body } = beat
  // JSON leaves out what is undefined.
  return JSON.stringify({ kind, exit, body })
}

/** @returns `undefined` when the text is not a beat: a person may have edited it. */
export function fromText(text: string): Beat | undefined {
  const value = parseJson(text)
  if (!isRecord(value)) return undefined
  const { kind, exit, body } = value
  if (kind !== 'ok' && kind !== 'start' && kind !== 'fail') return undefined
  return defined({
    kind: kind as Beat['kind'],
    exit: typeof exit === 'number' ? exit : undefined,
    body: typeof body === 'string' ? body : undefined,
  })
}

/** Bytes of the objects that say nothing but "alive": one of this size need not be read. No failed beat has such a size. */
export const PLAIN_SIZES: ReadonlySet<number> = new Set(
  (['ok', 'start'] as const).map((kind) => Buffer.byteLength(toText({ kind }))),
)
