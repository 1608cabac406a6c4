import { BACKENDS } from '../backends/backends.ts'
import type { Backend } from '../model/backend.ts'
import type { Store } from '../model/store.ts'
import { type ReadState, readState, type State } from '../state/schema.ts'

/** A watching function, by the name of its state object. */
export interface Owner {
  /** `vllm`, or `vllm.2-of-8`. */
  name: string
  backend: Backend
}

export type LoadedState = Owner & ({ state: State } | { why: string })

/** The function of a state object's name; `undefined` for what is none: a copy put aside, a beat. */
export function ownerOf(name: string): Owner | undefined {
  const [, backend = ''] = /^([a-z-]+)(?:\.\d{1,3}-of-\d{1,3})?$/.exec(name) ?? []
  return (BACKENDS as readonly string[]).includes(backend) ? { name, backend: backend as Backend } : undefined
}

/** The states of all functions that lie in the same place; one that cannot be read says why, and stands in nobody's way. */
export async function loadAll(store: Store): Promise<LoadedState[]> {
  const owners = (await store.list('')).flatMap(({ key }) =>
    key.endsWith('.json') ? (ownerOf(key.slice(0, -'.json'.length)) ?? []) : [],
  )
  const loaded = await Promise.all(owners.map((owner) => loadOne(store, owner)))
  const rank = ({ backend }: Owner) => BACKENDS.indexOf(backend)
  return loaded
    .filter((one) => one !== undefined)
    .sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name, 'en', { numeric: true }))
}

/** @returns `undefined` where there is no such state. */
export async function loadOne(store: Store, owner: Owner): Promise<LoadedState | undefined> {
  try {
    const stored = await store.load(`${owner.name}.json`)
    if (!stored) return undefined
    const read = readState(stored.text)
    return read.kind === 'state' ? { ...owner, state: read.state } : { ...owner, why: whyNot(read) }
  } catch {
    // What a store says may name places that are nobody's business who only has a link.
    return { ...owner, why: 'the store did not give it' }
  }
}

function whyNot(read: Exclude<ReadState, { kind: 'state' }>): string {
  return read.kind === 'newer' ? `it was written by a newer version (${read.version})` : read.why
}
