import { deliver, preview, type Sent } from './deliver.ts'
import { withFields } from './log.ts'
import { group } from './messages/group.ts'
import { type Config, functionName, NOTIFLY } from './model/config.ts'
import { defined } from './model/defined.ts'
import type { IO } from './model/io.ts'
import type { Message } from './model/message.ts'
import type { Observation } from './model/observation.ts'
import type { RunResult } from './model/result.ts'
import { type ObserveOptions, observe } from './observe.ts'
import { ping } from './push/ping.ts'
import { push } from './push/push.ts'
import { logAnswers, logDecisions, logRun, logWarnings } from './report/run-log.ts'
import type { Evaluation } from './rules/evaluate.ts'
import { evaluateWithSilences } from './rules/silences.ts'
import { versionsWanted } from './rules/versions.ts'
import { askVersions } from './scrape/version.ts'
import { inSpan, withSaveSpans } from './span.ts'
import { type Opened, openRun, type StateCodec, saveDecision, saveSettled } from './state/commit.ts'
import { legsOf } from './state/legs.ts'
import { claimDue, type Due } from './state/outbox.ts'
import { endpointOf, type Outgoing, type State } from './state/schema.ts'
import { type Discovered, discover } from './targets/discover.ts'
import { load } from './targets/load.ts'

/** What a run does over the network beside its store: ask where endpoints are and how they are, push, ping. */
export interface Network {
  observe(config: Config, io: IO, options: ObserveOptions): Promise<Observation[]>
  push: typeof push
  ping: typeof ping
  /** The real one unless another is given. */
  load?: typeof load
  /** Absent: nobody is asked for a version. */
  askVersions?: typeof askVersions
}

export const NETWORK: Network = { observe, push, ping, askVersions }

export interface RunOptions {
  config: Config
  io: IO
  /** Epoch milliseconds of the scheduled tick, where the schedule names one. */
  tick?: number | undefined
  /** Sends and saves nothing. */
  dryRun?: boolean
  /** Epoch milliseconds by which the run must have ended. */
  deadline: number
  /** The real network unless another is given. */
  network?: Network
  /** JSON text in the store unless told. */
  codec?: StateCodec
}

export interface RunReport {
  result: RunResult
  /** With the endpoints that were found at this run. */
  config: Config
  /** The pushes of this run as text: tried, or with `dryRun` those that would be. */
  messages: Message[]
  /** Why the run must count as failed although it completed: push server misconfigured, a message waits too long. */
  problems: string[]
  decisions: Evaluation['decisions']
}

/** Kept back from the time for scrapes: to save, push and settle. */
const RESERVE = 8_000
/** Kept back from the time for pushes: to settle. */
const SETTLING = 2_000
/** A notification that waits longer than this makes the run fail, so that the platform's own alarm tells. */
const WAITS_TOO_LONG = 15 * 60_000
const RUNS_KEPT = 8
const LONGEST_PING = 5_000
const SHORTEST_PING = 200

interface Decision {
  evaluation: Evaluation
  state: State
  due: Due[]
}

/**
 * One run: load the state, ask every endpoint, evaluate, save with what is to be pushed, push it, settle, save.
 * The clock is read once for all judgements; later readings only measure the time that is left.
 * @throws {StoreError | StateError} when the state cannot be read or written.
 */
export async function run(options: RunOptions): Promise<RunReport> {
  const { pingUrl, secrets } = options.config
  const network = options.network ?? NETWORK
  const id = options.io.runId()
  const about = { function: functionName(options.config), requestId: options.io.requestId ?? id }
  const io = { ...options.io, log: withFields(options.io.log, about) }
  const now = io.now()
  const tell = async (ok: boolean) => {
    if (pingUrl === undefined || options.dryRun) return
    // A ping that hangs must not make a run that is done look as if it had not ended.
    const timeout = Math.min(LONGEST_PING, Math.max(SHORTEST_PING, options.deadline - io.now()))
    await network.ping(pingUrl, ok, { io, secrets, timeout, outward: options.config })
  }
  try {
    const report = await runOnce({ ...options, io, network, id, now })
    // A tick that another run handled says nothing about this one.
    if (report.result.outcome === 'completed') await tell(report.problems.length === 0)
    return report
  } catch (error) {
    io.log.error('run', { outcome: 'failed', error, ms: io.now() - now })
    await tell(false)
    throw error
  }
}

