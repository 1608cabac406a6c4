import type { Store } from '../model/store.ts'
import { StoreError } from '../model/store.ts'
import { type ReadState, readState, type State, writeState } from './schema.ts'

/** Other runs write twice a minute: nobody is unlucky so often. */
const TRIES = 6

/** What came of a change from outside of a run. `none`: there is no state yet. */
export type Changed = { kind: 'changed'; state: State } | { kind: 'none' } | Exclude<ReadState, { kind: 'state' }>

/**
 * Changes the state of a function beside its runs, by the same compare-and-swap: whoever was first stands, and the change
 * is made again on what they wrote. A change that changes nothing writes nothing.
 * @param change may be asked several times. @throws {StoreError} when it cannot be read or written.
 */
export async function changeState(store: Store, key: string, change: (state: State) => State): Promise<Changed> {
  for (let tries = 1; ; tries++) {
    const stored = await store.load(key)
    if (!stored) return { kind: 'none' }
    const read = readState(stored.text)
    if (read.kind !== 'state') return read
    const state = change(read.state)
    if (state === read.state) return { kind: 'changed', state }
    try {
      const saved = await store.save(key, writeState(state), stored.version)
      if (saved !== 'conflict') return { kind: 'changed', state }
      if (tries >= TRIES) throw new StoreError(`${key}: others kept writing`, false)
    } catch (error) {
      // The answer may be lost and the write made: the same change once more then changes nothing.
      if (!(error instanceof StoreError) || error.permanent || tries >= TRIES) throw error
    }
  }
}
