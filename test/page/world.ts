import { parseConfig } from '../../src/config/parse.ts'
import type { Config } from '../../src/model/config.ts'
import type { Observation } from '../../src/model/observation.ts'
import type { Store } from '../../src/model/store.ts'
import { settingsBy } from '../../src/page/limits.ts'
import { answer } from '../../src/page/routes.ts'
import { type RunReport, run } from '../../src/run.ts'
import { emptyReadings } from '../../src/signals/readings.ts'
import { readState } from '../../src/state/schema.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { BASE, SECRET } from './asking.ts'

export const START = Date.UTC(2026, 10, 30, 8, 0)
const MINUTE = 60_000

/** A watcher and its page over one store: minutes are minutes since the start. */
export function createWorld(env: Record<string, string> = {}) {
  const store = createMemoryStore(() => START)
  const variables = {
    VLLM_ENDPOINTS: 'chat/a=http://127.0.0.1:1001 chat/b=http://127.0.0.1:1002',
    NOTIFLY_URL: 'http://127.0.0.1:1003',
    PAGE_URL: BASE.url,
    PAGE_SECRET: SECRET,
    WAITING_REPEAT: '10m',
    GAP_LIMIT: 'off',
    ...env,
  }
  const parsed = parseConfig('vllm', variables, { lambda: false })
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'))
  const { config } = parsed
  let runs = 0
  let finished = 1_000

  async function watch(
    minute: number,
    waiting: readonly (number | null)[],
    options: { store?: Store; push?: 'delivered' | 'waiting' } = {},
  ): Promise<RunReport & { told: string[]; messages: RunReport['messages'] }> {
    const told: string[] = []
    runs += 1
    finished += 50
    const id = `run-${runs}`
    const now = START + minute * MINUTE
    const report = await run({
      config,
      deadline: now + 50_000,
      io: {
        now: () => now,
        sleep: async () => {},
        store: options.store ?? store,
        log: { debug() {}, info() {}, warn() {}, error() {} },
        runId: () => id,
        print() {},
      },
      network: {
        observe: async () => observationsOf(config, waiting, finished),
        ping: async () => {},
        push: async (message, _, { about = [] }) => {
          if (options.push === 'waiting') return { kind: 'waiting', misconfigured: false }
          told.push(...about.map((one) => `${one.split('|')[0] || one.split('|')[1]} ${one.split('/').at(-2)}`))
          void message
          return { kind: 'delivered', misconfigured: false }
        },
      },
    })
    return { ...report, told }
  }

  async function press(minute: number, link: string, choice: string, through: Store = store) {
    const given = parsedPage(through, START + minute * MINUTE)
    return answer(
      {
        method: 'POST',
        path: link.replace(BASE.url, ''),
        headers: { host: 'page.example', origin: 'null' },
        body: `do=${choice}`,
        bodyTooLarge: false,
      },
      given,
    )
  }

  function parsedPage(through: Store, now: number) {
    const page = {
      secrets: [SECRET],
      url: BASE.url,
      token: undefined,
      language: 'en' as const,
      timezone: 'UTC',
      state: { kind: 'file', dir: '' } as const,
      logLevel: 'info' as const,
      masked: [],
    }
    return {
      config: page,
      store: through,
      now,
      settingsOf: (backend: Config['backend']) => settingsBy(variables, backend),
    }
  }

  async function state() {
    const stored = await store.load('vllm.json')
    const read = readState(stored?.text ?? '')
    if (read.kind !== 'state') throw new Error('no state')
    return read.state
  }

  return { store, config, variables, watch, press, state }
}

function observationsOf(config: Config, waiting: readonly (number | null)[], finished: number): Observation[] {
  return config.endpoints.map((endpoint, index): Observation => {
    const value = waiting[index] ?? 1
    if (waiting[index] === null) return { endpoint, took: 1, up: false, failure: { kind: 'refused' } }
    const readings = emptyReadings()
    readings.gauges.waiting = { value }
    readings.gauges.running = { value: 4 }
    readings.gauges.kv_cache = { value: 0.2 }
    readings.counters.finished = { '': { value: finished } }
    readings.counters.generation_tokens = { '': { value: finished * 100 } }
    return { endpoint, took: 1, up: true, readings }
  })
}
