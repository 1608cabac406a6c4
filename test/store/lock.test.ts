import { existsSync } from 'node:fs'
import { mkdtemp, rm, unlink, utimes, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { withLock } from '../../src/store/lock.ts'

/** What another process does between two steps of ours: run after the next look at the age of a lock. */
const between = vi.hoisted(() => ({ afterStat: undefined as (() => Promise<void>) | undefined }))

vi.mock('node:fs/promises', async (original) => {
  const fs = await original<typeof import('node:fs/promises')>()
  const stat = async (file: string) => {
    const found = await fs.stat(file)
    const meanwhile = between.afterStat
    between.afterStat = undefined
    await meanwhile?.()
    return found
  }
  return { ...fs, stat }
})

let dir: string
let lock: string
beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'queuebell-lock-'))
  lock = path.join(dir, '.vllm.json.lock')
})
afterEach(() => rm(dir, { recursive: true }))

async function plantStale(token: string): Promise<void> {
  await writeFile(lock, JSON.stringify({ token, pid: 1, host: 'another machine' }))
  await utimes(lock, 1, 1)
}

test('a stale lock that another process takes over and releases while we look: we do not hold a link of its chain', async () => {
  await plantStale('a')
  between.afterStat = () => unlink(lock) // our link `<lock>.a` will be made, but no chain leads to it any more
  await withLock(lock, async () => {
    expect(existsSync(lock)).toBe(true)
    expect(existsSync(`${lock}.a`)).toBe(false)
  })
})

test('a holder that finds its lock taken over says so, and leaves the lock of the other alone', async () => {
  await withLock(lock, async (stillHeld) => {
    expect(await stillHeld()).toBe(true)
    await plantStale('other')
    expect(await stillHeld()).toBe(false)
  })
  expect(existsSync(lock)).toBe(true)
})

test('a holder that was frozen does not trust its lock any more', async () => {
  await withLock(lock, async (stillHeld) => {
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 6_000)
    expect(await stillHeld()).toBe(false)
    vi.restoreAllMocks()
  })
})

test('work that fails gives its lock back', async () => {
  await expect(withLock(lock, () => Promise.reject(new Error('work')))).rejects.toThrow('work')
  expect(existsSync(lock)).toBe(false)
})
