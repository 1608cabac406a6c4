import { expect, test } from 'vitest'
import { prefixOf } from '../../src/model/backend.ts'
import { explain } from '../../src/rules/explain.ts'
import { configOf, playRuns } from '../playing.ts'
import { MODEL_STORIES } from './models.ts'
import { REPORTED_STORIES } from './reported.ts'
import { STANDSTILL_STORIES } from './standstill.ts'
import type { Served } from './story.ts'
import { WIDENED_STORIES } from './widened.ts'

/** Queues that do not move, and engines or models that are lost in the sum. */
const QUIET_FAULTS = /^case (200|202|203|205|207|208|217|414):/
/** Above the limit since this run. */
const NOW = /^(measured since \d\d:\d\d:00Z; )?fires now$/
const SINCE = /^(.*; )?pending since \d\d:\d\d:00Z, fires now$/
const STORIES = [...REPORTED_STORIES, ...STANDSTILL_STORIES, ...WIDENED_STORIES, ...MODEL_STORIES].filter(
  ({ name, pushes }) => QUIET_FAULTS.test(name) && pushes.length > 0,
)

test.each(STORIES.map((story) => [story.name, story] as const))(
  '--why says in one line what is measured, since when, and against which limit: %s',
  (_, { backend, env, runs, pushes }) => {
    const [minute, , rule] = pushes[0] ?? [0, 'fired', 'waiting']
    const config = configOf(backend, { [`${prefixOf(backend)}_ENDPOINTS`]: 'a=http://127.0.0.1:9009/a', ...env })
    const upToIt = runs.filter((run) => run.minute <= minute)
    const played = playRuns(
      config,
      upToIt.map((run) => ({ at: run.minute * 60_000, seen: () => run.served as Served })),
    )
    const decisions = played.at(-1)?.evaluation.decisions.map(({ decision }) => decision) ?? []
    const fired = decisions.filter((decision) => decision.rule.id === rule && decision.after === 'firing')
    expect(fired).toHaveLength(1)
    const [decision] = fired
    expect(decision && explain(decision)).toMatch(decision?.alert?.activeAt === played.at(-1)?.now ? NOW : SINCE)
    expect(decision?.measured.value).toBeGreaterThan(0)
    expect(decision?.rule.limit).toBeGreaterThan(0)
  },
)

test('stories of all these faults are among them', () => {
  const numbers = STORIES.map(({ name }) => name.slice(5, 8))
  expect([...new Set(numbers)].sort()).toEqual(['200', '202', '203', '205', '207', '208', '217', '414'])
})
