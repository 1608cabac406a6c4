import type { Backend } from '../model/backend.ts'
import type { Shard } from '../model/config.ts'
import { type Saved, type Store, type Stored, StoreError, type Version } from '../model/store.ts'
import { noteCertificates } from './certificates.ts'
import { countReposted, type Delivery, type Reposted, settle } from './outbox.ts'
import { emptyState, type ReadState, readState, type State, writeState } from './schema.ts'

/** The state cannot be used by this version of the code; nothing was written. */
export class StateError extends Error {
  override name = 'StateError'
}

export interface Opened {
  kind: 'open'
  state: State
  /** `undefined`: the object does not exist yet. */
  version: Version | undefined
}

export type PassedOver = { kind: 'duplicate' | 'superseded' }

/** How a state becomes the text that a store keeps, and back. */
export interface StateCodec {
  read(text: string): ReadState
  write(state: State): string
}

const JSON_TEXT: StateCodec = { read: readState, write: writeState }

/** What one run commits its state with. */
interface Commit {
  store: Store
  /** JSON text unless told. */
  codec?: StateCodec | undefined
  backend: Backend
  /** Absent: the function is not divided. */
  shard?: Shard | undefined
  /** The run's own time, epoch milliseconds. */
  now: number
  tick: number | undefined
}

/** The object of one function, or of one of its shards. */
export function stateKey(backend: Backend, shard?: Shard): string {
  return shard ? `${backend}.${shard.index}-of-${shard.of}.json` : `${backend}.json`
}

/**
 * Loads what the last run left. A broken object is put aside under another key, which the fresh state reports once; the
 * object of a newer version is refused and left as it is.
 */
export async function openRun(commit: Commit & { dryRun: boolean }): Promise<Opened | PassedOver> {
  const opened = await open(commit)
  return passOver(opened.state, commit) ?? opened
}

/** A tick may be ahead of our own clock by this much. Milliseconds. */
const FARTHEST_TICK = 60 * 60_000

/** A tick that was handled already, or an older one, is not handled again. */
function passOver(state: State, { tick, now }: Commit): PassedOver | undefined {
  if (tick === undefined || state.tick === undefined || tick > state.tick) return undefined
  // A test event, or a clock that was wrong, must not stop the watching until that time has come. Where the new tick is as
  // far ahead, it is our own clock that differs, and the ticks are in order.
  if (state.tick > now + FARTHEST_TICK && tick <= now + FARTHEST_TICK) return undefined
  return { kind: tick === state.tick ? 'duplicate' : 'superseded' }
}

async function open(commit: Commit & { dryRun: boolean }): Promise<Opened> {
  const { store, now } = commit
  const key = stateKey(commit.backend, commit.shard)
  const { stored, read } = await readTwice(commit, key)
  if (!stored) return { kind: 'open', state: emptyState(), version: undefined }
  switch (read.kind) {
    case 'state':
      return { kind: 'open', state: read.state, version: stored.version }
    case 'newer':
      throw new StateError(
        `${key}: the state was written by a newer Queuebell (version ${read.version}); deploy that version, or remove the object to start anew. Nothing was written.`,
      )
    case 'broken':
      if (!commit.dryRun) await store.put(asideKey(key, now), stored.text)
      return { kind: 'open', state: startAnew(key, now), version: stored.version }
    default:
      return read satisfies never
  }
}

type Read = { stored: undefined; read?: undefined } | { stored: Stored; read: ReadState }

/** What looks broken is read once more: half an answer, or a page from something in between, is not the object. */
async function readTwice({ store, codec = JSON_TEXT }: Commit, key: string): Promise<Read> {
  const read = async (): Promise<Read> => {
    const stored = await store.load(key)
    return stored ? { stored, read: codec.read(stored.text) } : { stored: undefined }
  }
  const first = await read()
  return first.read?.kind === 'broken' ? read() : first
}

function asideKey(key: string, now: number): string {
  return `${key.slice(0, -'.json'.length)}.broken-${new Date(now).toISOString().replaceAll(':', '-')}.json`
}

function startAnew(key: string, now: number): State {
  const incident = `|state-broken|${key.slice(0, -'.json'.length)}@${now}`
  const notification = {
    id: `${incident}/told-once/${now}`,
    incident,
    reason: 'told-once',
    rule: 'state-broken',
    subject: asideKey(key, now),
    priority: 6,
    at: now,
    firedAt: now,
  } as const
  // For no channel yet: the configuration says who is to hear of it.
  return { ...emptyState(), outbox: [{ notification, since: now, to: {}, tries: 0 }] }
}

