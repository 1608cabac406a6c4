import { expect, test } from 'vitest'
import { prefixOf } from '../../src/model/backend.ts'
import type { Endpoint } from '../../src/model/config.ts'
import { configOf, playRuns } from '../playing.ts'
import { EDGE_STORIES } from './edges.ts'
import { FAULT_STORIES } from './faults.ts'
import { HARDWARE_STORIES } from './hardware.ts'
import { MODEL_STORIES } from './models.ts'
import { OTHER_STORIES } from './others.ts'
import { REPORTED_STORIES } from './reported.ts'
import { SERVER_STORIES } from './servers.ts'
import { SPEED_STORIES } from './speed.ts'
import { STANDSTILL_STORIES } from './standstill.ts'
import type { Served, Story } from './story.ts'
import { VLLM_STORIES } from './vllm.ts'
import { WIDENED_STORIES } from './widened.ts'

const STORIES = [
  ...VLLM_STORIES,
  ...OTHER_STORIES,
  ...SERVER_STORIES,
  ...HARDWARE_STORIES,
  ...EDGE_STORIES,
  ...FAULT_STORIES,
  ...STANDSTILL_STORIES,
  ...SPEED_STORIES,
  ...WIDENED_STORIES,
  ...MODEL_STORIES,
  ...REPORTED_STORIES,
]

for (const story of STORIES) {
  test(`${story.backend}: ${story.name}`, () => {
    expect(pushesOf(story)).toEqual(story.pushes)
  })
}

/** Minute, reason and the most urgent rule of each push. */
function pushesOf(story: Story): [number, string, string][] {
  const names = story.endpoints ?? ['a']
  const endpoints = names.map((name) => `${name}=http://127.0.0.1:9009/${name}`).join(' ')
  const config = configOf(story.backend, { [`${prefixOf(story.backend)}_ENDPOINTS`]: endpoints, ...story.env })
  const runs = story.runs.map(({ minute, served }) => ({ at: minute * 60_000, seen: servedBy(served) }))
  return playRuns(config, runs).flatMap(({ groups }, index) =>
    groups.flatMap((notifications) => {
      const first = [...notifications].sort((a, b) => b.priority - a.priority)[0]
      return first ? [[story.runs[index]?.minute ?? 0, first.reason, first.rule] as [number, string, string]] : []
    }),
  )
}

function servedBy(served: Story['runs'][number]['served']): (endpoint: Endpoint) => Served {
  if (typeof served === 'string' || 'status' in served) return () => served as Served
  return ({ name }) => served[name] ?? 'refused'
}
