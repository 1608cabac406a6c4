import { describe, expect, test } from 'vitest'
import { parseConfig } from '../../src/config/parse.ts'
import { evaluate } from '../../src/rules/evaluate.ts'
import { emptyReadings } from '../../src/signals/readings.ts'
import { emptyState } from '../../src/state/schema.ts'
import { discover } from '../../src/targets/discover.ts'
import { configOf, messagesOf, type PlayedRun, playRuns } from '../playing.ts'
import { vllm } from '../stories/pages.ts'

const good = (minute: number) => vllm({ running: 1, tokens: 100 * minute, finished: minute })
const address = (name: string) => `${name}=http://127.0.0.1:9009/${name}`
const withThree = (more: Record<string, string> = {}) =>
  configOf('vllm', { VLLM_ENDPOINTS: ['chat/a', 'chat/b', 'chat/c', 'solo'].map(address).join(' '), ...more })

/** Plays until `last`; each replica is gone from its minute on, until `back`. */
function play(goneFrom: Record<string, number>, last: number, back = 999, config = withThree()): PlayedRun[] {
  return playRuns(
    config,
    Array.from({ length: last + 1 }, (_, minute) => ({
      at: minute * 60_000,
      seen: ({ name }) => (minute >= (goneFrom[name] ?? 999) && minute < back ? 'refused' : good(minute)),
    })),
  )
}

/** Minute, and the rules of each push, the one that gives the title first. */
const pushes = (runs: readonly PlayedRun[]) =>
  runs.flatMap(({ groups }, minute) =>
    groups.map((group) => {
      const worst = [...group].sort((a, b) => b.priority - a.priority)
      return [minute, worst[0]?.reason, ...worst.map(({ rule, endpoint }) => `${rule} ${endpoint}`)].join(' ')
    }),
  )

describe('pool: a group that has lost its replicas', () => {
  test('case 412: all within one run are one push, which names the group first, and one end', () => {
    const runs = play({ 'chat/a': 2, 'chat/b': 2, 'chat/c': 2 }, 9, 7)
    const downs = ['a', 'b', 'c'].map((name) => `down chat/${name}`).join(' ')
    expect(pushes(runs)).toEqual([`4 fired pool chat ${downs}`, expect.stringMatching(/^8 resolved/)])
    const [gone, back] = runs.flatMap(messagesOf)
    expect(gone).toMatchObject({
      priority: 10,
      title: expect.stringContaining('chat: no replica of the group answers'),
    })
    expect(gone?.body).toContain('None of 3 replicas answers: nothing listens on the port')
    expect(gone?.body).toContain('Gone: a, b, c')
    expect(back?.title).toContain('chat: enough replicas answer again')
  })

  test('case 412: within three runs, the group is told with the last of them', () => {
    const runs = play({ 'chat/a': 2, 'chat/b': 3, 'chat/c': 4 }, 8)
    expect(pushes(runs)).toEqual(['4 fired down chat/a', '5 fired down chat/b', '6 fired pool chat down chat/c'])
  })

  test('a near miss: one replica answers, and one that failed twice is not gone', () => {
    expect(pushes(play({ 'chat/a': 2, 'chat/b': 2 }, 9)).join()).not.toContain('pool')
    expect(pushes(play({ 'chat/a': 2, 'chat/b': 2, 'chat/c': 2 }, 5, 4))).toEqual([])
  })

  test('the limit is how many must answer, and may be set for the group', () => {
    const config = withThree({ VLLM_CHAT_POOL_LIMIT: '2' })
    expect(pushes(play({ 'chat/a': 2, 'chat/b': 2 }, 6, 999, config))).toEqual([
      '4 fired pool chat down chat/a down chat/b',
    ])
    expect(pushes(play({ 'chat/a': 2 }, 6, 999, config))).toEqual(['4 fired down chat/a'])
  })

  test('off is off; an endpoint without a group is no pool', () => {
    const config = withThree({ POOL_LIMIT: 'off' })
    expect(pushes(play({ 'chat/a': 2, 'chat/b': 2, 'chat/c': 2 }, 6, 999, config)).join()).not.toContain('pool')
    expect(pushes(play({ solo: 2 }, 6))).toEqual(['4 fired down solo'])
  })

  test('the result names it at each replica, and the state forgets it once its beginning no longer counts', () => {
    const runs = play({ 'chat/a': 2, 'chat/b': 2, 'chat/c': 2 }, 130, 7)
    const pools = (minute: number) => runs[minute]?.evaluation.endpoints.map(({ alerts }) => alerts.pool)
    expect(pools(5)).toEqual(['firing', 'firing', 'firing', undefined])
    expect(Object.keys(runs[5]?.evaluation.state.endpoints ?? {})).toContain('chat')
    expect(Object.keys(runs[130]?.evaluation.state.endpoints ?? {})).not.toContain('chat')
  })

  test('groups that go at once with everything else are told as that outage, with them in it', () => {
    const names = ['chat/a', 'chat/b', 'code/a', 'code/b']
    const config = configOf('vllm', { VLLM_ENDPOINTS: names.map(address).join(' ') })
    const runs = play(Object.fromEntries(names.map((name) => [name, 1])), 5, 999, config)
    const messages = runs.flatMap(messagesOf)
    expect(messages).toHaveLength(1)
    expect(messages[0]).toMatchObject({ priority: 10, title: expect.stringContaining('All 4 endpoints') })
  })
})

describe('pool: a name that resolves to nothing', () => {
  const parsed = parseConfig(
    'vllm',
    { VLLM_ENDPOINTS: 'chat=dns+http://nowhere.invalid:8000/metrics' },
    { lambda: false },
  )
  if (!parsed.ok) throw new Error(parsed.problems.join())
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  const play = async (why: string, runs: number) => {
    let state = emptyState()
    const told: string[] = []
    for (let minute = 0; minute < runs; minute += 1) {
      const found = await discover(parsed.config, {}, { load: async () => ({ ok: false, why }), log })
      const watch = found.watch.map((one) => ({ ...one, up: true as const, readings: emptyReadings() }))
      const evaluation = evaluate(state, watch, found.config, minute * 60_000)
      state = evaluation.state
      told.push(...evaluation.notifications.map(({ rule, endpoint }) => `${minute} ${rule} ${endpoint}`))
    }
    return told.filter((one) => one.includes('pool'))
  }

  test('is a group of none, told at the third run in a row', async () => {
    expect(await play('ENOTFOUND', 5)).toEqual(['2 pool chat'])
  })

  test('a name server that does not answer says nothing about the group', async () => {
    expect(await play('EAI_AGAIN', 5)).toEqual([])
  })
})
