import { describe, expect, test } from 'vitest'
import { inner } from '../../src/messages/number-format.ts'
import type { Backend } from '../../src/model/backend.ts'
import type { Message } from '../../src/model/message.ts'
import type { Answer, BeatFacts } from '../../src/model/observation.ts'
import { emptyReadings, gaugeReadings } from '../../src/signals/readings.ts'
import { configOf, messagesOf, playRuns } from '../playing.ts'

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
    const [fired, resolved] = told(backend, env, runs)
    expect(fired?.title).toContain(inner(headline))
    expect(resolved?.body).toContain(`“${headline}” lasted`)
  })
})

/** What is told of one endpoint that is seen like this each minute. */
function told(backend: Backend, env: Record<string, string>, answers: readonly Answer[]): Message[] {
  const runs = answers.map((answer, minute) => ({ at: minute * 60_000, seen: () => answer }))
  return playRuns(configOf(backend, env), runs).flatMap(messagesOf)
}
