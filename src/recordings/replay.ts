import type { Config } from '../model/config.ts'
import type { IO, Log } from '../model/io.ts'
import { type Network, type RunReport, run } from '../run.ts'
import type { StateCodec } from '../state/commit.ts'
import type { State } from '../state/schema.ts'
import { createMemoryStore } from '../store/memory.ts'
import { createIncidentBook, type Incident } from './incidents.ts'
import { observationsOf } from './observations.ts'
import type { RecordedRun } from './timeline.ts'

export interface ReplayedPush {
  /** Epoch milliseconds. */
  at: number
  title: string
  priority: number
}

/** What one setting would have told. */
export interface Replayed {
  set: Readonly<Record<string, string>>
  pushes: ReplayedPush[]
  incidents: Incident[]
}

/** The recording as a whole: what was there to be seen. */
export interface Span {
  runs: number
  scrapes: number
  failed: number
  /** Epoch milliseconds; absent in an empty recording. */
  from?: number
  to?: number
  /** Where no endpoint was asked for longer than three usual intervals. */
  gaps: { from: number; to: number }[]
}

/** Without a word: a replay's log would be that of the past. */
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} }
/** A run has as long as it wants: nothing waits. Milliseconds. */
const TIME = 50_000
const GAP = 3

/** One setting being replayed: the very run that watches, with the recording's clock, a state in memory and no network. */
export interface Player {
  play(recorded: RecordedRun, observations: ReturnType<typeof observationsOf>): Promise<RunReport>
  result(): Replayed
}

/** Keeps the state as it is: to write it out and read it back at each run of a week is most of the time that a replay takes. */
function keptStates(): StateCodec {
  let newest: { text: string; state: State } | undefined
  let serial = 0
  return {
    write(state) {
      newest = { text: `state ${++serial}`, state }
      return newest.text
    },
    read: (text) =>
      newest?.text === text ? { kind: 'state', state: newest.state } : { kind: 'broken', why: 'not the newest' },
  }
}

export function createPlayer(config: Config, set: Readonly<Record<string, string>>): Player {
  let now = 0
  let serial = 0
  const codec = keptStates()
  const incidents = createIncidentBook()
  const pushes: ReplayedPush[] = []
  const io: IO = {
    now: () => now,
    sleep: async () => {},
    store: createMemoryStore(() => now),
    log: SILENT,
    runId: () => `replay-${++serial}`,
    print() {},
  }
  return {
    async play({ at }, observations) {
      now = at
      const network: Network = {
        observe: async () => observations,
        push: () => Promise.reject(new Error('a replay pushes nothing')),
        ping: async () => {},
      }
      const report = await run({ config, io, deadline: now + TIME, network, codec })
      for (const { title, priority } of report.messages) pushes.push({ at, title, priority })
      incidents.add(at, report.result.endpoints, report.decisions)
      return report
    },
    result: () => ({ set, pushes, incidents: incidents.all() }),
  }
}

/**
 * Plays a recording to the runs of several settings at once: each page is read one time only.
 * @param configs by setting; all have the same endpoints, with the same models.
 * @param onRun sees each run of each setting.
 */
export async function replay(
  runs: AsyncIterable<RecordedRun>,
  configs: readonly { config: Config; set: Readonly<Record<string, string>> }[],
  onRun: (index: number, report: RunReport, at: number) => void = () => {},
): Promise<{ settings: Replayed[]; span: Span }> {
  const players = configs.map(({ config, set }) => createPlayer(config, set))
  const [first] = configs
  const span = createSpan()
  for await (const recorded of runs) {
    span.add(recorded)
    if (!first) continue
    const observations = observationsOf(recorded, first.config)
    for (const [index, player] of players.entries()) {
      const own = configs[index]?.config.endpoints ?? []
      // An observation carries its endpoint with the rules of its own setting.
      const asked = observations.map((one, i) => ({ ...one, endpoint: own[i] ?? one.endpoint }))
      onRun(index, await player.play(recorded, asked), recorded.at)
    }
  }
  return { settings: players.map((player) => player.result()), span: span.whole() }
}

function createSpan(): { add(run: RecordedRun): void; whole(): Span } {
  const span: Span = { runs: 0, scrapes: 0, failed: 0, gaps: [] }
  const steps: number[] = []
  const times: number[] = []
  return {
    add({ at, scrapes }) {
      const last = times.at(-1)
      if (last !== undefined) steps.push(at - last)
      times.push(at)
      span.runs += 1
      span.scrapes += scrapes.length
      span.failed += scrapes.filter(({ failure }) => failure !== undefined).length
    },
    whole() {
      const usual = [...steps].sort((a, b) => a - b)[Math.floor(steps.length / 2)] ?? 0
      const gaps = steps.flatMap((step, i) =>
        step > GAP * usual ? [{ from: times[i] ?? 0, to: times[i + 1] ?? 0 }] : [],
      )
      const [from, to] = [times[0], times.at(-1)]
      return { ...span, gaps, ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
    },
  }
}