async function runOnce(given: RunOptions & { network: Network; id: string; now: number }): Promise<RunReport> {
  const { io, tick, deadline, network, id, now } = given
  const { backend, shard } = given.config
  const commit = { store: io.store, codec: given.codec, backend, shard, now, tick, id }
  const opened = await inSpan(io.trace, 'load', {}, () => openRun({ ...commit, dryRun: given.dryRun === true }))
  if (opened.kind !== 'open') return passedOver(opened.kind, given, now)
  const found = await discover(given.config, opened.state.targets ?? {}, { load: network.load ?? load, log: io.log })
  const { config } = found
  const options = { ...given, config }
  const scrapesEnd = Math.max(deadline - RESERVE, now + Math.floor((deadline - now) / 2))
  const asked = { ...config, endpoints: found.endpoints }
  const look = async (state: State) => {
    const memoryOf = (endpoint: string) => endpointOf(state, endpoint)?.canary
    const answers = await network.observe(asked, io, { now, deadline: scrapesEnd, runId: id, memoryOf })
    return [...logAnswers(answers, config, io.log), ...found.watch]
  }
  const judge = async (state: State, observations: readonly Observation[]) => {
    const decision = decideFrom(state, observations, options, { now, id, found })
    const wanted = versionsWanted(decision.evaluation, decision.state, now)
    if (wanted.length === 0 || network.askVersions === undefined || io.now() > scrapesEnd) return decision
    const versions = await network.askVersions(config, wanted)
    return decideFrom(state, withVersions(observations, versions), options, { now, id, found })
  }
  const first = await look(opened.state)
  if (options.dryRun) return dryReport(await judge(opened.state, first), options, now)
  const decide = async ({ state }: Opened, again: boolean): Promise<Decision | undefined> => {
    if (!again) return inSpan(io.trace, 'judge', {}, () => judge(state, first))
    // Another run has looked meanwhile. What this one saw may be older than what that one saved, and counters that seem
    // to fall look like a restart: so it asks again, if half of the time is left for it.
    if (io.now() - now > (scrapesEnd - now) / 2) return undefined
    return judge(state, await look(state))
  }
  const saved = await saveDecision(opened, decide, { ...commit, store: withSaveSpans(io.store, io.trace) })
  if (saved.kind !== 'saved') return passedOver(saved.kind, options, now)
  const { evaluation, due } = saved.decision
  const sent = await deliver(due, config, io, {
    state: saved.state,
    now,
    deadline: deadline - SETTLING,
    push: withSpans(network.push, io),
  })
  const isSettled = due.length === 0 && sent.reposted.length === 0
  const settle = () => saveSettled(saved, sent, commit)
  const settled = isSettled ? saved.state : await inSpan(io.trace, 'settle', {}, settle)
  return conclude({ evaluation, sent, settled }, options, now)
}

/** Each push is a step of the trace; one that did not arrive says why. */
function withSpans(send: Network['push'], { trace }: IO): Network['push'] {
  return (what, to, options) =>
    inSpan(trace, 'push', { 'queuebell.channel': to.name }, async (span) => {
      const outcome = await send(what, to, options)
      if (outcome.kind !== 'delivered') span?.fail(outcome.status === undefined ? outcome.kind : String(outcome.status))
      return outcome
    })
}

function withVersions(observations: readonly Observation[], versions: ReadonlyMap<string, string | undefined>) {
  return observations.map((observation) => {
    const { name } = observation.endpoint
    return versions.has(name) ? { ...observation, version: defined({ text: versions.get(name) }) } : observation
  })
}

