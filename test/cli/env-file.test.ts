import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { envFileNotes, loadEnvFile } from '../../src/cli/env-file.ts'

const NAMES = ['NOTIFLY_TOKEN', 'VLLM_ENDPOINTS'] as const
let file: string

beforeEach(async () => {
  file = path.join(await mkdtemp(path.join(os.tmpdir(), 'queuebell-env-')), '.env')
  for (const name of NAMES) vi.stubEnv(name, undefined)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(path.dirname(file), { recursive: true })
})

const TEXT = 'NOTIFLY_TOKEN=one\r\nexport VLLM_ENDPOINTS="two\nlines" # why\r\n'

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
  vi.stubEnv('NOTIFLY_TOKEN', 'mine')
  expect(loadEnvFile(file)).toBeUndefined()
  await writeFile(file, TEXT)
  loadEnvFile(file)
  expect(process.env.NOTIFLY_TOKEN).toBe('mine')
})

test('a folder of that name, which a container makes of a missing file, is a problem', async () => {
  await mkdir(file)
  expect(loadEnvFile(file)).toBe(`${file} cannot be read (EISDIR): it must be a file that this user may read`)
})

describe('a line that does not say what it seems to', () => {
  test.each([
    ['VLLM_ENDPOINTS', 'line 1: is no NAME=value; a comment begins with #'],
    ['A\nNOTIFLY_URL=x', 'line 1: is no NAME=value'],
    ['NOTIFLY URL=https://push', 'line 1: is no NAME=value: what stands before = is no name'],
    ['=x', 'line 1: has no name before ='],
    ['2FAST=x', 'line 1: 2FAST is no name of a variable'],
    ['NOTIFLY_TOKEN="open', 'line 1: NOTIFLY_TOKEN opens a quotation mark (") that is not closed'],
    [
      '#\nNOTIFLY_TOKEN="open\nNOTIFLY_AUTH="bearer"',
      'line 2: NOTIFLY_TOKEN opens a quotation mark (") that is not closed',
    ],
    ['NOTIFY_URL=https://push', 'line 1: NOTIFY_URL: unknown setting, did you mean NOTIFLY_URL?'],
    ['ALERT_LANG=ru', 'line 1: ALERT_LANG: unknown setting, did you mean ALERT_LANGUAGE?'],
    ['\n\nVLLM_ENDPOINT=chat=http://h', 'line 3: VLLM_ENDPOINT: unknown setting, did you mean VLLM_ENDPOINTS?'],
    [
      'VLLM_ENDPOINTS=chat/a=http://h\nVLLM_CHAT_A_WAITING_LIMT=3',
      'line 2: VLLM_CHAT_A_WAITING_LIMT: unknown setting, did you mean VLLM_CHAT_A_WAITING_LIMIT?',
    ],
    [
      'VLLM_ENDPOINTS=chat/a=http://h\nVLLM_CHTA_MODEL=m',
      'line 2: VLLM_CHTA_MODEL: unknown setting, did you mean VLLM_CHAT_MODEL?',
    ],
    ['DEPLOY_REGON=eu-west-1', 'line 1: DEPLOY_REGON: unknown setting, did you mean DEPLOY_REGION?'],
    ['notifly_url=https://push', 'line 1: notifly_url: unknown setting, did you mean NOTIFLY_URL?'],
    ['POSTGRES_PASSWORD=x', 'line 1: POSTGRES_PASSWORD: no variable of Queuebell; take it out'],
  ])('%j is refused with its line', async (text, problem) => {
    await writeFile(file, text)
    expect(loadEnvFile(file)).toContain(problem)
    expect(NAMES.map((name) => process.env[name])).toEqual([undefined, undefined])
  })

  test.each([
    ['NOTIFLY_TOKEN=abc#def', 'line 1: NOTIFLY_TOKEN is cut off at #: a comment begins there'],
    ['NOTIFLY_TOKEN=#abc', 'line 1: NOTIFLY_TOKEN is empty: a comment begins there'],
    ['NOTIFLY_TOKEN="abc" def', 'line 1: NOTIFLY_TOKEN goes on behind its closing quotation mark'],
    ['NOTIFLY_TOKEN=a\nNOTIFLY_TOKEN=b', 'line 2: NOTIFLY_TOKEN is there twice: line 1 is not used'],
    [`#\nNOTIFLY_TOKEN='"abc"'`, 'line 2: NOTIFLY_TOKEN has quotation marks inside others; they were taken off'],
    ['NOTIFLY_TOKEN=“abc”', 'line 1: NOTIFLY_TOKEN has quotation marks'],
  ])('%j is a warning with its line', async (text, warning) => {
    await writeFile(file, text)
    const warnings: string[] = []
    expect(loadEnvFile(file, (line) => warnings.push(line))).toBeUndefined()
    expect(warnings.join()).toContain(`${file} ${warning}`)
    expect(process.env.NOTIFLY_TOKEN ?? '').not.toMatch(/["“]/)
  })

  test('all of them are told at once, and no value is', async () => {
    await writeFile(file, 'planted-4711\nNOTIFY_TOKEN=planted-4711\nNOTIFLY_TOKEN="planted-4711')
    expect(loadEnvFile(file)).toBe(
      `${file}: 3 problems\n  - line 1: is no NAME=value; a comment begins with #\n` +
        '  - line 2: NOTIFY_TOKEN: unknown setting, did you mean NOTIFLY_TOKEN?\n' +
        '  - line 3: NOTIFLY_TOKEN opens a quotation mark (") that is not closed',
    )
  })

  test('a blank before #, an empty value and what others own are right', async () => {
    const right = 'NOTIFLY_TOKEN=abc # mine\nPING_URL=\nOLLAMA_MODELS=/m\nVLLM_USE_V1=1\nAWS_REGION=x\nNODE_ENV=y\n'
    await writeFile(file, right)
    const warnings: string[] = []
    expect([loadEnvFile(file, (line) => warnings.push(line)), warnings]).toEqual([undefined, []])
  })

  test('quotation marks that only docker would keep are a note for doctor', async () => {
    await writeFile(file, '#\nVLLM_ENDPOINTS="chat=http://h"\nNOTIFLY_TOKEN="a # b"\n')
    expect(envFileNotes(file)).toEqual([
      `${file} line 2: VLLM_ENDPOINTS stands in quotation marks, which docker's --env-file would keep`,
    ])
  })
})
