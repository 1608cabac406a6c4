import { describe, expect, test } from 'vitest'
import { silence } from '../../src/cli/silence.ts'
import type { Store } from '../../src/model/store.ts'
import { actLink } from '../../src/page/links.ts'
import { changeState } from '../../src/state/change.ts'
import { addSilence, endSilences } from '../../src/state/silences.ts'
import { BASE } from './asking.ts'
import { createWorld, START } from './world.ts'

type World = ReturnType<typeof createWorld>
type Row = [minute: number, waiting: readonly [number, number], told: readonly string[], pressed?: string]

const MINUTE = 60_000

/** The link of the incident that fires at an endpoint now. */
async function linkTo(world: World, endpoint: string, minute: number): Promise<string> {
  const { incidents = {} } = (await world.state()).endpoints[endpoint] ?? {}
  const ids = Object.values(incidents).flatMap(({ id, over }) => (over ? [] : id))
  return actLink(BASE, 'vllm', ids, START + minute * MINUTE)
}

/** Plays a table: what waits at chat/a and chat/b, what was told, and what somebody pressed after the run, for chat/a. */
async function follow(rows: readonly Row[], env: Record<string, string> = {}): Promise<void> {
  const world = createWorld(env)
  for (const [minute, waiting, told, pressed] of rows) {
    expect([minute, (await world.watch(minute, waiting)).told]).toEqual([minute, told])
    if (pressed === undefined) continue
    expect((await world.press(minute, await linkTo(world, 'chat/a', minute), pressed)).status).toBe(200)
  }
}

describe('a silence', () => {
  test('during an incident: no reminder in it, and what lasts is told when it is over', () =>
    follow([
      [0, [1, 1], []],
      [1, [42, 1], ['chat/a fired'], 'silence-1h'],
      [2, [42, 1], ['silence told-once']],
      [12, [50, 1], []],
      [30, [60, 1], []],
      [60, [60, 1], []],
      [61, [60, 1], ['chat/a repeated']],
      [62, [60, 1], []],
      [71, [60, 1], ['chat/a repeated']],
      [72, [1, 1], []],
      [73, [1, 1], ['chat/a resolved']],
    ]))

  test('what begins and ends in it is not told; another endpoint is', () =>
    follow([
      [0, [42, 1], ['chat/a fired'], 'silence-1h'],
      [1, [1, 1], ['silence told-once']],
      [2, [1, 1], []],
      [10, [42, 1], []],
      [20, [42, 30], ['chat/b fired']],
      [21, [1, 30], []],
      [22, [1, 30], []],
      [23, [1, 30], []],
      [58, [1, 1], []],
      [59, [1, 1], ['chat/b resolved']],
      [60, [1, 1], ['chat/a resolved']],
    ]))

  test('what begins in it and lasts is told when it is over', () =>
    follow([
      [0, [42, 1], ['chat/a fired'], 'silence-1h'],
      [1, [1, 1], ['silence told-once']],
      [2, [1, 1], []],
      [40, [42, 1], []],
      [59, [42, 1], []],
      [61, [42, 1], ['chat/a repeated', 'chat/a resolved']],
      [62, [1, 1], []],
      [63, [1, 1], ['chat/a resolved']],
    ]))

  test('ended early by the same link: what fires is told at the next run', () =>
    follow([
      [0, [42, 1], ['chat/a fired'], 'silence-4h'],
      [1, [42, 1], ['silence told-once']],
      [2, [42, 1], [], 'end'],
      [3, [42, 1], ['chat/a repeated']],
    ]))

  test('a rule without reminders is told after it all the same', () =>
    follow(
      [
        [0, [42, 1], ['chat/a fired'], 'silence-1h'],
        [1, [42, 1], ['silence told-once']],
        [61, [42, 1], ['chat/a repeated']],
        [62, [42, 1], []],
        [200, [42, 1], []],
      ],
      { WAITING_REPEAT: 'off' },
    ))
})