/** What this run makes of a state: evaluated, with all that is due claimed. */
function decideFrom(
  from: State,
  observations: readonly Observation[],
  { config, tick, deadline }: RunOptions,
  { now, id, found }: { now: number; id: string; found: Discovered },
): Decision {
  const evaluated = evaluateWithSilences(from, observations, config, now)
  const quiet = new Set(found.watch.map(({ endpoint }) => endpoint.name))
  const evaluation = { ...evaluated, endpoints: evaluated.endpoints.filter((e) => !quiet.has(e.name) || e.notes) }
  const claimed = claimDue(evaluation.state, id, now, Math.max(deadline, now + 1))
  const { targets: _, ...state } = claimed.state
  const targets = found.targets && { targets: found.targets }
  const runs = [...from.runs, id].slice(-RUNS_KEPT)
  return { evaluation, due: claimed.due, state: { ...state, ...targets, runs, ...(tick !== undefined && { tick }) } }
}

/** Counts and logs. */
function conclude(
  done: { evaluation: Evaluation; sent: Sent; settled: State },
  { config, io }: RunOptions,
  now: number,
): RunReport {
  const { evaluation, sent, settled } = done
  const waiting = messagesWaiting(settled.outbox.flatMap(dueOf))
  const result = resultOf(config, now, evaluation, { delivered: sent.delivered, waiting, refused: sent.refused })
  const overdue = settled.outbox.filter((item) => now - item.since > WAITS_TOO_LONG)
  const problems = [
    ...sent.problems,
    ...(overdue.length > 0
      ? [
          `not delivered for more than 15 minutes: ${overdue.length} of the notifications${onChannels(overdue)}; is the push server reachable?`,
        ]
      : []),
  ]
  logWarnings(io.store, io.log)
  logDecisions(evaluation.decisions, config, io.log)
  logRun(result, problems, io.now() - now, io.log)
  return { result, config, messages: sent.messages, problems, decisions: evaluation.decisions }
}

/** Where they wait; nothing where there is only the channel `notifly`. */
function onChannels(items: readonly Outgoing[]): string {
  const names = [...new Set(items.flatMap((item) => Object.keys(legsOf(item))))]
  return names.every((name) => name === NOTIFLY) ? '' : ` (on ${names.join(', ')})`
}

/** An item for each channel that it waits for. */
function dueOf(item: Outgoing): Due[] {
  return Object.keys(legsOf(item)).map((channel) => ({ channel, notification: item.notification }))
}

/** How many messages it takes to tell these. */
function messagesWaiting(due: readonly Due[]): number {
  const channels = [...new Set(due.map(({ channel }) => channel))]
  const factsOf = (name: string) => due.flatMap(({ channel, notification }) => (channel === name ? [notification] : []))
  return channels.reduce((sum, name) => sum + group(factsOf(name)).length, 0)
}

function resultOf(config: Config, now: number, evaluation: Evaluation, pushes: RunResult['pushes']): RunResult {
  return {
    backend: config.backend,
    at: new Date(now).toISOString(),
    outcome: 'completed',
    endpoints: evaluation.endpoints,
    pushes,
  }
}

function dryReport({ evaluation, due }: Decision, { config, io }: RunOptions, now: number): RunReport {
  const result = resultOf(config, now, evaluation, { delivered: 0, waiting: messagesWaiting(due), refused: 0 })
  const messages = preview(due, config, now)
  logDecisions(evaluation.decisions, config, io.log)
  logRun(result, [], io.now() - now, io.log)
  return { result, config, messages, problems: [], decisions: evaluation.decisions }
}

function passedOver(outcome: 'duplicate' | 'superseded', { config, io }: RunOptions, now: number): RunReport {
  const pushes = { delivered: 0, waiting: 0, refused: 0 }
  const result: RunResult = { backend: config.backend, at: new Date(now).toISOString(), outcome, endpoints: [], pushes }
  logWarnings(io.store, io.log)
  logRun(result, [], io.now() - now, io.log)
  return { result, config, messages: [], problems: [], decisions: [] }
}
