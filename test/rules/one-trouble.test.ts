import { expect, test } from 'vitest'
import { configOf, messagesOf, playRuns } from '../playing.ts'
import { vllm } from '../stories/pages.ts'

const MINUTE = 60_000
const PAST = 75

/** The titles of all that is pushed of a page a minute, and the body of the last. @param finishes requests a minute. */
function told(minutes: number, at: (since: number) => { waiting: number; running: number; finishes: number }) {
  let finished = 0
  const pages = Array.from({ length: PAST + minutes }, (_, minute) => {
    const { finishes, ...now } = minute < PAST ? { waiting: 0, running: 4, finishes: 30 } : at(minute - PAST)
    finished += finishes
    return vllm({ ...now, finished, tokens: finished * 200, prompt: finished * 400 })
  })
  const runs = pages.map((page, minute) => ({ at: minute * MINUTE, seen: () => page }))
  const messages = playRuns(configOf('vllm'), runs).flatMap(messagesOf)
  return { titles: messages.map(({ title, priority }) => `${priority} ${title}`), last: messages.at(-1)?.body ?? '' }
}

test('traffic that stops and goes every five minutes for six hours: three pushes, the last says how often', () => {
  const { titles, last } = told(430, (since) => {
    if (since >= 360) return { waiting: 0, running: 4, finishes: 30 }
    return since % 10 < 5
      ? { waiting: 40 + 5 * (since % 5), running: 16, finishes: 60 }
      : { waiting: 0, running: 0, finishes: 0 }
  })
  expect(titles).toEqual([
    '8 🐌 a: 40 waiting (limit 20)',
    '8 🐌 a: comes and goes: 40 waiting (limit 20)',
    '4 ✅ a: came and went 36 times: inference queue is growing',
  ])
  expect(last).toContain('Began 36 times since')
})

test('a queue that grows to 700, stays for five hours and drains: one push a rise, one reminder, one end', () => {
  const { titles, last } = told(380, (since) => {
    const waiting = since < 20 ? 35 * since : since < 320 ? 700 : Math.max(0, 700 - 35 * (since - 320))
    return { waiting, running: waiting > 0 ? 16 : 4, finishes: waiting > 0 ? 60 : 30 }
  })
  expect(titles).toEqual([
    '8 🐌 a: 35 waiting (limit 20)',
    '9 🐌 a: worse: 210 waiting (limit 20)',
    '9 🐌 a: 700 waiting (limit 20), for 4 h 5 min now',
    '4 ✅ a: queue is short again',
  ])
  expect(last).toContain('lasted 5 h 40 min, 700 waiting at most.')
  expect(last).toContain('Also: queue keeps growing')
})

test('a cache that is full to the critical limit when the queue is first told: one push, as critical, that names it', () => {
  const pages = Array.from({ length: PAST + 30 }, (_, minute) => {
    const since = Math.max(0, minute - PAST)
    const full = since > 0 && { kv: 0.99, waiting: Math.min(80, 18 + 5 * since), preemptions: 30 * since }
    return vllm({ running: 33, kv: 0.7, finished: 20 * minute, tokens: 45_000 * minute, ...full })
  })
  const runs = pages.map((page, minute) => ({ at: minute * MINUTE, seen: () => page }))
  const [first, ...more] = playRuns(configOf('vllm'), runs).flatMap(messagesOf)
  expect(`${first?.priority} ${first?.title}`).toBe('9 🐌 a: 23 waiting (limit 20)')
  expect(first?.body).toContain('KV cache 99 % full (limit 90 %)')
  expect(more).toEqual([])
})