test('acknowledged: no reminders; the end, and the next incident, are told', () =>
  follow([
    [0, [42, 1], ['chat/a fired'], 'acknowledge'],
    [11, [42, 1], []],
    [30, [90, 1], []],
    [31, [1, 1], []],
    [32, [1, 1], ['chat/a resolved']],
    [40, [42, 1], ['chat/a fired']],
    [50, [42, 1], ['chat/a repeated']],
  ]))

test('the result shows what fires, with what was silenced or acknowledged beside it', async () => {
  const world = createWorld()
  await world.watch(0, [42, 42])
  await world.press(0, await linkTo(world, 'chat/a', 0), 'silence-1h')
  await world.press(0, await linkTo(world, 'chat/b', 0), 'acknowledge')
  const { result } = await world.watch(1, [42, 42])
  expect(result.endpoints).toMatchObject([
    { alerts: { waiting: 'firing' }, silenced: '2026-11-30T09:00:00.000Z' },
    { alerts: { waiting: 'firing' }, acknowledged: ['waiting'] },
  ])
  expect(result.endpoints[0]).not.toHaveProperty('acknowledged')
  expect(result.endpoints[1]).not.toHaveProperty('silenced')
})

test('what could not be delivered before a silence is told when it is over, late where it has ended', async () => {
  for (const [after, told] of [
    [42, ['chat/a fired']],
    [1, ['chat/a late']],
  ] as const) {
    const world = createWorld()
    await world.watch(0, [42, 1], { push: 'waiting' })
    await world.press(0.5, await linkTo(world, 'chat/a', 0), 'silence-1h')
    expect((await world.watch(1, [42, 1])).told).toEqual(['silence told-once'])
    for (const minute of [20, 40, 41, 59]) {
      const { told: quiet, problems } = await world.watch(minute, [after, 1])
      expect([quiet, problems]).toEqual([[], []])
    }
    expect((await world.watch(61, [after, 1])).told).toEqual(told)
  }
})

describe('pressed again', () => {
  test.each(['silence-1h', 'silence-4h', 'silence-9am', 'acknowledge'])('%s counts once', async (choice) => {
    const world = createWorld()
    await world.watch(0, [42, 1])
    const link = await linkTo(world, 'chat/a', 0)
    await world.press(0, link, choice)
    const once = await world.store.load('vllm.json')
    const again = await world.press(5, link, choice)
    expect(await world.store.load('vllm.json')).toEqual(once)
    expect(again.status).toBe(200)
    if (choice !== 'acknowledge') expect(String(again.body)).toContain('Already silenced until')
  })

  test('an old link does not acknowledge what is new', async () => {
    const world = createWorld()
    await world.watch(0, [42, 1])
    const old = await linkTo(world, 'chat/a', 0)
    for (const [minute, waiting] of [
      [1, 1],
      [2, 1],
      [3, 1],
      [4, 42],
    ] as const)
      await world.watch(minute, [waiting, 1])
    expect(String((await world.press(5, old, 'acknowledge')).body)).toContain('This is over')
    expect((await world.state()).acknowledged).toBeUndefined()
  })
})

/** Calls `act` once, just before the n-th write reaches the store. */
function interrupted(store: Store, n: number, act: () => Promise<unknown>): Store {
  let writes = 0
  return {
    ...store,
    save: async (...given) => {
      if (++writes === n) await act()
      return store.save(...given)
    },
  }
}

