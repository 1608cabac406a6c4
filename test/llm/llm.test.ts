import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ollamaCanary } from '../../src/canary/ollama.ts'
import { openaiCanary } from '../../src/canary/openai.ts'
import { endpointAt, factsOf, gaugesOf, optionsOn, REQUEST_ID } from '../canary/asking.ts'
import { NAME, type Served, serveModel } from './endpoints.ts'
import { type LanguageModel, openLanguageModel, whyNot } from './llm.ts'

const missing = whyNot()
if (missing) console.log(`canaries against a real language model: skipped, ${missing}`)

/** Two clocks and a connection lie between what the engine and what the canary sees. Seconds. */
const APART = 0.25

describe.skipIf(missing !== undefined)('against a real language model', { timeout: 60_000 }, () => {
  let model: LanguageModel
  let server: Served

  beforeAll(async () => {
    model = await openLanguageModel()
    server = await serveModel(model)
  }, 60_000)
  afterAll(async () => {
    await server.close()
    await model.close()
  })

  const clock = () => performance.now()
  const load = { canary: { load: true, loadTimeout: 30_000 } }
  const ask = {
    openai: () => openaiCanary(endpointAt(server.url, { model: NAME }), optionsOn(clock)),
    ollama: (change = {}) => ollamaCanary(endpointAt(server.url, { model: NAME }), optionsOn(clock, change)),
  }
  const last = () => {
    const work = model.done.at(-1)
    if (!work) throw new Error('nothing was computed')
    return { wait: work.wait / 1_000, load: work.load / 1_000, compute: (work.prefill + work.decode) / 1_000 }
  }

  /** Users whose answers are long; they are asked for at once and computed one after the other. */
  const users = (count: number) =>
    Array.from({ length: count }, (_, index) => model.generate(`Tell me story ${index}`, 1_500))

  test('Ollama: a model that is not loaded stays so, unless we are asked to load it; then loading is not waiting', async () => {
    await model.unload()
    expect(factsOf(await ask.ollama())).toMatchObject({ status: 'not-loaded' })
    expect(model.loaded()).toBe(false)
    expect(model.done).toEqual([])
    const cold = await ask.ollama(load)
    const phases = gaugesOf(cold)
    console.log('ollama, cold:', phases)
    expect(factsOf(cold)).toMatchObject({ status: 'cold-load' })
    expect(phases.canary_load).toBeCloseTo(last().load, 3)
    expect(phases.canary_load).toBeGreaterThan(0.001)
    expect(phases.canary_wait).toBeLessThan(APART)
  })

  test('idle: every phase is there and short, and together they are the whole', async () => {
    await model.load()
    const ollama = gaugesOf(await ask.ollama())
    const { canary_total: total = 0, canary_wait: wait, canary_load: loading, ...computing } = ollama
    console.log('ollama, idle:', ollama)
    expect(factsOf(await ask.ollama())).toMatchObject({ status: 'answered' })
    expect(Object.keys(computing).sort()).toEqual(['canary_decode', 'canary_prefill'])
    expect(computing.canary_prefill).toBeGreaterThan(0)
    const sum = (wait ?? 0) + (loading ?? 0) + (computing.canary_prefill ?? 0) + (computing.canary_decode ?? 0)
    expect(sum).toBeCloseTo(total, 6)
    expect(wait).toBeLessThan(APART)

    const openai = gaugesOf(await ask.openai())
    console.log('openai, idle:', openai)
    expect(openai.canary_ttft).toBeGreaterThan(0)
    expect(openai.canary_ttft).toBeLessThan(last().compute + APART)
    expect(openai.canary_total).toBeGreaterThanOrEqual(openai.canary_ttft ?? Number.NaN)
  })

  test.each(['ollama', 'openai'] as const)('%s: a queue is waited for, as long as the engine says', async (server_) => {
    await model.load()
    const alone = await Promise.all(users(20))
    const crowd = users(20)
    const phases = gaugesOf(await ask[server_]())
    const { wait } = last()
    console.log(`${server_}, behind 20 users:`, phases, 'the engine:', last())
    expect(wait).toBeGreaterThan(0.1)
    const seen = server_ === 'ollama' ? phases.canary_wait : phases.canary_ttft
    expect(Math.abs((seen ?? Number.NaN) - wait)).toBeLessThan(APART)
    // Those who were before it have got what they get without it.
    const texts = (answers: { text: string }[]) => answers.map(({ text }) => text)
    expect(texts(await Promise.all(crowd))).toEqual(texts(alone))
  })

  test('it harms nothing: one token a canary, a short prompt, the same answers after a hundred of them', async () => {
    await model.load()
    const before = await model.generate('What is a queue?', 200)
    const from = model.done.length
    const memory = process.memoryUsage().rss
    for (let time = 0; time < 50; time += 1) {
      await ask.ollama()
      await ask.openai()
    }
    const canaries = model.done.slice(from)
    expect(canaries).toHaveLength(100)
    expect(new Set(canaries.map(({ tokens }) => tokens))).toEqual(new Set([1]))
    expect(Math.max(...canaries.map(({ promptTokens }) => promptTokens))).toBeLessThan(16)
    expect(Math.max(...canaries.map(({ load: loading }) => loading))).toBeLessThan(100)
    expect(process.memoryUsage().rss - memory).toBeLessThan(64 * 1024 * 1024)
    expect((await model.generate('What is a queue?', 200)).text).toBe(before.text)
  })

  test('the server sees whose request it was', () => {
    const ids = server.asked.map(({ headers }) => headers['x-request-id'])
    expect(new Set(ids)).toEqual(new Set([REQUEST_ID]))
  })
})
