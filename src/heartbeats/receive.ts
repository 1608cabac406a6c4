import { createHash, timingSafeEqual } from 'node:crypto'
import type { Worker } from '../config/receiver.ts'
import { type Beat, keyOf, MOST_BODY, toText } from './beat.ts'

export interface BeatRequest {
  method: string
  /** As requested, nothing decoded. */
  path: string
  query: URLSearchParams
  /** Names in small letters. */
  headers: Readonly<Record<string, string | undefined>>
  body: string
  /** The body was longer than {@link MOST_BODY} and not kept. */
  bodyTooLarge: boolean
}

export interface BeatAnswer {
  status: 204 | 400 | 401 | 404 | 413 | 503
  headers?: Record<string, string>
  body?: string
}

/** What this process wrote last for a worker. */
export interface LastWrite {
  /** Epoch milliseconds. */
  at: number
  beat: Beat
  /** The last beginning of a run that was written. */
  startedAt?: number
}

export interface ReceiveDeps {
  /** Epoch milliseconds. */
  now: number
  /** By worker; kept between calls. */
  lastWrites: Map<string, LastWrite>
  put(key: string, text: string): Promise<void>
}

/** A worker's beats are written at most this often by one process, unless a beat says something new. Milliseconds. */
const QUIET = 10_000

type Sender = Pick<Worker, 'name' | 'interval'>

/**
 * Takes one beat: `/<worker>`, `/<worker>/start`, `/<worker>/progress/<n>/<of>` (or `progress?n=<n>&of=<of>`),
 * `/<worker>/fail` or `/<worker>/<exit-code>`, by GET, POST or HEAD.
 * The token is checked first: without it every request gets the same 401, whatever it asks for.
 */
export async function receive(
  request: BeatRequest,
  config: { token: string; workers: readonly Sender[] },
  deps: ReceiveDeps,
): Promise<BeatAnswer> {
  if (!mayEnter(request, config.token)) {
    return { ...say(401, 'a valid token is needed'), headers: { ...PLAIN, 'www-authenticate': 'Bearer' } }
  }
  if (!['GET', 'POST', 'HEAD'].includes(request.method)) return say(400, 'a beat is a GET, a POST or a HEAD')
  if (request.bodyTooLarge || Buffer.byteLength(request.body) > MOST_BODY) {
    return say(413, `the body may have ${MOST_BODY} bytes`)
  }
  const called = readPath(request)
  const worker = config.workers.find(({ name }) => name === called?.worker)
  if (!called || !worker) {
    return say(
      404,
      'no such worker: the path is /<worker>, /<worker>/start, /<worker>/progress/<n>/<of>, /<worker>/fail or /<worker>/<exit-code>',
    )
  }
  const body = request.body.trim()
  // The numbers that stand in a form are said already.
  const isSaid = body === '' || (called.beat.kind === 'progress' && /^(n|of)=\d+&(n|of)=\d+$/.test(body))
  return write(worker, isSaid ? called.beat : { ...called.beat, body }, deps)
}

const PLAIN = { 'content-type': 'text/plain; charset=utf-8' }

function say(status: BeatAnswer['status'], words: string): BeatAnswer {
  return { status, headers: PLAIN, body: `${words}\n` }
}

/** Any of the tokens given counts. Hashes are compared, so that neither length nor beginning can be measured. */
function mayEnter(request: BeatRequest, token: string): boolean {
  const bearer = /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1]
  // No token has a blank: one in the query is a plus sign, as base64 has them, that was not encoded.
  const inQuery = request.query.getAll('token').map((one) => one.replaceAll(' ', '+'))
  const given = bearer === undefined ? inQuery : [bearer, ...inQuery]
  const right = sha256(token)
  // An empty token is never right: it would open the receiver to everybody.
  return token !== '' && given.map((one) => timingSafeEqual(sha256(one), right)).includes(true)
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function readPath({ path, query, body }: BeatRequest): { worker: string; beat: Beat } | undefined {
  const [, worker, what, done, all] =
    /^\/([a-z0-9-]{1,200})(?:\/(start|fail|\d{1,3}|progress(?:\/(\d{1,15})\/(\d{1,15}))?))?\/?$/.exec(path) ?? []
  if (worker === undefined) return undefined
  if (what === undefined) return { worker, beat: { kind: 'ok' } }
  if (what === 'start' || what === 'fail') return { worker, beat: { kind: what } }
  if (what.startsWith('progress')) {
    const form = new URLSearchParams(body.trim())
    const [n, of] = [done ?? query.get('n') ?? form.get('n'), all ?? query.get('of') ?? form.get('of')].map(whole)
    return n === undefined || of === undefined || of === 0 ? undefined : { worker, beat: { kind: 'progress', n, of } }
  }
  const exit = Number(what)
  if (exit > 255) return undefined
  return { worker, beat: exit === 0 ? { kind: 'ok' } : { kind: 'fail', exit } }
}

function whole(text: string | null): number | undefined {
  return text !== null && /^\d{1,15}$/.test(text.trim()) ? Number(text) : undefined
}

async function write({ name, interval }: Sender, beat: Beat, deps: ReceiveDeps): Promise<BeatAnswer> {
  const last = deps.lastWrites.get(name)
  // A worker that beats every few seconds would look late if ten of them passed between two writes.
  const quiet = interval > 0 ? Math.min(QUIET, interval / 2) : QUIET
  if (last && !isNews(beat, last, deps.now - quiet) && deps.now - last.at < quiet && deps.now >= last.at)
    return { status: 204 }
  const startedAt = beat.kind === 'start' ? deps.now : last?.startedAt
  const written: LastWrite = { at: deps.now, beat, ...(startedAt === undefined ? {} : { startedAt }) }
  // Noted before the write, so that beats that come while it is under way do not write too.
  deps.lastWrites.set(name, written)
  try {
    await deps.put(keyOf(name), toText(beat))
    return { status: 204 }
  } catch {
    if (deps.lastWrites.get(name) === written) deps.lastWrites.delete(name)
    return say(503, 'the beat could not be stored; send it again')
  }
}

/**
 * What changes what the worker is in: alive, failed, in a run. The same failure again, in other words, is no news. A run's
 * end is, once its beginning was written; a beginning is unless one was a moment ago, as of a worker that runs each second.
 * @param recently epoch milliseconds from which on a beginning was a moment ago.
 */
function isNews(beat: Beat, { beat: last, startedAt }: LastWrite, recently: number): boolean {
  if (beat.exit !== last.exit) return true
  if (beat.kind === 'start') return last.kind === 'fail' || (last.kind !== 'start' && (startedAt ?? 0) <= recently)
  return stateOf(beat) !== stateOf(last)
}

function stateOf({ kind }: Beat): 'failed' | 'running' | 'alive' {
  if (kind === 'fail') return 'failed'
  return kind === 'ok' ? 'alive' : 'running'
}
