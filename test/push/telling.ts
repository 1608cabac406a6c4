import { parseConfig } from '../../src/config/parse.ts'
import { deliver } from '../../src/deliver.ts'
import { createLog } from '../../src/log.ts'
import type { Config } from '../../src/model/config.ts'
import type { IO } from '../../src/model/io.ts'
import type { Notification } from '../../src/model/notification.ts'
import { push } from '../../src/push/push.ts'
import { enqueue } from '../../src/state/enqueue.ts'
import { claimDue, countReposted, settle } from '../../src/state/outbox.ts'
import { emptyState, newEndpointState, readState, type State, writeState } from '../../src/state/schema.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { AT } from './pushing.ts'

const MINUTE = 60_000

/** Everything of a run behind the rules: what they made worth telling is queued, claimed, sent over real HTTP and settled. */
export function createTelling(variables: Record<string, string>, { start = AT, interval = MINUTE } = {}) {
  const parsed = parseConfig(
    'vllm',
    { VLLM_ENDPOINTS: 'chat/a=http://127.0.0.1:1001', ...variables },
    { lambda: false },
  )
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'))
  const config: Config = { ...parsed.config, interval }
  const lines: string[] = []
  let state: State = { ...emptyState(), endpoints: { 'chat/a': newEndpointState(start) } }
  let minute = 0
  return {
    config,
    lines,
    state: () => state,
    now: () => start + minute * MINUTE,
    /** One run at a minute, in which these are to be told. */
    async run(at: number, ...notifications: Notification[]) {
      minute = at
      const now = start + Math.round(at * MINUTE)
      let clock = now
      const io: IO = {
        now: () => clock,
        sleep: async (ms) => {
          clock += ms
        },
        store: createMemoryStore(),
        log: createLog(
          'debug',
          config.secrets,
          (line) => lines.push(line),
          () => clock,
        ),
        runId: () => `run-${at}`,
        print() {},
      }
      const overtaken = new Map(
        notifications.flatMap(({ reason, incident }) =>
          reason === 'resolved' || reason === 'late' ? [[incident, incident] as const] : [],
        ),
      )
      const before = state.endpoints['chat/a'] ?? newEndpointState(now)
      const { threads } = state
      const openBefore = ({ incident }: Notification) =>
        Object.values(before.incidents).find(({ id }) => id === incident)
      const outbox = enqueue({
        outbox: state.outbox,
        notifications,
        overtaken,
        threads,
        routes: config,
        openBefore,
        now,
      })
      const incidents = { ...before.incidents }
      // As following does: what fires is an incident of its endpoint.
      for (const { rule, incident, firedAt, reason } of notifications) {
        if (reason === 'resolved' || reason === 'late') delete incidents[rule]
        else incidents[rule] ??= { id: incident, openedAt: firedAt, verdicts: [], symptoms: {}, begins: [firedAt] }
      }
      state = { ...state, outbox, endpoints: { 'chat/a': { ...before, incidents } } }
      const claimed = claimDue(state, `run-${at}`, now, now + 50_000)
      state = through(claimed.state)
      const sent = await deliver(claimed.due, config, io, { state, now, deadline: now + 48_000, push })
      state = through(countReposted(settle(state, sent.deliveries, now, `run-${at}`), sent.reposted))
      return sent
    },
  }
}

/** What is not written is not remembered. */
function through(state: State): State {
  const read = readState(writeState(state))
  if (read.kind !== 'state') throw new Error(JSON.stringify(read))
  return read.state
}
