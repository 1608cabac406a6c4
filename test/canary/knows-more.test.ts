import { afterEach, describe, expect, test } from 'vitest'
import { type Clock, createClock } from '../../tools/simulator/clock.ts'
import type { Loopback } from '../../tools/simulator/loopback.ts'
import { type OllamaSettings, openOllama } from '../../tools/simulator/ollama.ts'
import { openOpenAI } from '../../tools/simulator/openai.ts'
import { amount } from '../long.ts'
import { type Looked, watcherOn } from './simulated.ts'

const open: Loopback[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})

const MINUTE = 60_000
const DAY = 24 * 60
const NOON = Date.parse('2026-11-30T12:00:00Z')
const MIDNIGHT = Date.parse('2026-11-30T00:00:00Z')
const MODEL = { loadMs: 700, prefillMs: 100, tokenMs: 10, says: 'The answer is 42.' }
const GOLDEN = { CANARY_PROMPT: 'What is 17 + 25?', CANARY_EXPECT: '\\b42\\b', CANARY_TOKENS: '16' }

async function ollama(env: Record<string, string>, settings: Partial<OllamaSettings> = {}, start = NOON) {
  const clock = createClock(start)
  const server = await openOllama({ models: { m: MODEL }, keepAlive: 24 * 60 * MINUTE, ...settings }, clock)
  open.push(server)
  server.load('m')
  const look = watcherOn(clock, 'ollama', { OLLAMA_URL: server.url, OLLAMA_MODEL: 'm', ...env })
  let minute = -1
  /** A run at each of the next minutes, from the whole minute on: the canary itself takes time. */
  const runs = async (n: number, before: (minute: number) => void = () => {}): Promise<Looked[]> => {
    const all: Looked[] = []
    for (let i = 0; i < n; i += 1) {
      minute += 1
      clock.pass(Math.max(0, start + minute * MINUTE - clock.now()))
      before(minute)
      all.push(await look())
    }
    return all
  }
  const generated = () => server.asked.filter(({ path }) => path === '/api/generate').length
  return { clock, server, runs, generated }
}

const titles = (looked: readonly Looked[]) =>
  looked.flatMap(({ told }, run) => told.map((text) => `${run}: ${text.split('\n')[0]}`))

describe('a golden answer', () => {
  test('wrong twice in a row is told once with what came, and is over after two that are right', async () => {
    const { server, runs } = await ollama(GOLDEN)
    const right = await runs(3)
    expect(right[2]?.result?.alerts).toEqual({})
    server.change('m', { says: 'The the of 4 of\u202e 4 the **of**' })
    const wrong = await runs(4)
    expect(wrong.map(({ result }) => result?.alerts.wrong_answer)).toEqual(['pending', 'firing', 'firing', 'firing'])
    expect(wrong.flatMap(({ told }) => told)).toHaveLength(1)
    expect(wrong[1]?.told[0]).toContain('The the of 4 of 4 the **of**')
    expect(wrong[1]?.told[0]).toContain('/\\b42\\b/')
    server.change('m', { says: 'It is 42' })
    const again = await runs(3)
    expect(again.map(({ told }) => told.length)).toEqual([0, 1, 0])
  })

  test('wrong once is chance', async () => {
    const { server, runs } = await ollama(GOLDEN)
    server.change('m', { says: 'Hm.' })
    await runs(1)
    server.change('m', { says: '42' })
    await runs(1)
    server.change('m', { says: 'Hm.' })
    expect(titles(await runs(1))).toEqual([])
  })

  test('an answer that was all thoughts is not known to be wrong', async () => {
    const { says: _, ...quiet } = MODEL
    const { runs } = await ollama(GOLDEN, { models: { m: { ...quiet, thinks: true } } })
    const looked = await runs(4)
    expect(looked.at(-1)?.result?.alerts).toEqual({})
  })

  test('nothing is judged where nothing is expected', async () => {
    const { server, runs } = await ollama({ CANARY_TOKENS: '16' })
    server.change('m', { says: 'garbage' })
    expect(titles(await runs(4))).toEqual([])
    expect(server.asked.at(-1)?.body).toMatchObject({ prompt: 'Hi', options: { num_predict: 16 } })
  })
})

