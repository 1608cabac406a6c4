import { randomUUID } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { link, readFile, stat, unlink, writeFile } from 'node:fs/promises'
import os from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { StoreError } from '../model/store.ts'

/** Milliseconds. A lock is held for a few of them; one this old was left behind by a process that died or froze. */
const STALE_AFTER = 10_000
/** A holder that was frozen this long no longer trusts its lock: well before others may take it over. */
const TRUSTED_FOR = 5_000
const GIVE_UP_AFTER = 15_000

/** What a lock file says: enough for others to see whether its process is still alive. */
interface Owner {
  token: string
  pid: number
  /** Host, boot and process-id namespace: only inside one of them does a process id mean something. */
  host: string
}

/**
 * Runs `work` while no other process is inside the same lock. A lock whose process was killed is taken over: at once
 * when that can be seen, else after 10 s.
 *
 * Taking over by "delete the old lock, make a new one" is a race between those who wait. Here a stale lock stays, and
 * whoever wants its place must be the first to create `<lock>.<token of the stale lock>`; that name can be won only once. The
 * winner may itself be killed: then its token names the next place. So the lock is a chain, and its last link holds.
 * @param work gets a question to ask just before the step that cannot be undone: is the lock still ours?
 * @throws {StoreError} when others held it for 15 s.
 */
export async function withLock<T>(lock: string, work: (stillHeld: () => Promise<boolean>) => Promise<T>): Promise<T> {
  const me: Owner = { token: randomUUID(), pid: process.pid, host: HOST }
  const deadline = Date.now() + GIVE_UP_AFTER
  for (let wait = 1; ; wait = Math.min(wait * 2, 50)) {
    const since = Date.now()
    const chain = await tryToHold(lock, me)
    if (chain) {
      const stillHeld = async () =>
        Math.abs(Date.now() - since) < TRUSTED_FOR && (await ownerOf(chain.at(-1) ?? lock))?.token === me.token
      return await work(stillHeld).finally(() => release(chain, me))
    }
    if (Date.now() > deadline) throw new StoreError(`state: ${lock} is held by another run for too long`, false)
    await sleep(wait * (0.5 + Math.random()))
  }
}

/** @returns the names of the chain from the lock to our own link, or `undefined` when somebody else holds it. */
async function tryToHold(lock: string, me: Owner): Promise<string[] | undefined> {
  const chain: string[] = []
  const stale: Owner[] = []
  for (let name = lock; ; ) {
    chain.push(name)
    if (await create(name, me)) break
    const owner = await ownerOf(name)
    if (!owner || !(await isStale(name, owner))) return undefined
    stale.push(owner)
    name = `${lock}.${owner.token}`
  }
  // The whole chain may have been released between our looking at its head and our link at its end. A release begins
  // at the head, so a head that is still there means that the chain is.
  const head = stale[0]
  if (head && (await ownerOf(lock))?.token !== head.token) {
    await unlink(chain.at(-1) ?? lock).catch(() => {})
    return undefined
  }
  return chain
}

/** Head first: see `tryToHold`. */
async function release(chain: string[], me: Owner): Promise<void> {
  if ((await ownerOf(chain.at(-1) ?? ''))?.token !== me.token) return // taken over while we were frozen
  for (const name of chain) await unlink(name).catch(() => {})
}

/**
 * A link to a file that is complete: a lock never appears without its owner, whenever its process is killed.
 * @returns false when somebody else has that name.
 */
async function create(name: string, me: Owner): Promise<boolean> {
  const complete = `${name}.${me.token}.tmp`
  try {
    await writeFile(complete, JSON.stringify(me), { mode: 0o600 })
    await link(complete, name).catch((error: unknown) => {
      if (!NO_LINKS.includes(codeOf(error))) throw error
      return writeFile(name, JSON.stringify(me), { flag: 'wx', mode: 0o600 })
    })
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  } finally {
    await unlink(complete).catch(() => {})
  }
}

/** File systems without hard links: FAT, some network shares. */
const NO_LINKS: (string | undefined)[] = ['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK']

/** The system's word for what went wrong: `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** @returns `undefined` when there is no lock. One without readable content (its process was killed while writing it) uses its inode as token. */
async function ownerOf(name: string): Promise<Owner | undefined> {
  try {
    const text = await readFile(name, 'utf8')
    try {
      const { token, pid, host } = JSON.parse(text)
      if (typeof token === 'string' && typeof pid === 'number' && typeof host === 'string') return { token, pid, host }
    } catch {}
    const { ino, mtimeMs } = await stat(name)
    return { token: `${ino}-${Math.floor(mtimeMs)}`, pid: 0, host: '' }
  } catch {
    return undefined
  }
}

async function isStale(name: string, owner: Owner): Promise<boolean> {
  if (owner.host === HOST && !isAlive(owner.pid)) return true
  const found = await stat(name).catch(() => undefined)
  // A time in the future (the clock was set back) counts as stale, like one long past.
  return found !== undefined && Math.abs(Date.now() - found.mtimeMs) > STALE_AFTER
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

const HOST = [os.hostname(), quietly(bootId), quietly(pidNamespace)].join('|')

function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
}

function pidNamespace(): string {
  return readlinkSync('/proc/self/ns/pid')
}

/** Only Linux has these; elsewhere the host's name has to do. */
function quietly(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}
