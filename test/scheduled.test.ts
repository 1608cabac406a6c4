import { expect, test } from 'vitest'
import { limitOf } from '../src/scheduled.ts'
import { configOf } from './config/outcome.ts'

test.each([
  ['a minute less what a run needs beside', {}, 50_000],
  ['a slow answer its whole time and the run ten seconds after it', { OLLAMA_A_TIMEOUT: '90s' }, 100_000],
  ['loading a model its own time', { CANARY_LOAD: 'yes', CANARY_LOAD_TIMEOUT: '3m' }, 230_000],
])('without a platform to end it a run has %s', (_, variables, ms) => {
  const two = { OLLAMA_ENDPOINTS: 'a=http://h1 b=http://h2', OLLAMA_MODEL: 'm' }
  const config = configOf('ollama', { ...two, ...variables })
  expect(limitOf(config)).toBe(ms)
  expect(limitOf(config, { getRemainingTimeInMillis: () => 30_000 })).toBe(29_000)
})
