import { expect, test } from 'vitest'
import { readState, type State, writeState } from '../../src/state/schema.ts'
import { configOf, playRuns } from '../playing.ts'
import { busyEngine } from '../stories/busy-engine.ts'

const MINUTE = 60_000

function statesOf(minutes: number, badFrom: number, perMinute: number): State[] {
  const runs = [...busyEngine({ minutes, badFrom, perMinute })].map((page, minute) => ({
    at: minute * MINUTE,
    seen: () => page,
  }))
  return playRuns(configOf('vllm'), runs).map(({ evaluation }) => evaluation.state)
}

/** Bytes of the one endpoint, as it is stored. */
function sizeOf(state: State): number {
  const alone = { ...state, outbox: [] }
  return Buffer.byteLength(writeState(alone)) - Buffer.byteLength(writeState({ ...alone, endpoints: {} }))
}

test('what is stored is read as it was, in peace and in trouble', () => {
  for (const state of statesOf(90, 75, 300).filter((_, minute) => minute % 5 === 0)) {
    expect(readState(writeState(state))).toEqual({ kind: 'state', state: JSON.parse(JSON.stringify(state)) })
  }
})

test.each([3, 300])('one busy engine with %d requests a minute takes less than 8 KiB, also in trouble', (perMinute) => {
  const states = statesOf(210, 190, perMinute)
  const firing = Object.keys(states.at(-1)?.endpoints.a?.alerts ?? {})
  expect(firing.length).toBeGreaterThanOrEqual(6)
  expect(Math.max(...states.map(sizeOf))).toBeLessThan(8 * 1_024)
})

test('label sets that are odd come back as they were', () => {
  const [state] = statesOf(3, 3, 30).slice(-1)
  const endpoint = state?.endpoints.a
  if (!state || !endpoint?.history) throw new Error('no history')
  const odd = ['', 'a="b,c",d="e\\"f="', 'no label', 'a="1",', '0,1', 'constructor="x"']
  const finished = Object.fromEntries(odd.map((labels, last) => [labels, { last, steps: [0, last] }]))
  const history = { ...endpoint.history, counters: { finished } }
  const stored = writeState({ ...state, endpoints: { a: { ...endpoint, history } } })
  const read = readState(stored)
  expect(read.kind === 'state' && read.state.endpoints.a?.history?.counters.finished).toEqual(finished)
})

test.each<[string, (endpoint: Record<string, unknown>) => unknown]>([
  ['a label that is not in the list', (endpoint) => ({ ...endpoint, labels: [] })],
  ['no list of runs', (endpoint) => ({ ...endpoint, recent: null })],
  [
    'a counter without a value',
    (endpoint) => ({ ...endpoint, history: { times: [1], counters: { finished: { 0: [] } }, histograms: {} } }),
  ],
  ['no endpoint at all', () => 5],
])('a stored state with %s is broken, not thrown at', (_, spoil) => {
  const stored = JSON.parse(writeState(statesOf(3, 3, 30).at(-1) as State))
  stored.endpoints.a = spoil(stored.endpoints.a)
  expect(readState(JSON.stringify(stored)).kind).toBe('broken')
})
