import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { StoreError } from '../../src/model/store.ts'
import { openFileStore } from '../../src/store/file.ts'

const KEY = 'vllm.json'
const LOCK = `.${KEY}.lock`

let dir: string
let children: ChildProcess[] = []

beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'queuebell-file-'))
})
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL')
  children = []
  await rm(dir, { recursive: true })
})

/** Another process: see `file-writer.ts`. */
function startWriter(times: number | 'hold') {
  const script = path.join(import.meta.dirname, 'file-writer.ts')
  const child = spawn(process.execPath, ['--import', 'tsx', script, dir, KEY, String(times)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  const writer = { child, taken: 0, ended: once(child, 'exit') }
  child.stdout.on('data', (dots: Buffer) => {
    writer.taken += dots.length
  })
  return writer
}

const count = async () => JSON.parse(await readFile(path.join(dir, KEY), 'utf8')).count
const hidden = async () => (await readdir(dir)).filter((name) => name.startsWith('.'))

describe('several processes', () => {
  test('100 increments by 4 processes lose none and leave nothing behind', async () => {
    const writers = [25, 25, 25, 25].map(startWriter)
    await Promise.all(writers.map(({ ended }) => ended))
    expect(await count()).toBe(100)
    expect(await hidden()).toEqual([])
  })

  test('processes that are killed at any moment lose no increment, block nobody and leave no half file', async () => {
    const kills = 12
    const writers = [startWriter(1e6), startWriter(1e6)]
    const taken = () => writers.reduce((sum, writer) => sum + writer.taken, 0)
    for (let n = 0; n < kills; n++) {
      const from = taken()
      // Every fresh start has to get through what the killed one left; `count` throws on a half file.
      await vi.waitFor(async () => expect(taken()).toBeGreaterThan(from + 2 + (n % 3)), {
        timeout: 14_000,
        interval: 3,
      })
      expect(await count()).toBeGreaterThan(0)
      const victim = writers[n]
      victim?.child.kill('SIGKILL')
      writers.push(startWriter(1e6))
      await victim?.ended
    }
    for (const { child } of writers) child.kill('SIGKILL')
    await Promise.all(writers.map(({ ended }) => ended))
    // A killed process may have written one more than it could tell.
    expect(await count()).toBeGreaterThanOrEqual(taken())
    expect(await count()).toBeLessThanOrEqual(taken() + writers.length)
  }, 120_000)

  test('the lock of a killed process is taken over at once', async () => {
    const holder = startWriter('hold')
    await vi.waitFor(() => expect(holder.taken).toBe(1), { timeout: 8_000 })
    holder.child.kill('SIGKILL')
    await holder.ended
    expect(await hidden()).toEqual([LOCK])
    const from = performance.now()
    expect(await openFileStore(dir).save(KEY, 'new', undefined)).not.toBe('conflict')
    expect(performance.now() - from).toBeLessThan(2_000)
    expect(await hidden()).toEqual([])
  })

  test('the lock of a living process is waited for', async () => {
    const holder = startWriter('hold')
    await vi.waitFor(() => expect(holder.taken).toBe(1), { timeout: 8_000 })
    let saved = false
    const saving = openFileStore(dir)
      .save(KEY, 'new', undefined)
      .then(() => {
        saved = true
      })
    await vi.waitFor(async () => expect((await hidden()).some((name) => name.endsWith('.tmp'))).toBe(true))
    expect(saved).toBe(false)
    holder.child.kill('SIGKILL')
    await saving
    expect(await readFile(path.join(dir, KEY), 'utf8')).toBe('new')
  })
})

describe('locks whose process cannot be asked', () => {
  const elsewhere = JSON.stringify({ token: 'a', pid: 1, host: 'another machine' })
  const long = new Date(Date.now() - 60_000)

  test.each([
    ['of another machine', elsewhere, long],
    ['without content: killed while it was made', '', long],
    ['dated in the future', elsewhere, new Date(Date.now() + 60_000)],
  ])('%s: taken over when it is old', async (_, content, time) => {
    await writeFile(path.join(dir, LOCK), content)
    await utimes(path.join(dir, LOCK), time, time)
    expect(await openFileStore(dir).save(KEY, 'new', undefined)).not.toBe('conflict')
    expect(await hidden()).toEqual([])
  })

  test('whoever took over was killed as well: taken over from both', async () => {
    const second = JSON.stringify({ token: 'b', pid: 2, host: 'another machine' })
    for (const [name, content] of [
      [LOCK, elsewhere],
      [`${LOCK}.a`, second],
    ] as const) {
      await writeFile(path.join(dir, name), content)
      await utimes(path.join(dir, name), long, long)
    }
    expect(await openFileStore(dir).save(KEY, 'new', undefined)).not.toBe('conflict')
    expect(await hidden()).toEqual([])
  })

  test('young: nobody touches it', async () => {
    await writeFile(path.join(dir, LOCK), elsewhere)
    const saving = openFileStore(dir).save(KEY, 'new', undefined)
    await vi.waitFor(async () => expect((await hidden()).some((name) => name.endsWith('.tmp'))).toBe(true))
    expect(await readFile(path.join(dir, LOCK), 'utf8')).toBe(elsewhere)
    await rm(path.join(dir, LOCK))
    expect(await saving).not.toBe('conflict')
  })
})

describe('a person at the files', () => {
  test('an edit since the state was read is a conflict, not lost', async () => {
    const store = openFileStore(dir)
    const saved = await store.save(KEY, 'old', undefined)
    await writeFile(path.join(dir, KEY), 'edited')
    expect(await store.save(KEY, 'new', saved === 'conflict' ? undefined : saved.version)).toBe('conflict')
    expect(await store.load(KEY)).toMatchObject({ text: 'edited' })
  })

  test('the state file has the name of its function, below STATE_DIR, which is made when it is missing', async () => {
    await openFileStore(path.join(dir, 'made', 'here')).save(KEY, 'text', undefined)
    expect(await readFile(path.join(dir, 'made', 'here', KEY), 'utf8')).toBe('text')
  })

  test('what killed processes left is swept away after an hour, what is young is not', async () => {
    const old = new Date(Date.now() - 2 * 3_600_000)
    for (const name of [`.${KEY}.1.tmp`, `${LOCK}.a`, '.profile']) {
      await writeFile(path.join(dir, name), '')
      await utimes(path.join(dir, name), old, old)
    }
    await writeFile(path.join(dir, `.${KEY}.2.tmp`), '')
    await openFileStore(dir).save(KEY, 'new', undefined)
    expect((await hidden()).sort()).toEqual(['.profile', `.${KEY}.2.tmp`])
  })

  test('temporary files and locks are not listed', async () => {
    await writeFile(path.join(dir, `.${KEY}.1.tmp`), '')
    await writeFile(path.join(dir, KEY), '')
    expect((await openFileStore(dir).list('')).map(({ key }) => key)).toEqual([KEY])
  })
})

describe('errors name STATE_DIR and what to do', () => {
  const failure = async (work: Promise<unknown>) => {
    const error = await work.catch((e: unknown) => e)
    if (!(error instanceof StoreError)) throw new Error(`expected a StoreError, got ${error}`)
    return error
  }

  test('a file where the folder should be', async () => {
    await writeFile(path.join(dir, 'taken'), '')
    for (const place of ['taken', 'taken/below']) {
      const error = await failure(openFileStore(path.join(dir, place)).save(KEY, 'x', undefined))
      expect(error.permanent).toBe(true)
      expect(error.message).toMatch(/cannot write vllm\.json in STATE_DIR .*taken.*(EEXIST|ENOTDIR).*folder/)
    }
  })

  test('a folder where the state file should be', async () => {
    await mkdir(path.join(dir, KEY))
    expect((await failure(openFileStore(dir).load(KEY))).message).toMatch(/cannot read vllm\.json.*EISDIR/)
  })

  test.skipIf(process.getuid?.() === 0)('a folder that may not be written', async () => {
    await chmod(dir, 0o500)
    const error = await failure(openFileStore(dir).save(KEY, 'x', undefined))
    await chmod(dir, 0o700)
    expect(error).toMatchObject({ permanent: true, message: expect.stringMatching(/EACCES.*STATE_DIR/) })
  })

  test('a key that would leave the folder', async () => {
    for (const key of ['../vllm.json', '/etc/vllm.json', 'a/../../b', '.lock', 'a\0b', ''])
      expect((await failure(openFileStore(dir).save(key, 'x', undefined))).message).toMatch(/name of a state file/)
  })
})
