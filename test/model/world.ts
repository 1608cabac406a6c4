import { parseConfig } from '../../src/config/parse.ts'
import type { Config } from '../../src/model/config.ts'
import type { IO } from '../../src/model/io.ts'
import type { Observation } from '../../src/model/observation.ts'
import { type Saved, type Store, type Stored, StoreError, type Version } from '../../src/model/store.ts'
import type { PushOutcome } from '../../src/push/push-to.ts'
import type { Network } from '../../src/run.ts'
import { type RunReport, run } from '../../src/run.ts'
import { emptyReadings } from '../../src/signals/readings.ts'
import { changeState } from '../../src/state/change.ts'
import { readState } from '../../src/state/schema.ts'
import { acknowledge, addSilence } from '../../src/state/silences.ts'
import { createMemoryStore } from '../../src/store/memory.ts'

/** What the endpoints show in one turn. */
export type Weather = 'low' | 'between' | 'high' | 'flood' | 'full' | 'fails' | 'restarts' | 'one-fails'

/** One fault of the store, at its n-th operation in a run (0 is the first read). */
export interface StoreFault {
  at: number
  kind: 'answer-lost' | 'not-done' | 'conflict' | 'refused' | 'stale'
}

export type PushFault =
  | 'none'
  | 'waiting'
  | 'retry-later'
  | 'limited'
  | 'misconfigured'
  | 'refused'
  | 'lost'
  | 'arrived-answer-lost'

/** One scheduled run, and all that goes wrong in it. */
export interface Turn {
  /** Minutes since the last tick: 0 is the same tick again, more than 1 are missing ones. */
  minutes: number
  weather: Weather
  store?: StoreFault | undefined
  /** By channel. */
  push: Readonly<Record<string, PushFault>>
  /** The process dies before (or after) its n-th operation of any kind took effect. */
  kill?: { at: number; after: boolean } | undefined
  /** A second process runs at the same time, for the same tick or already for the next; microtask pauses before each operation of the two. */
  /** Somebody silences endpoint a for so many minutes, or acknowledges what fires there, just before the n-th operation of the process. */
  press?: { at: number; minutes: number | 'acknowledge' } | undefined
  overlap?: { pauses: readonly number[]; next: boolean } | undefined
}

/** One push that reached a channel. */
export interface Arrival {
  channel: string
  ids: readonly string[]
  at: number
}

const WAITING: Partial<Record<Weather, number>> = { high: 42, between: 15, flood: 250 }
const START = Date.UTC(2026, 0, 5)
const MINUTE = 60_000
const never = new Promise<never>(() => {})

/**
 * Plays turns against the real run with a store and a push server that fail as told, and keeps the books.
 * @param ticked the schedule names its ticks, as EventBridge does; cron and a laptop do not.
 * @param more channels beside `notifly`: variables that declare them.
 */