describe('an overlapping run at the worst moment', () => {
  test.each([
    ['the run is about to save what fires', 1],
    ['the run has pushed and is about to settle', 2],
  ])('%s: neither the silence nor the alert is lost', async (_, write) => {
    const world = createWorld()
    await world.watch(0, [42, 1])
    const link = await linkTo(world, 'chat/a', 0)
    const store = interrupted(world.store, write, () => world.press(1, link, 'silence-1h'))
    const table = [(await world.watch(1, [42, 30], { store })).told]
    for (const minute of [2, 20, 59]) table.push((await world.watch(minute, [42, 30])).told)
    table.push((await world.watch(61, [42, 30])).told)
    // Sooner or later each is told once; chat/a not in the silence, and after it.
    expect(table.flat().filter((one) => one === 'chat/b fired')).toHaveLength(1)
    expect(table.flat().filter((one) => one === 'silence told-once')).toHaveLength(1)
    expect(
      table
        .slice(0, 4)
        .flat()
        .filter((one) => one.startsWith('chat/a')),
    ).toEqual([])
    expect(table[4]).toContain('chat/a repeated')
  })

  test.each([1, 2])('a run writes between the reading and the writing of a press (%i)', async (write) => {
    const world = createWorld()
    await world.watch(0, [42, 1])
    const link = await linkTo(world, 'chat/a', 0)
    const store = interrupted(world.store, write, () => world.watch(1, [42, 30]))
    expect((await world.press(1, link, 'silence-1h', store)).status).toBe(200)
    const state = await world.state()
    expect(state.silences).toHaveLength(1)
    if (write === 1) expect(state.endpoints['chat/b']?.alerts.waiting?.phase).toBe('firing')
  })

  test('the answer to the write of a press is lost: it is written once', async () => {
    const world = createWorld()
    await world.watch(0, [42, 1])
    let lost = false
    const store: Store = {
      ...world.store,
      save: async (...given) => {
        const saved = await world.store.save(...given)
        if (lost) return saved
        lost = true
        const { StoreError } = await import('../../src/model/store.ts')
        throw new StoreError('no answer', false)
      },
    }
    expect((await world.press(0, await linkTo(world, 'chat/a', 0), 'silence-1h', store)).status).toBe(200)
    const state = await world.state()
    expect(state.silences).toHaveLength(1)
    expect(state.outbox).toHaveLength(1)
  })

  test('a store that does not take it is told, and nothing is claimed', async () => {
    const world = createWorld()
    await world.watch(0, [42, 1])
    const store: Store = { ...world.store, save: async () => 'conflict' }
    const { status, body } = await world.press(0, await linkTo(world, 'chat/a', 0), 'silence-1h', store)
    expect(status).toBe(503)
    expect(String(body)).toContain('could not be written down')
  })
})

describe('planned work', () => {
  test('in its time nothing is pushed, and what lasts is told after it', () =>
    follow(
      [
        [0, [1, 1], []],
        [31, [42, 1], []],
        [40, [42, 40], []],
        [41, [42, 1], []],
        [42, [42, 1], []],
        [61, [42, 1], ['chat/a repeated']],
        [62, [42, 1], []],
      ],
      { MAINTENANCE: '2026-11-30T09:30+01:00/PT30M' },
    ))

  test('of one endpoint alone', () =>
    follow([[0, [42, 42], ['chat/b fired']]], { VLLM_CHAT_A_MAINTENANCE: 'Mon 08:00-09:00' }))
})

test('a silence of a function holds back all of it, one of a group the group', async () => {
  for (const scope of [{ scope: 'function' }, { scope: 'group', name: 'chat' }] as const) {
    const world = createWorld()
    await world.watch(0, [1, 1])
    const one = { id: 'x', ...scope, from: START, until: START + 30 * MINUTE, by: 'somebody' }
    await changeState(world.store, 'vllm.json', (state) => addSilence(state, one, 'vllm'))
    expect((await world.watch(1, [42, 42])).told).toEqual(['silence told-once'])
    await changeState(world.store, 'vllm.json', (state) => endSilences(state, scope, START + 90_000))
    expect((await world.watch(2, [42, 42])).told).toEqual(['chat/a repeated', 'chat/b repeated'])
  }
})

describe('npm run silence', () => {
  test.each<[string[], RegExp]>([
    [[], /needs the name of a function/],
    [['vlm', 'chat/a', '2h'], /no function vlm/],
    [['vllm'], /needs an endpoint/],
    [['vllm', 'chat/a'], /needs how long/],
    [['vllm', 'chat/a', '8d'], /from 1m to 7d/],
    [['vllm', 'chat/a', '2'], /from 1m to 7d/],
    [['vllm', 'end'], /end needs/],
    [['vllm', 'chat/a', '2h'], /has no state here yet/],
  ])('%j is refused', async (words, why) => {
    const said = await silence(words, { STATE_DIR: 'does-not-exist-here' }, START)
    expect(said.ok).toBe(false)
    expect(said.text).toMatch(why)
  })
})
