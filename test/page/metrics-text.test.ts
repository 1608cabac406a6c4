import { execFileSync, spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { openTestPage } from './asking.ts'
import { calm, down, many, NOW, queueing, stateOf } from './states.ts'

const hasPromtool = spawnSync('promtool', ['--version']).status === 0
const MACHINE = { headers: { authorization: 'Bearer machine-token' } }

async function metrics(states: Parameters<typeof openTestPage>[0]): Promise<string> {
  const { ask } = await openTestPage(states)
  return String((await ask('/metrics', MACHINE)).body)
}

test('alerts, signals and the age of the last run', async () => {
  const text = await metrics({
    vllm: stateOf(
      { 'chat/a': queueing(), 'chat/b': { ...calm(1), alerts: { kv_cache: { phase: 'pending' } } } },
      {},
      NOW - 90_000,
    ),
    tgi: '{',
  })
  for (const line of [
    'queuebell_alert_firing{function="vllm",endpoint="chat/a",rule="waiting"} 1',
    'queuebell_alert_firing{function="vllm",endpoint="chat/b",rule="kv_cache"} 0',
    'queuebell_signal{function="vllm",endpoint="chat/a",signal="waiting"} 42',
    'queuebell_run_age_seconds{function="vllm"} 90',
    'queuebell_endpoint_up{function="vllm",endpoint="chat/a"} 1',
    'queuebell_state_readable{function="tgi"} 0',
  ])
    expect(text.split('\n')).toContain(line)
})

test.skipIf(!hasPromtool)('promtool finds no fault (skipped where Prometheus is not installed)', async () => {
  const odd = 'gpu "0"\\ of\nbox'
  for (const states of [
    {
      vllm: stateOf(many(30, 6)),
      tgi: '{',
      sglang: stateOf({ a: { ...queueing(), alerts: { [`gpu_xid@${odd}`]: {} } }, b: down() }),
    },
    {},
  ]) {
    const text = await metrics(states)
    expect(
      execFileSync('promtool', ['check', 'metrics'], { input: text, stdio: ['pipe', 'pipe', 'pipe'] }).toString(),
    ).toBe('')
  }
})
