import { parseConfig } from '../src/config/parse.ts'
import { compose } from '../src/messages/compose.ts'
import { group } from '../src/messages/group.ts'
import { type Backend, prefixOf, type ScrapedBackend } from '../src/model/backend.ts'
import type { Config, Endpoint } from '../src/model/config.ts'
import type { Message } from '../src/model/message.ts'
import type { Notification } from '../src/model/notification.ts'
import type { Answer, Observation } from '../src/model/observation.ts'
import type { EndpointResult } from '../src/model/result.ts'
import { type Evaluation, evaluate } from '../src/rules/evaluate.ts'
import { settle } from '../src/state/outbox.ts'
import { emptyState, readState, type State, writeState } from '../src/state/schema.ts'
import { LONG } from './long.ts'
import { readingsOf } from './scrape/reading.ts'
import type { Served } from './stories/story.ts'

const START = Date.UTC(2026, 5, 1)

/** Of an endpoint in one run: what it serves, or what was seen of it where that is no page. */
export type Seen = Served | Answer

export interface Run {
  /** Milliseconds after the start. */
  at: number
  seen: (endpoint: Endpoint) => Seen
}

export interface PlayedRun {
  now: number
  evaluation: Evaluation
  /** Grouped as they are pushed. */
  groups: Notification[][]
}

/** The configuration of a backend with one endpoint `a`, or those that the variables name. */
export function configOf(backend: Backend, env: Record<string, string> = {}): Config {
  const address = backend in NAMED_OTHERWISE ? {} : { [`${prefixOf(backend)}_ENDPOINTS`]: 'a=http://127.0.0.1:9009/a' }
  const parsed = parseConfig(backend, { ...address, ...env }, { lambda: false })
  if ('problems' in parsed) throw new Error(parsed.problems.join('\n'))
  return parsed.config
}
const NAMED_OTHERWISE = { ollama: true, openai: true, 'heartbeat-check': true }

/** Plays runs on the pure part alone: what is seen → decisions; every push is accepted at once, the state goes through JSON: after each run, or after one in four by `npm test`. */
export function playRuns(config: Config, runs: readonly Run[], start = START): PlayedRun[] {
  let state = emptyState()
  return runs.map(({ at, seen }, index) => {
    const now = start + at
    const observations = config.endpoints.map((endpoint) =>
      observationOf(config.backend, endpoint, seen(endpoint), now),
    )
    const evaluation = evaluate(state, observations, config, now)
    state = afterDelivery(evaluation.state, now, LONG || index % 4 === 0)
    return { now, evaluation, groups: group(evaluation.state.outbox.map(({ notification }) => notification)) }
  })
}

function afterDelivery(state: State, now: number, isStored: boolean): State {
  const delivered = state.outbox.map(({ notification: { id } }) => ({ id, kind: 'delivered' as const }))
  const settled = settle(state, delivered, now, 'run')
  if (!isStored) return settled
  const read = readState(writeState(settled))
  if (read.kind !== 'state') throw new Error(`at ${now}: ${JSON.stringify(read)}`)
  return read.state
}

export function observationOf(backend: Backend, endpoint: Endpoint, seen: Seen, now: number): Observation {
  const asked = { endpoint, took: 1 }
  if (seen === 'refused') return { ...asked, up: false, failure: { kind: 'refused', code: 'ECONNREFUSED' } }
  if (typeof seen === 'string')
    return { ...asked, up: true, readings: readingsOf(backend as ScrapedBackend, seen, endpoint.model, now) }
  if ('up' in seen) return { ...asked, ...seen }
  return { ...asked, up: false, failure: { kind: 'http', status: seen.status } }
}

/** The pushes of a run as text. */
export function messagesOf({ groups, now }: PlayedRun): Message[] {
  return groups.map((one) => compose(one, 'en', { markdown: false, link: () => undefined, now }))
}

export interface Played {
  /** All that was told, in its order. */
  told: Notification[]
  messages: Message[]
  /** The endpoint as the last run's result has it. */
  last: EndpointResult | undefined
}

/** Lets one endpoint answer a page a minute (or each `gap`, milliseconds). */
export function play(
  backend: ScrapedBackend,
  pages: readonly string[],
  env: Record<string, string> = {},
  gap = 60_000,
): Played {
  const runs = playRuns(
    configOf(backend, env),
    pages.map((page, index) => ({ at: index * gap, seen: () => page })),
  )
  return {
    told: runs.flatMap(({ evaluation }) => evaluation.state.outbox.map(({ notification }) => notification)),
    messages: runs.flatMap(messagesOf),
    last: runs.at(-1)?.evaluation.endpoints[0],
  }
}
