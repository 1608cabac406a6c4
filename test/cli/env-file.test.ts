import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { loadEnvFile } from '../../src/cli/env-file.ts'

const NAMES = ['QUEUEBELL_FIRST', 'QUEUEBELL_SECOND'] as const
let file: string

beforeEach(async () => {
  file = path.join(await mkdtemp(path.join(os.tmpdir(), 'queuebell-env-')), '.env')
  for (const name of NAMES) vi.stubEnv(name, undefined)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(path.dirname(file), { recursive: true })
})

const TEXT = 'QUEUEBELL_FIRST=one\r\nexport QUEUEBELL_SECOND="two\nlines" # why\r\n'

test.each([
  ['plain', Buffer.from(TEXT)],
  ['with a byte order mark', Buffer.from(`\uFEFF${TEXT}`)],
  ['in UTF-16', Buffer.from(`\uFEFF${TEXT}`, 'utf16le')],
])('a file %s is read to its first name', async (_, bytes) => {
  await writeFile(file, bytes)
  expect(loadEnvFile(file)).toBeUndefined()
  expect(NAMES.map((name) => process.env[name])).toEqual(['one', 'two\nlines'])
})

test('what the environment has already is kept, and a missing file is none', async () => {
  vi.stubEnv('QUEUEBELL_FIRST', 'mine')
  expect(loadEnvFile(file)).toBeUndefined()
  await writeFile(file, TEXT)
  loadEnvFile(file)
  expect(process.env.QUEUEBELL_FIRST).toBe('mine')
})

test('a folder of that name, which a container makes of a missing file, is a problem', async () => {
  await mkdir(file)
  expect(loadEnvFile(file)).toBe(`${file} cannot be read (EISDIR): it must be a file that this user may read`)
})
