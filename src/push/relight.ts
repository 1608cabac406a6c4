import type { ChannelConfig, Config } from '../model/config.ts'
import type { IO } from '../model/io.ts'
import type { Reposted } from '../state/outbox.ts'
import type { State, Thread } from '../state/schema.ts'
import { repost } from './alertmanager.ts'
import { attempt } from './attempt.ts'
import { adviceOf, report } from './report.ts'

export interface Relighting {
  state: State
  config: Config
  io: IO
  now: number
  interval: number
  dispatcher: unknown
  deadline: number
  sent: { reposted: Reposted[]; problems: string[] }
}

const LONGEST_MS = 5_000

/**
 * Posts again what fires on an Alertmanager, lest it be taken for over, and what is over for the last times. One that is
 * away loses nothing: the next run posts the same.
 * @param posted what this run has posted already, by incident.
 */
export async function relight(
  channel: ChannelConfig,
  posted: ReadonlyMap<string, Thread>,
  run: Relighting,
): Promise<void> {
  const { state, config, io, now, interval, dispatcher, deadline, sent } = run
  const known = new Map<string, Thread>()
  for (const [incident, channels] of Object.entries(state.threads ?? {})) {
    const thread = channels[channel.name]
    if (thread && !posted.has(incident)) known.set(incident, thread)
  }
  const left = deadline - io.now()
  const request = repost(known, [...posted.values()], channel, { now, interval })
  if (request === undefined || left <= 0) return
  const timeout = Math.min(LONGEST_MS, left)
  const tried = await attempt(() => request, channel, { secrets: config.secrets, dispatcher, timeout, now: io.now })
  if (tried.action === 'delivered') {
    const over = [...known].filter(([, thread]) => thread.left !== undefined).map(([incident]) => incident)
    if (over.length > 0) sent.reposted.push({ channel: channel.name, incidents: over })
    return
  }
  report(io.log, tried.action, tried, { to: channel, by: 'first', try: 1, title: 'what fires', about: undefined })
  if (tried.action !== 'misconfigured') return
  const why = [typeof tried.answer === 'number' ? tried.answer : undefined, tried.reason].filter(Boolean).join(' ')
  sent.problems.push(`the channel ${channel.name} did not take what fires (${why}): ${adviceOf(tried, channel)}`)
}
