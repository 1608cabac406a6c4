import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hashOf } from '../tools/build/loader.ts'
import { type Bundles, build, buildBundles } from './bundles.ts'

/*
 * A run of `heartbeat-check`, which asks nobody, from a folder of its own: what it answers and does, and what its log says
 * of the cache.
 */
let built: Bundles
let cache: string
beforeAll(() => {
  built = buildBundles([process.execPath], ['heartbeat-check'])
  cache = readdirSync(built.dist).find((file) => file.endsWith('.cache')) ?? ''
}, 120_000)
afterAll(() => rmSync(built.root, { recursive: true, force: true }))

const FILES = ['heartbeat-check.mjs', 'heartbeat-check.cjs'] as const

function runWith(name: string, change: (folder: string, bytes: Buffer) => void, flags: readonly string[] = []) {
  const folder = join(built.root, name)
  mkdirSync(folder)
  for (const file of FILES) writeFileSync(join(folder, file), readFileSync(join(built.dist, file)))
  change(folder, readFileSync(join(built.dist, cache)))
  const state = join(built.root, `${name}-state`)
  const script = `const { handler } = await import(${JSON.stringify(join(folder, FILES[0]))})
    const { body } = await handler({ time: '2026-12-01T12:00:00Z' }, {})
    const { outcome, backend, endpoints } = JSON.parse(body)
    console.log('ANSWER' + JSON.stringify({ outcome, backend, endpoints: endpoints.map(({ name }) => name) }))`
  const { stdout, stderr, status } = spawnSync(process.execPath, [...flags, '--input-type=module', '-e', script], {
    encoding: 'utf8',
    env: { HEARTBEAT_WORKERS: 'indexer=60s+30s', STATE_DIR: state, LOG_LEVEL: 'debug' },
  })
  expect([status, stderr.replace(/^\{.*\}$/gm, '').trim()]).toEqual([0, ''])
  const line = `${stdout}\n${stderr}`.split('\n').find((line) => line.includes('"code cache"'))
  return {
    answer: JSON.parse(/ANSWER(.*)/.exec(stdout)?.[1] ?? '') as unknown,
    is: line && (JSON.parse(line) as { is: string }).is,
    state: existsSync(join(state, 'heartbeat-check.json')),
  }
}

const put = (folder: string, bytes: Buffer) => writeFileSync(join(folder, cache), bytes)
const HASHES = 64

test.each<[string, string, (folder: string, bytes: Buffer) => void, string[]?]>([
  ['its own cache', 'used', put],
  ["its own cache under the flag of AWS's client", 'used', put, ['--expose-gc']],
  ['no cache', 'none for this V8', () => {}],
  [
    'the cache of another V8 alone',
    'none for this V8',
    (folder, bytes) => {
      put(folder, bytes)
      rename(folder)
    },
  ],
  [
    'a cache that another V8 made under this name',
    'refused by V8',
    (folder, bytes) =>
      put(
        folder,
        resealed(bytes, (cached) => cached.fill(7, 4, 8)),
      ),
  ],
  ['a cache that was cut', 'broken', (folder, bytes) => put(folder, bytes.subarray(0, bytes.length / 2))],
  ['a cache that was cut to nothing', 'of another build', (folder) => put(folder, Buffer.alloc(0))],
  [
    'a cache with one bit turned',
    'broken',
    (folder, bytes) => {
      bytes.writeUInt8(bytes.readUInt8(HASHES + 5_000) ^ 1, HASHES + 5_000)
      put(folder, bytes)
    },
  ],
  [
    'the cache of another build of the same length',
    'of another build',
    (folder, bytes) => {
      const file = join(folder, FILES[1])
      writeFileSync(file, readFileSync(file, 'utf8').replace('"use strict"', '"use Strict"'))
      put(folder, bytes)
    },
  ],
  [
    'a folder that cannot be written',
    'used',
    (folder, bytes) => {
      put(folder, bytes)
      chmodSync(folder, 0o555)
    },
  ],
])('with %s a run does the same, and its log says: %s', (name, is, change, flags) => {
  expect(runWith(name.replaceAll(/\W+/g, '-'), change, flags)).toEqual({
    answer: { outcome: 'completed', backend: 'heartbeat-check', endpoints: ['indexer'] },
    is,
    state: true,
  })
})

function rename(folder: string): void {
  const file = join(folder, cache)
  writeFileSync(file.replace(process.versions.v8, '1.2.3'), readFileSync(file))
  rmSync(file)
}

/** Another payload with its own hash before it. */
function resealed(bytes: Buffer, change: (cached: Buffer) => void): Buffer {
  const cached = Buffer.from(bytes.subarray(HASHES))
  change(cached)
  return Buffer.concat([bytes.subarray(0, HASHES / 2), hashOf(cached), cached])
}

test('two builds without a cache are the same, byte by byte', { timeout: 120_000, tags: ['long'] }, () => {
  const [one, other] = [buildBundles(), build()]
  try {
    const texts = ({ dist }: Bundles) =>
      readdirSync(dist).map((file) => [file, hashOf(readFileSync(join(dist, file))).toString('hex')])
    expect(texts(one)).toEqual(texts(other))
  } finally {
    for (const { root } of [one, other]) rmSync(root, { recursive: true, force: true })
  }
})
