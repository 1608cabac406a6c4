import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, stat, unlink } from 'node:fs/promises'
import path from 'node:path'
import { type Listed, type Saved, type Store, type Stored, StoreError, type Version } from '../model/store.ts'
import { codeOf, withLock } from './lock.ts'

/** Milliseconds. */
const LEFTOVER_AFTER = 3_600_000

/**
 * State as files below `dir` (made on the first write), one per key. A version is a hash of the content, so a file
 * that a person edited, copied back or deleted is understood as well. Readers need no lock: a file is only ever
 * replaced whole, by a rename.
 * @param dir `STATE_DIR`; relative to the working directory.
 */
export function openFileStore(dir: string): Store {
  const told = <T>(what: string, work: () => Promise<T>) => explain(dir, what, work)
  let swept = false

  return {
    load: (key) => told(`read ${key}`, () => readStored(target(dir, key))),

    save: (key, text, version) =>
      told(`write ${key}`, async () => {
        const file = target(dir, key)
        if (!swept) await sweep(path.dirname(file))
        swept = true
        return compareAndSwap(file, text, version)
      }),

    put: (key, text) =>
      told(`write ${key}`, async () => {
        const file = target(dir, key)
        await commit(await writeBeside(file, text), file)
      }),

    list: (prefix) => told(`list ${prefix}`, () => listFiles(dir, prefix)),

    warnings: () => [],
  }
}

async function compareAndSwap(file: string, text: string, version: Version | undefined): Promise<Saved> {
  // The slow part, writing through to the disk, is done before the lock is taken: it is held for a few milliseconds.
  const temporary = await writeBeside(file, text)
  return withLock(lockOf(file), async (stillHeld): Promise<Saved> => {
    const stored = await readStored(file)
    if (stored && stored.version !== version) return 'conflict'
    if (!(await stillHeld())) return 'conflict' // this process was frozen; its lock was taken over
    await commit(temporary, file)
    return { version: hash(text) }
  }).finally(() => unlink(temporary).catch(() => {}))
}

async function readStored(file: string): Promise<Stored | undefined> {
  try {
    const bytes = await readFile(file)
    return { text: bytes.toString('utf8'), version: hash(bytes) }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** The temporary file lies beside its target: a rename is only atomic within one file system. */
async function writeBeside(file: string, text: string): Promise<string> {
  await mkdir(path.dirname(file), { recursive: true })
  const temporary = path.join(path.dirname(file), `.${path.basename(file)}.${randomUUID()}.tmp`)
  const handle = await open(temporary, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } catch (error) {
    await unlink(temporary).catch(() => {})
    throw error
  } finally {
    await handle.close()
  }
  return temporary
}

/** After a power cut the old file or the new one is there, never half of one. */
async function commit(temporary: string, file: string): Promise<void> {
  await rename(temporary, file)
  // Not every system can sync a folder; the rename is atomic without it.
  const folder = await open(path.dirname(file), 'r').catch(() => undefined)
  await folder?.sync().catch(() => {})
  await folder?.close()
}

/** Removes what killed processes left: temporary files and links of taken-over locks, an hour old. */
async function sweep(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => [])
  for (const name of names.filter((n) => /^\..+(\.tmp|\.lock\..+)$/.test(n))) {
    const file = path.join(folder, name)
    const found = await stat(file).catch(() => undefined)
    if (found && Date.now() - found.mtimeMs > LEFTOVER_AFTER) await unlink(file).catch(() => {})
  }
}

async function listFiles(dir: string, prefix: string): Promise<Listed[]> {
  const names = await readdir(dir, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  })
  const keys = names
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map((entry) => path.relative(dir, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
    .filter((key) => key.startsWith(prefix))
    .sort()
  const listed = await Promise.all(
    keys.map(async (key) => {
      const found = await stat(target(dir, key)).catch(() => undefined) // deleted since the folder was read
      return found && { key, at: Math.floor(found.mtimeMs), size: found.size }
    }),
  )
  return listed.filter((entry) => entry !== undefined)
}

/** @throws {StoreError} for a key that would leave the folder or meet our own temporary files. */
function target(dir: string, key: string): string {
  const parts = key.split('/')
  if (parts.some((part) => part === '' || part.startsWith('.') || part.includes('\\') || part.includes('\0')))
    throw new StoreError(`"${key}" cannot be the name of a state file`, true)
  return path.join(dir, ...parts)
}

function lockOf(file: string): string {
  return path.join(path.dirname(file), `.${path.basename(file)}.lock`)
}

function hash(content: string | Uint8Array): Version {
  return createHash('sha256').update(content).digest('hex')
}

const ADVICE: Record<string, string> = {
  EACCES: 'this user may not; change its owner or set STATE_DIR to a folder that it may write',
  EPERM: 'this user may not; change its owner or set STATE_DIR to a folder that it may write',
  EROFS: 'the disk is read-only; set STATE_DIR to a folder that can be written',
  ENOTDIR: 'a part of that path is a file; set STATE_DIR to a folder',
  EEXIST: 'a file has that name; set STATE_DIR to a folder',
  EISDIR: 'a folder has the name of the state file; remove it or set STATE_DIR to another folder',
  ENOENT: 'the folder vanished meanwhile',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
}
const PASSING = ['ENOENT', 'ENOSPC', 'EDQUOT', 'EIO', 'EMFILE', 'ENFILE', 'EBUSY']

async function explain<T>(dir: string, what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof StoreError) throw error
    const code = codeOf(error) ?? 'unknown error'
    const advice = ADVICE[code]
    const message = `state: cannot ${what} in STATE_DIR ${dir} (${code})${advice ? `: ${advice}` : ''}`
    throw new StoreError(message, !PASSING.includes(code), { cause: error })
  }
}
