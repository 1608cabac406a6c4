/** Compare-and-swap token of one object: an ETag, a hash of a file. Opaque. */
export type Version = string

export interface Stored {
  text: string
  version: Version
}

/** `conflict`: another run wrote since `version` (or created the object first). A result, not an exception. */
export type Saved = { version: Version } | 'conflict'

/** A beat object as the store lists it: `at` is the store's own time, epoch milliseconds. */
export interface Listed {
  key: string
  at: number
  /** Bytes, where the store's list says so. */
  size?: number
}

/** Where state lies: a file, S3 or memory. Keys are paths below the store's own prefix, `vllm.json`, `beats/indexer.json`. */
export interface Store {
  /** @returns `undefined` when there is no such object. @throws {StoreError} when it cannot be read. */
  load(key: string): Promise<Stored | undefined>
  /**
   * Writes only if the object is still at `version`; with `undefined`, only if it does not exist.
   * An object that was deleted meanwhile is created anew. @throws {StoreError} when the store refuses or does not answer.
   */
  save(key: string, text: string, version: Version | undefined): Promise<Saved>
  /** Writes without a condition: broken state put aside, beats. */
  put(key: string, text: string): Promise<void>
  list(prefix: string): Promise<Listed[]>
  /** What is odd about this store, found while using it, each told once: "ignores If-Match: duplicates are possible". */
  warnings(): string[]
}

/** The store did not do what was asked. The message says what, on which object, and what to do; it shows no secret. */
export class StoreError extends Error {
  override name = 'StoreError'
  constructor(
    message: string,
    /** Our own set-up is wrong (permissions, bucket name, clock): trying again does not help. */
    readonly permanent: boolean,
    options: { cause?: unknown } = {},
  ) {
    super(message, options)
  }
}
