import { describe, expect, test } from 'vitest'
import { isIn, parseShard, shardEvents } from '../../src/targets/shards.ts'

const names = Array.from({ length: 1_000 }, (_, i) => ({ name: `r${i}`, group: undefined }))
const parts = (of: number) => Array.from({ length: of }, (_, i) => ({ index: i + 1, of }))

describe('shards', () => {
  test.each([2, 3, 8, 100])(
    'of %i: every endpoint is in exactly one, and none has more than its share by far',
    (of) => {
      const sizes = parts(of).map((shard) => names.filter((endpoint) => isIn(endpoint, shard)).length)
      expect(sizes.reduce((a, b) => a + b)).toBe(1_000)
      for (const endpoint of names) expect(parts(of).filter((shard) => isIn(endpoint, shard))).toHaveLength(1)
      expect(Math.max(...sizes)).toBeLessThan((1_000 / of) * 1.5 + 15)
    },
  )

  test('siblings stay together', () => {
    const homes = names.map(({ name }) => parts(8).findIndex((s) => isIn({ name: `chat/${name}`, group: 'chat' }, s)))
    expect(new Set(homes).size).toBe(1)
  })

  test('where an endpoint belongs does not change from version to version', () => {
    const homes = ['chat', 'embed', 'code', 'r0', 'r1', 'r2'].map((name) =>
      parts(8).findIndex((shard) => isIn({ name, group: undefined }, shard)),
    )
    expect(homes).toMatchInlineSnapshot(`
      [
        1,
        3,
        7,
        0,
        7,
        2,
      ]
    `)
  })

  test.each([
    ['1/1', { index: 1, of: 1 }],
    ['2/8', { index: 2, of: 8 }],
    ['100/100', { index: 100, of: 100 }],
  ])('%s', (text, shard) => expect(parseShard(text)).toEqual({ ok: true, shard }))

  test.each(['0/8', '9/8', '2', '2/', 'a/b', '2/8 ', '1/101', '-1/8', '', 2, null, { index: 2 }])(
    '%j is none, and says what it may be',
    (text) => expect(parseShard(text)).toEqual({ ok: false, why: expect.stringContaining('"2/8"') }),
  )

  test('the schedule has one entry for each, which keeps the time of its tick', () => {
    expect(shardEvents(1, 'rate(1 minute)')).toEqual([{ schedule: { rate: ['rate(1 minute)'] } }])
    const events = shardEvents(8, 'rate(1 minute)')
    expect(events).toHaveLength(8)
    expect(events[1]).toEqual({
      schedule: {
        rate: ['rate(1 minute)'],
        inputTransformer: { inputPathsMap: { time: '$.time' }, inputTemplate: '{"time": <time>, "shard": "2/8"}' },
      },
    })
  })
})
