import { expect, test } from 'vitest'
import { readState, type State, writeState } from '../../src/state/schema.ts'
import { configOf, playRuns } from '../playing.ts'
import { busyEngine } from '../stories/busy-engine.ts'

const MINUTE = 60_000

/** With every rule that is off by default. */
const ALL = { SLO_TTFT: '2s', QUEUE_TAIL_LIMIT: '5s', E2E_LIMIT: '60s', ITL_LIMIT: '200ms', INFLIGHT_LIMIT: '1100' }

function statesOf(minutes: number, badFrom: number, perMinute: number, env: Record<string, string> = {}): State[] {
  const runs = [...busyEngine({ minutes, badFrom, perMinute })].map((page, minute) => ({
    at: minute * MINUTE,
    seen: () => page,
  }))
  return playRuns(configOf('vllm', env), runs).map(({ evaluation }) => evaluation.state)
}

/** Bytes of the one endpoint, as it is stored. */
function sizeOf(state: State): number {
  const alone = { ...state, outbox: [] }
  return Buffer.byteLength(writeState(alone)) - Buffer.byteLength(writeState({ ...alone, endpoints: {} }))
}

test('what is stored is read as it was, in peace and in trouble', () => {
  for (const state of statesOf(90, 75, 300, ALL).filter((_, minute) => minute % 5 === 0)) {
    expect(readState(writeState(state))).toEqual({ kind: 'state', state: JSON.parse(JSON.stringify(state)) })
  }
})

/** So that every bin of running requests gets a past, as after a day of all loads. */
function withAllLoads(page: string, minute: number): string {
  return page.replace(
    /(num_requests_running\{.*\}) \d+/,
    (_, name) => `${name} ${Math.round(2 ** ((minute * 7) % 11))}`,
  )
}

test.each([3, 300, 1_000])(
  'one busy engine with %d requests a minute, every rule and a past at every load takes less than 8 KiB, also in trouble',
  (perMinute) => {
    const pages = [...busyEngine({ minutes: 260, badFrom: 230, perMinute })].map(withAllLoads)
    const runs = pages.map((page, minute) => ({ at: minute * MINUTE, seen: () => page }))
    const states = playRuns(configOf('vllm', ALL), runs).map(({ evaluation }) => evaluation.state)
    const { alerts = {}, baselines = {} } = states.at(-1)?.endpoints.a ?? {}
    expect(Object.keys(alerts).length).toBeGreaterThanOrEqual(9)
    expect(Object.keys(baselines).length).toBeGreaterThanOrEqual(18)
    expect(Math.max(...states.map(sizeOf))).toBeLessThan(8 * 1_024)
  },
)

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
  ['bounds that are not in the list', (endpoint) => ({ ...endpoint, bounds: [] })],
  ['an alert of another form', (endpoint) => ({ ...endpoint, alerts: { waiting: { phase: 'firing' } } })],
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