export function createWorld(ticked: boolean, more: Readonly<Record<string, string>> = {}) {
  const store = createMemoryStore(() => now)
  const config = configure()
  let now = START
  let tick = START
  let serial = 0
  const arrivals: Arrival[] = []
  /** `<channel> <incident>`, as the next. */
  const refused = new Set<string>()
  /** Incidents in a push whose run did not settle it, or whose answer was lost: these may be told twice there. */
  const tainted = new Set<string>()
  const incidents = new Set<string>()
  /** Alerts that fire and belong to no open incident. */
  const orphans = new Set<string>()
  const weatherAt = new Map<number, Weather>()
  let presses = 0
  /** Silences of endpoint a, from when until when; incidents that somebody took; those that were in a silence at some time. */
  const silenced = new Map<number, number>()
  const acknowledged = new Set<string>()
  const quiet = new Set<string>()
  let totals = 1_000
  let before: Stored | undefined

  function configure(): Config {
    const parsed = parseConfig(
      'vllm',
      {
        VLLM_ENDPOINTS: 'a=http://127.0.0.1:1001 b=http://127.0.0.1:1002',
        NOTIFLY_URL: 'http://127.0.0.1:1003',
        NOTIFLY_TOKEN: 't',
        ...more,
        KV_CACHE_FOR: '0s',
      },
      { lambda: false },
    )
    if ('problems' in parsed) throw new Error(parsed.problems.join('\n'))
    return parsed.config
  }

  function observe(weather: Weather): Observation[] {
    totals = weather === 'restarts' ? 1 : totals + 50
    return config.endpoints.map((endpoint): Observation => {
      if (weather === 'fails' || (weather === 'one-fails' && endpoint.name === 'b')) {
        return { endpoint, took: 1, up: false, failure: { kind: 'refused', code: 'ECONNREFUSED' } }
      }
      const waiting = endpoint.name === 'a' ? (WAITING[weather] ?? 1) : 1
      const readings = emptyReadings()
      readings.gauges.waiting = { value: waiting }
      readings.gauges.running = { value: 4 }
      // A second symptom of the same trouble, by itself too.
      readings.gauges.kv_cache = {
        value: endpoint.name === 'a' && (weather === 'full' || weather === 'flood') ? 0.95 : 0.2,
      }
      readings.counters.finished = { '': { value: totals } }
      readings.counters.generation_tokens = { '': { value: totals * 100 } }
      return { endpoint, took: 1, up: true, readings }
    })
  }

  function process(
    turn: Turn,
    pauses: readonly number[],
    at: { now: number; tick: number },
  ): Promise<RunReport | 'died' | 'threw'> {
    let operation = 0
    let storeOperation = 0
    let died: (() => void) | undefined
    // Channels are pushed to side by side: none of them outlives the process.
    let isDead = false
    const death = new Promise<'died'>((resolve) => {
      died = () => {
        isDead = true
        resolve('died')
      }
    })
    const pushed: { channel: string; ids: readonly string[] }[] = []
    const step = async <T>(act: () => Promise<T>): Promise<T> => {
      const mine = operation++
      for (let i = 0; i < (pauses[mine % Math.max(1, pauses.length)] ?? 0); i += 1) await null
      if (isDead) return never
      if (turn.kill?.at === mine && !turn.kill.after) {
        died?.()
        return never
      }
      if (turn.press?.at === mine) {
        await press(turn.press.minutes, at.now)
        if (isDead) return never
      }
      const result = await act()
      if (isDead) return never
      if (turn.kill?.at === mine) {
        died?.()
        return never
      }
      return result
    }
    const faulty = <T>(act: () => Promise<T>): Promise<T> =>
      step(async () => {
        const fault = turn.store?.at === storeOperation++ ? turn.store.kind : undefined
        if (fault === 'not-done') throw new StoreError('500', false)
        if (fault === 'refused') throw new StoreError('403', true)
        const result = await act()
        if (fault === 'answer-lost') throw new StoreError('no answer', false)
        return result
      })
    const wrapped: Store = {
      ...store,
      load: (key) =>
        faulty(async () =>
          turn.store?.kind === 'stale' && turn.store.at === storeOperation - 1 ? before : store.load(key),
        ),
      save: (key: string, text: string, version: Version | undefined): Promise<Saved> =>
        faulty(async () => {
          if (turn.store?.kind === 'conflict' && turn.store.at === storeOperation - 1) {
            const current = await store.load(key)
            if (current) await store.save(key, current.text, current.version) // written again as it is: only the version moves
            return 'conflict'
          }
          before = await store.load(key)
          return store.save(key, text, version)
        }),
    }
    const network: Network = {
      observe: async () => observe(turn.weather),
      ping: async () => {},
      push: (_what, { name: channel }, { about = [] }) =>
        step(async (): Promise<PushOutcome> => {
          const fault = turn.push[channel] ?? 'none'
          const outcome = answer(fault)
          const arrived = outcome.kind === 'delivered' || fault === 'arrived-answer-lost'
          if (arrived) {
            arrivals.push({ channel, ids: about, at: at.now })
            pushed.push({ channel, ids: about })
          }
          if (fault === 'arrived-answer-lost') taint(channel, about)
          if (outcome.kind === 'refused') for (const id of about) refused.add(`${channel} ${incidentOf(id)}`)
          return outcome
        }),
    }
    serial += 1
    const id = `run-${serial}`
    const io: IO = {
      now: () => at.now,
      sleep: async () => {},
      store: wrapped,
      log: { debug() {}, info() {}, warn() {}, error() {} },
      runId: () => id,
      print() {},
    }
    weatherAt.set(at.now, turn.weather)
    const running = run({ config, io, tick: ticked ? at.tick : undefined, deadline: at.now + 50_000, network }).catch(
      (error: unknown) => {
        if (!(error instanceof StoreError)) throw error
        return 'threw' as const
      },
    )
    return Promise.race([running, death]).then((end) => {
      if (end === 'died' || end === 'threw') for (const { channel, ids } of pushed) taint(channel, ids)
      return end
    })
  }

  /** As the page writes it: by compare-and-swap on what is there. */
  async function press(minutes: number | 'acknowledge', now: number): Promise<void> {
    const id = `press-${++presses}`
    // Two of one moment would be one notification.
    if (silenced.has(now)) return
    const changed = await changeState(store, 'vllm.json', (state) => {
      if (minutes === 'acknowledge') {
        const open = Object.values(state.endpoints.a?.incidents ?? {}).filter(({ over }) => !over)
        const taken = open.map(({ id: incident }) => incident)
        for (const one of taken) acknowledged.add(one)
        return taken.length === 0 ? state : acknowledge(state, taken, now, 'link')
      }
      return addSilence(
        state,
        { id, scope: 'endpoint', name: 'a', from: now, until: now + minutes * MINUTE, by: 'link' },
        'vllm',
      )
    })
    if (minutes !== 'acknowledge' && changed.kind === 'changed') silenced.set(now, now + minutes * MINUTE)
  }

  function taint(channel: string, ids: readonly string[]): void {
    for (const id of ids) tainted.add(`${channel} ${incidentOf(id)}`)
  }

  return {
    config,
    arrivals,
    refused,
    tainted,
    incidents,
    orphans,
    weatherAt,
    silenced,
    quiet,
    async play(turn: Turn): Promise<void> {
      tick += turn.minutes * MINUTE
      // The same tick comes again a little later; a late one keeps its own time.
      now = turn.minutes === 0 ? now + 1_000 : Math.max(now + 1_000, tick)
      const { pauses = [], next = false } = turn.overlap ?? {}
      const first = process(turn, pauses, { now, tick })
      if (turn.overlap) {
        if (next) tick += MINUTE
        now += 2_000
        const healthy = { ...turn, kill: undefined, store: undefined }
        await process(healthy, [...pauses].reverse(), { now, tick })
      }
      await first
      const text = (await store.load('vllm.json'))?.text
      if (text === undefined) return
      const read = readState(text)
      if (read.kind !== 'state') throw new Error(`the state cannot be read: ${JSON.stringify(read)}`)
      for (const [name, endpoint] of Object.entries(read.state.endpoints)) {
        const open = Object.values(endpoint.incidents).filter(({ over }) => !over)
        for (const { id, openedAt } of open) {
          if (name === 'a' && [...silenced].some(([begin, end]) => begin <= now && openedAt < end)) quiet.add(id)
          else incidents.add(id)
        }
        for (const [key, { phase }] of Object.entries(endpoint.alerts)) {
          const isTold = open.some(({ symptoms, calmSince }) => key in symptoms && calmSince === undefined)
          if (phase === 'firing' && !isTold) orphans.add(`${name}|${key} at ${now}`)
        }
      }
    },
    async state() {
      const text = (await store.load('vllm.json'))?.text ?? ''
      const read = readState(text)
      if (read.kind !== 'state') throw new Error('no state')
      return read.state
    },
  }
}

export function incidentOf(id: string): string {
  return id.slice(0, id.indexOf('/'))
}

export function reasonOf(id: string): string {
  return id.split('/')[1] ?? ''
}

function answer(fault: PushFault): PushOutcome {
  switch (fault) {
    case 'none':
      return { kind: 'delivered', misconfigured: false }
    case 'waiting':
      return { kind: 'waiting', misconfigured: false }
    case 'retry-later':
      return { kind: 'waiting', misconfigured: false, retryAfter: 150_000 }
    case 'limited':
      return { kind: 'waiting', misconfigured: false, retryAfter: 90_000, limits: 1 }
    case 'misconfigured':
      return { kind: 'waiting', misconfigured: true, status: 401 }
    case 'refused':
      return { kind: 'refused', misconfigured: false, status: 400 }
    case 'lost':
    case 'arrived-answer-lost':
      return { kind: 'unanswered', misconfigured: false }
    default:
      return fault satisfies never
  }
}
