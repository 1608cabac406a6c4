import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { amount } from '../long.ts'
import { createWorld, incidentOf, type PushFault, reasonOf, type Turn } from './world.ts'

const SEQUENCES = amount('sequences')

/** Beside `notifly`; each fails by itself. */
const MORE = {
  PUSH_TEAM: 'gotify+http://127.0.0.1:1004',
  PUSH_TEAM_TOKEN: 't',
  PUSH_PAGER: 'pagerduty+http://127.0.0.1:1005',
  PUSH_PAGER_TOKEN: 't',
  PUSH_CHAT: 'telegram+http://127.0.0.1:1006?chat=1',
  PUSH_CHAT_TOKEN: 't',
}

const fault = fc.oneof(
  { weight: 4, arbitrary: fc.constant('none') },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      'waiting',
      'retry-later',
      'limited',
      'misconfigured',
      'refused',
      'lost',
      'arrived-answer-lost',
    ),
  },
) as fc.Arbitrary<PushFault>

const turn: fc.Arbitrary<Turn> = fc.record({
  minutes: fc.oneof(
    { weight: 8, arbitrary: fc.constant(1) },
    { weight: 1, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 2, max: 20 }) },
  ),
  weather: fc.constantFrom(
    'low',
    'low',
    'between',
    'high',
    'high',
    'flood',
    'full',
    'fails',
    'fails',
    'one-fails',
    'restarts',
  ),
  store: fc.option(
    fc.record({ at: fc.nat(4), kind: fc.constantFrom('answer-lost', 'not-done', 'conflict', 'refused', 'stale') }),
    { freq: 3, nil: undefined },
  ),
  push: fc.record({ notifly: fault, team: fault, pager: fault, chat: fault }),
  kill: fc.option(fc.record({ at: fc.nat(6), after: fc.boolean() }), { freq: 3, nil: undefined }),
  press: fc.option(fc.record({ at: fc.nat(6), minutes: fc.constantFrom(1, 2, 5, 'acknowledge' as const) }), {
    freq: 5,
    nil: undefined,
  }),
  overlap: fc.option(fc.record({ pauses: fc.array(fc.nat(12), { minLength: 4, maxLength: 8 }), next: fc.boolean() }), {
    freq: 3,
    nil: undefined,
  }),
}) as fc.Arbitrary<Turn>

const calm = (weather: Turn['weather']): Turn => ({ minutes: 1, weather, push: {} })
const settling = (weather: Turn['weather'], runs: number) => Array.from({ length: runs }, () => calm(weather))

/** Calm for so long that what came and went is over, and its beginnings no longer count. */
const HOURS = [61, 1, 121, 1].map((minutes): Turn => ({ ...calm('low'), minutes }))

describe('whatever goes wrong', () => {
  test.each([
    ['one channel', {}, ['notifly']],
    ['four channels', MORE, ['notifly', 'team', 'pager', 'chat']],
  ])(
    'on %s: every incident is told on each, exactly once where nothing was cut off between sending and settling, and none ends untold or without data',
    async (_, more, channels) => {
      await fc.assert(
        fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 14 }), fc.boolean(), async (turns, ticked) => {
          const world = createWorld(ticked, more)
          for (const one of turns) await world.play(one)
          // In the end all works again: what is open closes, one more incident comes and goes.
          for (const one of [...settling('low', 7), ...HOURS, ...settling('high', 3), ...settling('low', 4)])
            await world.play(one)
          for (const channel of channels) await check(world, channel)
          const state = await world.state()
          expect(state.outbox, 'nothing stays behind in the outbox').toEqual([])
          expect(state.threads, 'nor in the threads').toBeUndefined()
          expect([state.silences, state.held, state.acknowledged], 'no silence outlasts its time').toEqual(
            Array.from({ length: 3 }, () => undefined),
          )
        }),
        { numRuns: SEQUENCES, seed: 20261130, endOnFailure: false },
      )
    },
    60_000 + SEQUENCES * 400,
  )
})

async function check(world: ReturnType<typeof createWorld>, channel: string): Promise<void> {
  const ids = world.arrivals.flatMap((arrival) => (arrival.channel === channel ? arrival.ids : []))
  const toldBy = (incident: string) =>
    ids.filter((id) => incidentOf(id) === incident && ['fired', 'late', 'told-once'].includes(reasonOf(id)))
  const state = await world.state()
  for (const at of world.silenced.keys()) {
    const silence = `|silence|a@${at}`
    if (!world.refused.has(`${channel} ${silence}`))
      expect(toldBy(silence), `told on ${channel}: ${silence}`).not.toEqual([])
  }
  expect(
    Object.values(state.endpoints).flatMap((e) => Object.keys(e.alerts)),
    'nothing fires for ever',
  ).toEqual([])
  expect(
    Object.values(state.endpoints).flatMap((e) => Object.values(e.incidents).filter(({ over }) => !over)),
    'no incident stays open',
  ).toEqual([])
  expect([...world.orphans], 'all that fires belongs to an incident').toEqual([])
  for (const incident of world.incidents) {
    // Where the run that had claimed the beginning was killed, what became worse may be told before it, and the end too.
    const heard = ids.filter((id) => incidentOf(id) === incident && reasonOf(id) !== 'resolved')
    // What was silenced while it fired may be over before there is anything to tell.
    if (!world.refused.has(`${channel} ${incident}`) && !world.quiet.has(incident))
      expect(heard, `told on ${channel}: ${incident}`).not.toEqual([])
  }
  for (const incident of new Set(ids.map(incidentOf))) {
    if (world.tainted.has(`${channel} ${incident}`)) continue
    const of = (reason: string) => ids.filter((id) => incidentOf(id) === incident && reasonOf(id) === reason).length
    expect(toldBy(incident).length, `told once on ${channel}: ${incident}`).toBeLessThanOrEqual(1)
    expect(of('worse'), `once for each rise in priority (7, 8, 9) on ${channel}: ${incident}`).toBeLessThanOrEqual(2)
    expect(of('resolved'), `its end once on ${channel}: ${incident}`).toBeLessThanOrEqual(1)
  }
  for (const [index, id] of ids.entries()) {
    if (reasonOf(id) !== 'resolved') continue
    const before = ids
      .slice(0, index)
      .filter(
        (other) => incidentOf(other) === incidentOf(id) && ['fired', 'worse', 'repeated'].includes(reasonOf(other)),
      )
    expect(before, `told on ${channel} before it was resolved: ${id}`).not.toEqual([])
    const at = Number(id.split('/')[2])
    expect(['low', 'restarts', 'high', 'between', 'flood', 'full', 'one-fails'], `data at ${id}`).toContain(
      world.weatherAt.get(at),
    )
  }
  const last = [...world.incidents].at(-1) ?? ''
  expect(toldBy(last).length, `the last incident is told once on ${channel}`).toBe(1)
  const ends = ids.filter((id) => incidentOf(id) === last && reasonOf(id) === 'resolved')
  expect(ends.length, `and its end once on ${channel}`).toBe(1)
}
