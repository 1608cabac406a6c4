import { describe, expect, test } from 'vitest'
import { parseConfig } from '../../src/config/parse.ts'
import { compose } from '../../src/messages/compose.ts'
import { group } from '../../src/messages/group.ts'
import type { Backend } from '../../src/model/backend.ts'
import type { Answer, BeatFacts, Observation } from '../../src/model/observation.ts'
import { evaluate } from '../../src/rules/evaluate.ts'
import { emptyReadings, gaugeReadings } from '../../src/signals/readings.ts'
import { settle } from '../../src/state/outbox.ts'
import { emptyState, readState, writeState } from '../../src/state/schema.ts'

const START = Date.UTC(2026, 5, 1)
const good: Answer = { up: true, readings: { ...emptyReadings(), modelFound: true } }
const withoutModel: Answer = { up: true, readings: { ...emptyReadings(), modelFound: false } }
const refused: Answer = { up: false, failure: { kind: 'not-authorised', status: 401 } }
const beat = (beat: BeatFacts): Answer => ({
  up: true,
  readings: gaugeReadings({ beat_age: (beat.age ?? 0) / 1000 }),
  beat,
})
const ollama = { OLLAMA_URL: 'http://127.0.0.1:9009', OLLAMA_MODEL: 'qwen3:8b' }
const workers = { HEARTBEAT_WORKERS: 'indexer=60s+30s' }

describe('the end of an alert is told as what was told', () => {
  test.each<[string, Backend, Record<string, string>, Answer[], string]>([
    ['a refused watcher', 'ollama', ollama, [refused, refused, refused, good, good], 'Watcher is not authorised (401)'],
    [
      'a model that was missing',
      'ollama',
      ollama,
      [withoutModel, withoutModel, good, good],
      'Model is not on the server',
    ],
    [
      'a worker that failed',
      'heartbeat-check',
      workers,
      [beat({ age: 1000, failed: { exit: 3 } }), beat({ age: 1000 }), beat({ age: 1000 })],
      'Worker failed',
    ],
    [
      'a worker that was silent',
      'heartbeat-check',
      workers,
      [beat({ age: 200_000 }), beat({ age: 1000 }), beat({ age: 1000 })],
      'Worker is silent',
    ],
  ])('%s', (_, backend, env, runs, headline) => {
    const [fired, resolved] = messagesOf(backend, env, runs)
    expect(fired?.title).toContain(headline)
    expect(resolved?.body).toContain(`“${headline}” lasted`)
  })
})

/** What is told of one endpoint that is seen like this each minute; every push is accepted, and the state goes through JSON. */
function messagesOf(backend: Backend, env: Record<string, string>, runs: readonly Answer[]) {
  const parsed = parseConfig(backend, env, { lambda: false })
  if ('problems' in parsed) throw new Error(parsed.problems.join('\n'))
  let state = emptyState()
  return runs.flatMap((seen, minute) => {
    const now = START + minute * 60_000
    const observations = parsed.config.endpoints.map((endpoint) => ({ endpoint, took: 1, ...seen }) as Observation)
    const evaluation = evaluate(state, observations, parsed.config, now)
    const facts = evaluation.state.outbox.map(({ notification }) => notification)
    const delivered = facts.map(({ id }) => ({ id, kind: 'delivered' as const }))
    const saved = readState(writeState(settle(evaluation.state, delivered, now, 'run')))
    if (saved.kind === 'state') state = saved.state
    return group(facts).map((one) => compose(one, 'en', { markdown: false, link: () => undefined, now }))
  })
}
