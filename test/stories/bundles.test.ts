import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { prefixOf } from '../../src/backends/backend.ts'
import type { RunResult } from '../../src/result.ts'
import { HARDWARE_STORIES } from './hardware.ts'
import { OTHER_STORIES } from './others.ts'
import type { Story } from './story.ts'
import { VLLM_STORIES } from './vllm.ts'

const STORIES = [...VLLM_STORIES, ...OTHER_STORIES, ...HARDWARE_STORIES]
const START = Date.UTC(2026, 5, 1)
const PLAYER = resolve('test/stories/player.mjs')

let dist: string

beforeAll(() => {
  dist = mkdtempSync(join(tmpdir(), 'queuebell-dist-'))
  const built = spawnSync('node', ['esbuild.config.mjs', `--outdir=${dist}`], { encoding: 'utf8' })
  if (built.status !== 0) throw new Error(`the build failed:\n${built.stdout}\n${built.stderr}`)
}, 60_000)

afterAll(() => rmSync(dist, { recursive: true, force: true }))

interface Played {
  pushes: { minute: number; title: string; message: string; priority: number }[]
  results: (RunResult & { error?: string })[]
}

/** Plays the runs of a story in one process of its own. */
async function play(story: Story, stateDir: string, runs = story.runs): Promise<Played> {
  const endpoints = story.endpoints ?? ['a']
  const child = spawn('node', [PLAYER], { env: { PATH: process.env.PATH }, stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin.end(
    JSON.stringify({
      bundle: join(dist, `${story.backend}.mjs`),
      variable: `${prefixOf(story.backend)}_ENDPOINTS`,
      endpoints,
      start: START,
      env: { STATE_DIR: stateDir, ...story.env },
      runs: runs.map(({ minute, served }) => ({
        minute,
        served:
          typeof served === 'string' || 'status' in served
            ? Object.fromEntries(endpoints.map((e) => [e, served]))
            : served,
      })),
    }),
  )
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  try {
    return JSON.parse(out)
  } catch {
    throw new Error(`the player said: ${out}\n${errors}`)
  }
}

/** What a person's phone tells apart: minute, and whether it is an end. */
function heard({ pushes }: Played): [number, boolean][] {
  return pushes.map(({ minute, priority }) => [minute, priority === 4])
}

function expected(story: Story): [number, boolean][] {
  return story.pushes.map(([minute, reason]) => [minute, reason === 'resolved'])
}

describe('through the bundles alone', () => {
  for (const backend of new Set(STORIES.map((s) => s.backend))) {
    test(`every story of ${backend}`, { timeout: 120_000 }, async () => {
      for (const story of STORIES.filter((s) => s.backend === backend)) {
        const stateDir = mkdtempSync(join(tmpdir(), 'queuebell-state-'))
        const played = await play(story, stateDir)
        rmSync(stateDir, { recursive: true })
        expect({ story: story.name, errors: played.results.filter((r) => r.error) }).toEqual({
          story: story.name,
          errors: [],
        })
        expect({ story: story.name, heard: heard(played) }).toEqual({ story: story.name, heard: expected(story) })
      }
    })
  }

  test('case 87: a restart of the process between runs changes nothing', { timeout: 60_000 }, async () => {
    const story = STORIES.find((s) => s.name.startsWith('waiting: 21'))
    if (!story) throw new Error('no such story')
    const stateDir = mkdtempSync(join(tmpdir(), 'queuebell-state-'))
    const pushes: Played['pushes'] = []
    for (const run of story.runs) pushes.push(...(await play(story, stateDir, [run])).pushes)
    rmSync(stateDir, { recursive: true })
    expect(heard({ pushes, results: [] })).toEqual(expected(story))
  })

  test('what is wrong with the environment is one error that names each variable and shows no secret', async () => {
    const story: Story = {
      name: 'misconfigured',
      backend: 'vllm',
      env: {
        VLLM_ENDPOINTS: 'chat',
        VLLM_WAITNG_LIMIT: '5',
        VLLM_KV_CACHE_LIMIT: '90',
        NOTIFLY_URL: 'nonsense',
        NOTIFLY_TOKEN: 'S3CRET',
      },
      runs: [{ minute: 0, served: '' }],
      pushes: [],
    }
    const { results } = await play(story, tmpdir())
    const error = results[0]?.error ?? ''
    for (const part of [
      '4 problems',
      'VLLM_WAITNG_LIMIT',
      'VLLM_WAITING_LIMIT?',
      'VLLM_KV_CACHE_LIMIT',
      '90%',
      'VLLM_ENDPOINTS',
      'NOTIFLY_URL',
    ]) {
      expect(error).toContain(part)
    }
    expect(error).not.toContain('S3CRET')
  })
})