export interface Decided {
  state: State
}

export type SavedDecision<D extends Decided> = { kind: 'saved'; decision: D; state: State; version: Version }

/**
 * Saves what `decide` makes of the state. When another run wrote meanwhile: go on if the write was our own and only
 * its answer was lost, else decide again from its state, once; a run whose time has passed by then is superseded.
 * @param decide may decline when it is asked `again`: then the run is superseded.
 */
export async function saveDecision<D extends Decided>(
  opened: Opened,
  decide: (from: Opened, again: boolean) => Promise<D | undefined>,
  commit: Commit & { id: string },
): Promise<SavedDecision<D> | PassedOver> {
  const first = await decide(opened, false)
  if (first === undefined) return { kind: 'superseded' }
  const saved = await trySave(opened, first.state, commit)
  if (saved.kind === 'saved') return { ...saved, decision: first }
  const newer = saved.found
  const passed = passOver(newer.state, commit)
  if (passed) return passed
  if (newer.state.ranAt !== undefined && newer.state.ranAt > commit.now) return { kind: 'superseded' }
  const second = await decide(newer, true)
  if (second === undefined) return { kind: 'superseded' }
  const again = await trySave(newer, second.state, commit)
  return again.kind === 'saved' ? { ...again, decision: second } : { kind: 'superseded' }
}

type Tried = { kind: 'saved'; state: State; version: Version } | { kind: 'conflict'; found: Opened }

/** One compare-and-swap, and what came of it when its answer was lost. */
async function trySave(from: Opened, state: State, commit: Commit & { id: string }): Promise<Tried> {
  const { codec = JSON_TEXT } = commit
  const text = codec.write(state)
  const save = () => commit.store.save(stateKey(commit.backend, commit.shard), text, from.version)
  let saved: Saved
  try {
    saved = await save()
  } catch (error) {
    if (!isLost(error)) throw error
    const found = await open({ ...commit, dryRun: false })
    if (found.state.runs.includes(commit.id)) return written(found)
    if (found.version !== from.version) return { kind: 'conflict', found }
    saved = await save()
  }
  if (saved !== 'conflict') return { kind: 'saved', state, version: saved.version }
  const found = await open({ ...commit, dryRun: false })
  return found.state.runs.includes(commit.id) ? written(found) : { kind: 'conflict', found }
}

function written(found: Opened): Tried {
  if (found.version === undefined) return { kind: 'conflict', found }
  return { kind: 'saved', state: found.state, version: found.version }
}

/** The store did not answer, or not clearly: the write may have been made. */
function isLost(error: unknown): boolean {
  return error instanceof StoreError && !error.permanent
}

const SETTLE_TRIES = 5

/** What a run's pushes leave. */
interface Settled {
  deliveries: readonly Delivery[]
  reposted: readonly Reposted[]
  /** By channel, epoch milliseconds. */
  certificates?: ReadonlyMap<string, number>
}

/**
 * Writes down what was delivered, on whatever state is newest. Settling is by id, so it may be done again.
 * @throws {StoreError} when it cannot be written: then the next run sends again.
 */
export async function saveSettled(
  from: { state: State; version: Version },
  { deliveries, reposted, certificates = new Map() }: Settled,
  commit: Commit & { id: string },
): Promise<State> {
  const { codec = JSON_TEXT } = commit
  let current: { state: State; version: Version | undefined } = from
  for (let tries = 1; ; tries += 1) {
    const settled = countReposted(settle(current.state, deliveries, commit.now, commit.id), reposted)
    const state = noteCertificates(settled, certificates, commit.now)
    try {
      const saved = await commit.store.save(stateKey(commit.backend, commit.shard), codec.write(state), current.version)
      if (saved !== 'conflict') return state
      if (tries >= SETTLE_TRIES)
        throw new StoreError(
          `${stateKey(commit.backend, commit.shard)}: other runs kept writing while this one settled its pushes`,
          false,
        )
    } catch (error) {
      if (!isLost(error) || tries >= SETTLE_TRIES) throw error
    }
    current = await open({ ...commit, dryRun: false })
  }
}