describe('the rate of its tokens', () => {
  const RATED = { CANARY_TOKENS: '32', CANARY_RATE_LIMIT: 'on' }

  test('a fifth of what is usual is told at the second run, with both rates, and ends', async () => {
    const { server, runs } = await ollama(RATED)
    expect(titles(await runs(75))).toEqual([])
    server.change('m', { tokenMs: 50 })
    const slow = await runs(5)
    expect(slow.map(({ told }) => told.length)).toEqual([0, 1, 0, 0, 0])
    expect(slow[1]?.told[0]).toContain('at 20 tokens/s, usually 100/s')
    server.change('m', { tokenMs: 10 })
    expect((await runs(3)).map(({ told }) => told.length)).toEqual([0, 1, 0])
  })

  test('a model that fell back to the CPU is told as that alone, although its tokens come slowly too', async () => {
    const { server, runs } = await ollama(RATED)
    await runs(75)
    server.unload('m')
    server.change('m', { vramShare: 0, tokenMs: 80 })
    server.load('m')
    expect(titles(await runs(5))).toEqual([expect.stringContaining('model runs on the CPU now')])
  })

  test('two thirds are not', async () => {
    const { server, runs } = await ollama(RATED)
    await runs(75)
    server.change('m', { tokenMs: 15 })
    expect(titles(await runs(5))).toEqual([])
  })

  test('off unless it is switched on', async () => {
    const { server, runs } = await ollama({ CANARY_TOKENS: '32' })
    await runs(75)
    server.change('m', { tokenMs: 50 })
    expect(titles(await runs(5))).toEqual([])
  })
})

describe('a model that nobody else uses', () => {
  const KEPT = { keepAlive: 5 * MINUTE }

  test('is kept in memory by canaries that ask, and leaves it by those that skip as if nobody watched', async () => {
    const minutes: Record<string, number> = {}
    const of = amount('canaryHours') * 60
    for (const idle of ['nobody', 'ask', 'skip']) {
      const { server, runs, clock } = await ollama(idle === 'nobody' ? {} : { CANARY_IDLE: idle }, KEPT, MIDNIGHT)
      let inMemory = 0
      /** Somebody asks for an hour, every two minutes. */
      const use = (minute: number) => {
        if (minute >= 60 && minute < 120 && minute % 2 === 0) server.occupy('m', 1_000)
        inMemory += server.loaded().length
      }
      if (idle === 'nobody') {
        for (let minute = 0; minute < of; minute += 1) {
          use(minute)
          clock.pass(MINUTE)
        }
      } else await runs(of, use)
      minutes[idle] = inMemory
    }
    expect(minutes.ask).toBe(of)
    // After each of its two stays it is asked once more by us, which is all that we add.
    expect(minutes.skip).toBeLessThanOrEqual((minutes.nobody ?? 0) + 10)
    expect(minutes.nobody).toBeGreaterThanOrEqual(60)
  }, 240_000)

  test('is asked at each run while somebody uses it', async () => {
    const { server, runs, generated } = await ollama({ CANARY_IDLE: 'skip' }, KEPT)
    await runs(20, () => server.occupy('m', 200))
    expect(generated()).toBeGreaterThanOrEqual(19)
  })

  test('is asked again once its end has passed and it is still there', async () => {
    const { server, runs, generated } = await ollama({ CANARY_IDLE: 'skip' }, KEPT)
    await runs(4)
    expect(generated()).toBe(1)
    server.load('m')
    await runs(1)
    expect(generated()).toBe(2)
  })

  test('that is to stay for good is asked all the same: there is nothing to let go', async () => {
    const { runs, generated } = await ollama({ CANARY_IDLE: 'skip' }, { keepAlive: 365 * DAY * MINUTE })
    await runs(5)
    expect(generated()).toBe(5)
  })
})

describe('a budget', () => {
  test('is spread over the day, and counts anew at midnight of UTC', async () => {
    const { runs, generated } = await ollama({ CANARY_BUDGET: '100/d' }, {}, MIDNIGHT - 60 * MINUTE)
    const byHour: number[] = []
    for (let hour = 0; hour < 3; hour += 1) {
      const before = generated()
      await runs(60)
      byHour.push(generated() - before)
    }
    for (const n of byHour) expect(n).toBeGreaterThanOrEqual(3)
    for (const n of byHour) expect(n).toBeLessThanOrEqual(7)
  }, 60_000)

  test('a canary that is left out says nothing of the server: neither that it lives nor that it does not', async () => {
    const { server, runs } = await ollama({ CANARY_BUDGET: '480/d', OLLAMA_TIMEOUT: '150ms', CANARY_LIMIT: '100ms' })
    server.meet({ kind: 'hang' }, 100)
    const looked = await runs(10)
    expect(
      looked.map(({ result }) => result?.alerts.down).filter((phase) => phase === 'firing').length,
    ).toBeGreaterThan(2)
    expect(looked.flatMap(({ told }) => told)).toHaveLength(1)
  })
})

