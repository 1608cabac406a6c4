import { parseConfig } from '../../src/config/parse.ts'
import { createLog } from '../../src/log.ts'
import type { IO } from '../../src/model/io.ts'
import type { Store } from '../../src/model/store.ts'
import { type RunReport, run } from '../../src/run.ts'
import { readState, type State } from '../../src/state/schema.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { type Inbox, openInbox } from '../../tools/simulator/inbox.ts'
import { openWatched, type Watched } from './watched.ts'

export interface Watch {
  inbox: Inbox
  watched: Watched
  store: Store
  lines: string[]
  /** One run at a minute, while the server shows so many requests waiting. */
  run(minute: number, waiting: number, more?: { env?: Record<string, string>; limit?: number }): Promise<RunReport>
  state(): Promise<State>
  /** Titles of all that arrived. */
  titles(): string[]
  close(): Promise<void>
}

export const MINUTE = 60_000
const START = Date.UTC(2026, 5, 1)

/**
 * Whole runs in this process: a real server, a real inbox, the real network, a clock that moves while a run sleeps.
 * @param env what differs from one endpoint `a` and one push server. @param store memory unless told.
 */
export async function openWatch(env: Record<string, string> = {}, store: Store = createMemoryStore()): Promise<Watch> {
  const inbox = await openInbox()
  const watched = await openWatched()
  const lines: string[] = []
  let serial = 0
  return {
    inbox,
    watched,
    store,
    lines,
    async run(minute, waiting, { env: now = {}, limit = 50_000 } = {}) {
      watched.waiting = waiting
      watched.seconds = (minute + 1) * 60
      const variables = {
        VLLM_ENDPOINTS: `a=${watched.url}`,
        NOTIFLY_URL: inbox.url,
        NOTIFLY_TOKEN: 'token',
        ...env,
        ...now,
      }
      const parsed = parseConfig('vllm', variables, { lambda: false })
      if ('problems' in parsed) throw new Error(parsed.problems.join('\n'))
      let clock = START + minute * MINUTE
      const io: IO = {
        now: () => clock,
        sleep: async (ms) => {
          clock += ms
        },
        store,
        log: createLog(
          'debug',
          parsed.config.secrets,
          (line) => lines.push(line),
          () => clock,
        ),
        runId: () => `run-${serial++}`,
        print: (text) => lines.push(text),
      }
      return run({ config: parsed.config, io, tick: clock, deadline: clock + limit })
    },
    async state() {
      const read = readState((await store.load('vllm.json'))?.text ?? '')
      if (read.kind !== 'state') throw new Error(`the state is ${read.kind}`)
      return read.state
    },
    titles: () => inbox.received.map(({ title }) => title),
    close: () => Promise.all([inbox.close(), watched.close()]).then(() => {}),
  }
}
