import { describe, expect, test } from 'vitest'
import { isWhole, play } from '../../src/simulator/demo.ts'
import type { Received } from '../../src/simulator/inbox.ts'
import { ollamaStory } from '../../src/simulator/ollama-story.ts'
import type { Story } from '../../src/simulator/story.ts'
import { bar } from '../../src/simulator/story.ts'
import { vllmStory } from '../../src/simulator/vllm-story.ts'

async function played(story: Story) {
  const lines: string[] = []
  const pushes = await play(story, 0, (line) => lines.push(line))
  return { pushes, lines, text: lines.join('\n') }
}

describe('npm run demo', () => {
  test('a vLLM queue rises over 20, is told once, falls, and its end is told once with duration and peak', async () => {
    const { pushes, lines } = await played(vllmStory())
    expect(isWhole(pushes)).toBe(true)
    const waiting = lines.flatMap((line) => /^\d\d:\d\d +(\d+) /.exec(line)?.[1] ?? []).map(Number)
    expect(Math.max(...waiting)).toBeGreaterThan(20)
    expect(waiting.at(-1)).toBeLessThan(10)
    expect(pushes[0]?.title).toContain('chat/a (llama-3.1-8b)')
    expect(pushes[0]?.message).toMatch(/\d+ requests are waiting \(limit 20\)/)
    expect(pushes[1]?.message).toMatch(new RegExp(`lasted \\d+ min, ${Math.max(...waiting)} waiting at most`))
  })

  test.each([1, 2, 3])('so it does with other random numbers (seed %i)', async (seed) => {
    expect(isWhole((await played(vllmStory(seed))).pushes)).toBe(true)
  })

  test('each push stands in the output as the phone shows it', async () => {
    const { pushes, lines } = await played(vllmStory())
    for (const { title, message } of pushes) {
      for (const line of [title, ...message.split('\n')]) expect(lines).toContain(`       │ ${line}`)
    }
  })

  test('an Ollama that loads its model cold is no alarm, one with a queue is', { timeout: 40_000 }, async () => {
    const { pushes, lines } = await played(ollamaStory())
    expect(isWhole(pushes)).toBe(true)
    const cold = lines.find((line) => / 2\.\d\d s /.test(line))
    expect(cold).toMatch(/ ok /)
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
