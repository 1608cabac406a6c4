import { type Listed, type Saved, type Store, type Stored, StoreError, type Version } from '../model/store.ts'

interface Held {
  text: string
  version: Version
  /** Epoch milliseconds of the last write. */
  at: number
}

/**
 * A store that lives as long as the object: for tests and the demo. Same meaning as the others.
 * @param now the store's own clock, epoch milliseconds; it stamps what `list` reports.
 */
export function createMemoryStore(now: () => number = Date.now): Store {
  const held = new Map<string, Held>()
  let writes = 0

  function write(key: string, text: string): Version {
    const version = String(++writes)
    held.set(key, { text, version, at: now() })
    return version
  }

  return {
    async load(key: string): Promise<Stored | undefined> {
      const found = held.get(checked(key))
      return found && { text: found.text, version: found.version }
    },
    async save(key: string, text: string, version: Version | undefined): Promise<Saved> {
      const found = held.get(checked(key))
      // Missing although a version is known: it was deleted meanwhile, so it is created again.
      if (found && found.version !== version) return 'conflict'
      return { version: write(key, text) }
    },
    async put(key: string, text: string): Promise<void> {
      write(checked(key), text)
    },
    async list(prefix: string): Promise<Listed[]> {
      return [...held]
        .filter(([key]) => key.startsWith(prefix))
        .map(([key, { at, text }]) => ({ key, at, size: Buffer.byteLength(text) }))
        .sort((a, b) => (a.key < b.key ? -1 : 1))
    },
    warnings: () => [],
  }
}

function checked(key: string): string {
  if (key === '') throw new StoreError('a state key may not be empty', true)
  return key
}