test('an Ollama that is over its limit is asked at growing pauses', async () => {
  const { server, runs, generated } = await ollama({})
  await runs(30, () => server.occupy('m', 60_000, 1))
  expect(generated()).toBeLessThanOrEqual(13)
})

test('an Ollama that refuses at once is asked at each run: a refusal waits in no queue', async () => {
  const { server, runs, generated } = await ollama({})
  server.meet({ kind: 'status', status: 503, body: '{"error":"server busy, please try again."}' }, 100)
  await runs(10)
  expect(generated()).toBe(10)
})

describe('a hosted service', () => {
  const REAL: Clock = {
    now: () => Math.round(performance.now() + NOON),
    pass() {},
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  }
  const asked = { OPENAI_MODEL: 'm', CANARY_TOKENS: '8' }
  const SAYS = ['A', 'n', 's', 'w', 'e', 'r', ' ', '42']

  async function hosted(settings: object, env: Record<string, string> = {}, clock = REAL) {
    const server = await openOpenAI({ model: 'm', prefillMs: 1, tokenMs: 5, says: SAYS, ...settings }, REAL)
    open.push(server)
    return { server, look: watcherOn(clock, 'openai', { OPENAI_ENDPOINTS: `chat=${server.url}`, ...asked, ...env }) }
  }

  test('its tokens have a rate', async () => {
    const { look } = await hosted({})
    const rate = (await look()).result?.signals.canary_rate ?? 0
    expect(rate).toBeGreaterThan(20)
    expect(rate).toBeLessThan(250)
  })

  test('less than a tenth left of a rate limit is told before the first 429', async () => {
    const left = (n: number) => ({
      headers: { 'x-ratelimit-limit-requests': '500', 'x-ratelimit-remaining-requests': String(n) },
    })
    const enough = await hosted(left(60))
    expect((await enough.look()).told).toEqual([])
    const few = await hosted(left(40))
    const told = (await few.look()).told[0]
    expect(told).toContain('40 of 500 requests')
  })

  test('a rate limit is told once, is not over in between, and is over after two answers with a fifth left', async () => {
    let minutes = 0
    const clock = { ...REAL, now: () => REAL.now() + minutes * MINUTE }
    const headers: Record<string, string> = { 'x-ratelimit-limit-requests': '500' }
    const { look } = await hosted({ headers }, {}, clock)
    const looked: Looked[] = []
    for (const left of [300, 40, 20, 60, 99, 120, 150, 160, 200]) {
      headers['x-ratelimit-remaining-requests'] = String(left)
      looked.push(await look())
      minutes += 1
    }
    expect(looked.map(({ result }) => result?.alerts.quota)).toEqual([
      undefined,
      ...Array<string>(5).fill('firing'),
      undefined,
      undefined,
      undefined,
    ])
    expect(titles(looked)).toEqual(['1: 🎟️ chat: 40 of 500 requests left', expect.stringMatching(/^6: ✅ chat: /)])
    expect(looked[6]?.told[0]).toContain('lasted 5 min')
  })

  test('429 without words and with nothing left is our own limit; 529 is theirs', async () => {
    const { server, look } = await hosted({})
    const headers = { 'x-ratelimit-limit-tokens': '1000', 'x-ratelimit-remaining-tokens': '0' }
    server.meet({ kind: 'status', status: 429, headers })
    expect((await look()).told[0]).toContain("key's limit")
    const other = await hosted({})
    other.server.meet({ kind: 'status', status: 529, body: '{"error":{"message":"Overloaded"}}' })
    expect((await other.look()).told[0]).toContain('529')
  })

  test.each([
    ['with words', SAYS],
    ['with half a character, so without text', ['']],
  ])('case 408: another model that answers %s is told as one that is not there, with its name', async (_, says) => {
    const { look } = await hosted({ model: 'large', takesAnyName: true, answersAs: 'models/large.gguf', says })
    await look()
    const second = await look()
    expect(second.result?.alerts.blind).toBe('firing')
    expect(second.told[0]).toContain('models/large.gguf')
  })

  test('the last part of a path, a dated name and an alias that is listed are the model that was asked for', async () => {
    const path = await hosted({ model: 'org/m', takesAnyName: true, answersAs: 'm.gguf' }, { OPENAI_MODEL: 'org/m' })
    const dated = await hosted({ model: 'm', takesAnyName: true, answersAs: 'm-2026-08-06' })
    for (const { look } of [path, dated]) {
      await look()
      expect((await look()).result?.alerts).toEqual({})
    }
  })
})
