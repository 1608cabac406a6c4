import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { prefixOf } from '../../src/model/backend.ts'
import type { RunResult } from '../../src/model/result.ts'
import { type Bundles, buildBundles } from '../bundles.ts'
import { OLLAMA_STORIES } from './canary-ollama.ts'
import { OPENAI_STORIES } from './canary-openai.ts'
import { EDGE_STORIES } from './edges.ts'
import { HARDWARE_STORIES } from './hardware.ts'
import { HEARTBEAT_STORIES } from './heartbeat-workers.ts'
import { OTHER_STORIES } from './others.ts'
import type { BundleStory, Story } from './story.ts'
import { VLLM_STORIES } from './vllm.ts'

/** A story of days is told in one process alone. */
const LONGEST = 200
const STORIES = [...VLLM_STORIES, ...OTHER_STORIES, ...HARDWARE_STORIES, ...EDGE_STORIES].filter(
  (story) => story.runs.length <= LONGEST,
)
const BUNDLE_STORIES = [...OLLAMA_STORIES, ...OPENAI_STORIES, ...HEARTBEAT_STORIES]
const START = Date.UTC(2026, 5, 1)
const PLAYER = resolve('test/stories/player.mjs')

let bundles: Bundles
let dist: string

beforeAll(() => {
  bundles = buildBundles()
  dist = bundles.dist
})

afterAll(() => rmSync(bundles.root, { recursive: true, force: true }))

interface Played {
  pushes: { minute: number; title: string; message: string; priority: number }[]
  results: (RunResult & { minute: number; error?: string })[]
  /** Requests at scripted servers. `left`: the client went before the answer was whole. */
  asked: { minute: number; route: string; id?: string; body: string; left: boolean }[]
}

/** Plays the runs of a story in one process of its own. */
function play(story: Story, stateDir: string, runs = story.runs): Promise<Played> {
  const endpoints = story.endpoints ?? ['a']
  const served = (what: Story['runs'][number]['served']) =>
    typeof what === 'string' || 'status' in what ? Object.fromEntries(endpoints.map((e) => [e, what])) : what
  return inProcess(story, stateDir, {
    endpoints,
    runs: runs.map((run) => ({ minute: run.minute, served: served(run.served) })),
  })
}

/** The same for a story of scripted servers or of workers. */
function playScripted(story: BundleStory, stateDir: string): Promise<Played> {
  const isCanary = story.backend !== 'heartbeat-check'
  return inProcess(story, stateDir, {
    endpoints: isCanary ? ['a'] : [],
    ...(isCanary ? {} : { receiver: join(dist, 'heartbeat-receive.mjs') }),
    remaining: story.remaining,
    runs: story.runs.map(({ minute, routes, beats }) => ({ minute, served: { a: { routes } }, beats })),
  })
}

async function inProcess(story: Pick<Story, 'backend' | 'env'>, stateDir: string, script: object): Promise<Played> {
  const child = spawn('node', [PLAYER], { env: { PATH: process.env.PATH }, stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin.end(
    JSON.stringify({
      ...script,
      bundle: join(dist, `${story.backend}.mjs`),
      variable: `${prefixOf(story.backend)}_ENDPOINTS`,
      start: START,
      env: { STATE_DIR: stateDir, ...story.env },
    }),
  )
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  try {
    // The bundle may have logged before.
    return JSON.parse(out.trimEnd().split('\n').at(-1) ?? '')
  } catch {
    throw new Error(`the player said: ${out}\n${errors}`)
  }
}

/** What a person's phone tells apart: minute, and whether it is an end. */
function heard({ pushes }: Pick<Played, 'pushes'>): [number, boolean][] {
  return pushes.map(({ minute, priority }) => [minute, priority === 4])
}

function expected(story: Pick<Story, 'pushes'>): [number, boolean][] {
  return story.pushes.map(([minute, reason]) => [minute, reason === 'resolved'])
}

/** The rules that fire at the minute of each push that begins something. */
function firing({ results }: Played, story: BundleStory): (readonly [number, string[]])[] {
  return story.pushes
    .filter(([, reason]) => reason === 'fired')
    .map(([at]) => {
      const alerts = results.find(({ minute }) => minute === at)?.endpoints[0]?.alerts ?? {}
      return [at, Object.entries(alerts).flatMap(([rule, phase]) => (phase === 'firing' ? [rule] : []))] as const
    })
}

function counted({ asked }: Played, requests: Readonly<Record<string, number>>): Record<string, number> {
  const count = (name: string) =>
    asked.filter(({ route, left }) => (name === 'left before the answer' ? left : route === name)).length
  return Object.fromEntries(Object.keys(requests).map((name) => [name, count(name)]))
}

describe('through the bundles alone', () => {
  for (const backend of new Set(STORIES.map((s) => s.backend))) {
    test(`every story of ${backend}`, { timeout: 120_000, tags: 'long' }, async () => {
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

  for (const story of BUNDLE_STORIES) {
    test(`${story.backend}: ${story.name}`, { timeout: 30_000, tags: 'long' }, async () => {
      const stateDir = mkdtempSync(join(tmpdir(), 'queuebell-state-'))
      const played = await playScripted(story, stateDir)
      rmSync(stateDir, { recursive: true })
      expect(played.results.filter((result) => result.error)).toEqual([])
      expect(heard(played)).toEqual(expected(story))
      expect(firing(played, story)).toEqual(
        story.pushes.filter(([, reason]) => reason === 'fired').map(([minute, , rule]) => [minute, [rule]]),
      )
      const requests = story.requests ?? {}
      expect(counted(played, requests)).toEqual(requests)
      const [first] = played.pushes
      for (const words of story.says ?? []) expect(`${first?.title}\n${first?.message}`).toContain(words)
      // An id in a message is worth something only if the server's own log has it.
      const ids = played.pushes.flatMap(({ message }) => /X-Request-Id: (\S+)/.exec(message)?.[1] ?? [])
      for (const id of ids) expect(played.asked.map((request) => request.id)).toContain(id)
    })
  }

  test('case 87: a restart of the process between runs changes nothing', {
    timeout: 60_000,
    tags: ['long'],
  }, async () => {
    const story = STORIES.find((s) => s.name.startsWith('waiting: 21'))
    if (!story) throw new Error('no such story')
    const stateDir = mkdtempSync(join(tmpdir(), 'queuebell-state-'))
    const pushes: Played['pushes'] = []
    for (const run of story.runs) pushes.push(...(await play(story, stateDir, [run])).pushes)
    rmSync(stateDir, { recursive: true })
    expect(heard({ pushes })).toEqual(expected(story))
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
