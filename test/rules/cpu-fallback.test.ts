import { expect, test } from 'vitest'
import type { Answer } from '../../src/model/observation.ts'
import { gaugeReadings } from '../../src/signals/readings.ts'
import { configOf, messagesOf, playRuns } from '../playing.ts'

const OLLAMA = { OLLAMA_URL: 'http://127.0.0.1:9009', OLLAMA_MODEL: 'qwen3:8b' }

function answered(share: number): Answer {
  return {
    up: true,
    readings: gaugeReadings({ canary_total: 0.1, canary_wait: 0, vram_share: share }, 'qwen3:8b'),
    canary: { status: 'answered', vramShare: share },
  }
}

/** What is pushed of a canary a minute; each number is the share of the model in GPU memory. */
function told(shares: readonly number[]): string[] {
  const runs = shares.map((share, minute) => ({ at: minute * 60_000, seen: () => answered(share) }))
  return playRuns(configOf('ollama', OLLAMA), runs).flatMap((run, minute) =>
    messagesOf(run).map(({ title }) => `${minute} ${title}`),
  )
}

const times = (n: number, share: number) => new Array<number>(n).fill(share)

test('case 238: a model that runs on the CPU after 70 good canaries is told once, and over when it is back', () => {
  expect(told([...times(70, 1), ...times(15, 0), ...times(2, 1)])).toEqual([
    expect.stringMatching(/^70 .*ollama: model runs on the CPU now/),
    expect.stringMatching(/^86 .*ollama: model is in GPU memory again/),
  ])
})

test('a near miss: a model that was always half on the CPU, and one that loses a little', () => {
  expect(told([...times(70, 0.5), ...times(5, 0.4)])).toEqual([])
  expect(told([...times(70, 1), ...times(5, 0.6)])).toEqual([])
})

test('without a past nothing is a fall', () => {
  expect(told(times(15, 0))).toEqual([])
})
