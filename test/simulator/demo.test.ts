import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import type { EndpointResult } from '../../src/model/result.ts'
import { isWhole, play } from '../../tools/simulator/demo.ts'
import type { Received } from '../../tools/simulator/inbox.ts'
import { ollamaStory } from '../../tools/simulator/ollama-story.ts'
import type { Story } from '../../tools/simulator/story.ts'
import { bar } from '../../tools/simulator/story.ts'
import { vllmStory } from '../../tools/simulator/vllm-story.ts'
import { amount } from '../long.ts'

async function played(story: Story) {
  const lines: string[] = []
  const { pushes, results } = await play(story, 0, (line) => lines.push(line))
  return { pushes, results, lines, text: lines.join('\n') }
}

describe('npm run demo', () => {
  /** Played once: it takes a minute of the simulated engine's time for each line. */
  let shown: ReturnType<typeof played>
  beforeAll(() => {
    shown = played(vllmStory())
  })

  test('a vLLM queue rises over 20, is told once, falls, and its end is told once with duration and peak', async () => {
    const { pushes, lines } = await shown
    expect(isWhole(pushes)).toBe(true)
    const waiting = lines.flatMap((line) => /^\d\d:\d\d +(\d+) /.exec(line)?.[1] ?? []).map(Number)
    expect(Math.max(...waiting)).toBeGreaterThan(20)
    expect(waiting.at(-1)).toBeLessThan(10)
    expect(pushes[0]?.title).toMatch(/^🐌 chat\/a: \d+ waiting \(limit 20\)$/)
    expect(pushes[0]?.message).toMatch(/\d+ requests are waiting \(limit 20\)/)
    expect(pushes[1]?.message).toMatch(new RegExp(`lasted \\d+ min, ${Math.max(...waiting)} waiting at most`))
  })

  test('the README shows what it really prints', async () => {
    const { lines } = await shown
    const [, written] =
      /<!-- demo:start -->\n```\n([\s\S]*?)\n\nOne push when/.exec(readFileSync('README.md', 'utf8')) ?? []
    // The port is a free one each time; the README has vLLM's own.
    const printed = lines.join('\n').replace(/(127\.0\.0\.1):\d+/g, '$1:8000')
    expect(written).toBe(printed)
  })

  test.each(Array.from({ length: amount('demos') }, (_, index) => index + 1))(
    'so it does with other random numbers (seed %i)',
    async (seed) => {
      expect(isWhole((await played(vllmStory(seed))).pushes)).toBe(true)
    },
  )

  test('each push stands in the output as the phone shows it', async () => {
    const { pushes, lines } = await shown
    for (const { title, message } of pushes) {
      for (const line of [title, ...message.split('\n')]) expect(lines).toContain(`       │ ${line}`)
    }
  })

  test('38 s of loading a model are no alarm, a queue of an Ollama is, and its end is told', async () => {
    const story = ollamaStory()
    const { pushes, results, lines } = await played(story)
    expect(isWhole(pushes)).toBe(true)
    expect(story.lacks?.(results)).toBe(undefined)
    expect(lines.find((line) => line.includes('38.0 s'))).toMatch(/ ok$/)
    expect(pushes[0]?.message).toMatch(/X-Request-Id/)
  })

  test('a story in which the load was not seen, or alarmed, or nothing queued, lacks that', () => {
    const lacks = ollamaStory().lacks
    const one = (canary_load: number, alerts: EndpointResult['alerts']) =>
      ({ signals: { canary_load }, alerts }) as EndpointResult
    expect(lacks?.([one(0, { canary: 'firing' })])).toBe('a cold load')
    expect(lacks?.([one(38, { canary: 'firing' })])).toBe('a cold load without an alert')
    expect(lacks?.([one(38, {})])).toBe('a queue that alerts')
    expect(lacks?.([one(38, {}), one(0, { canary: 'firing' })])).toBe(undefined)
  })
})

test.each([
  ['only the beginning', [8]],
  ['only the end', [4]],
  ['two beginnings', [8, 8]],
  ['more than two', [8, 4, 8]],
  ['nothing', []],
])('%s is not the whole story', (_what, priorities) => {
  expect(isWhole(priorities.map((priority) => ({ priority }) as Received))).toBe(false)
})

test.each([
  [undefined, ''],
  [0, ''],
  [30, '███'],
  [1000, `${'█'.repeat(24)}…`],
])('a bar for %s', (value, text) => {
  expect(bar(value, 10)).toBe(text)
})
