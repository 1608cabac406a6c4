import type { ChannelConfig } from '../model/config.ts'
import type { Notification } from '../model/notification.ts'
import type { Thread } from '../state/schema.ts'
import { authorization, type Channel, jsonRequest, type Push, type PushRequest, under } from './channel.ts'
import { severityOf } from './pagerduty.ts'

/** As `POST /api/v2/alerts` takes it: the labels are the identity. */
interface PostedAlert {
  labels: Record<string, string>
  annotations: Record<string, string>
  startsAt: string
  endsAt?: string
  generatorURL?: string
}

/** Without news for so many runs an alert is over by itself: the watcher is dead. */
const RUNS_AHEAD = 3
/** What is over is posted so often beside its first time. */
const MORE_TIMES = 2

/**
 * Prometheus' Alertmanager groups, silences and tells by its own rules. What fires is posted anew at each run.
 * https://prometheus.io/docs/alerting/latest/alerts_api/
 */
export const alertmanager: Channel = {
  together: 'all',
  isRepeatable: true,
  write(push, to) {
    // Of the same labels the last one posted holds: what ended may not end what fires since.
    const facts = [...push.facts].sort((a, b) => a.firedAt - b.firedAt)
    return {
      request: requestFor(
        facts.map((fact) => ended(alertOf(fact, push), fact, push)),
        to,
      ),
    }
  },
  page: {
    address: '`alertmanager+http://host:9093/prefix`',
    token: 'bearer token, or `user:password`',
    limit: '–',
    thread: 'the firing set is posted at each run, what is over twice more; the labels stay, values are annotations',
    quiet: 'the label `severity`: critical, error, warning or info',
  },
}

/** What is to be posted about each incident from now on; nothing of what has no end. */
export function alertThreads(push: Push): Map<string, Thread> {
  const threads = new Map<string, Thread>()
  for (const fact of push.facts) {
    if (fact.reason === 'late' || fact.reason === 'told-once') continue
    const alert = alertOf(fact, push)
    const isOver = fact.reason === 'resolved'
    const kept = isOver ? { ...alert, endsAt: endOf(fact, push) } : alert
    threads.set(fact.incident, { alert: JSON.stringify(kept), ...(isOver && { left: MORE_TIMES }) })
  }
  return threads
}

/**
 * The post that keeps alight what fires and repeats what is over.
 * @param known what is remembered, by incident.
 * @param posted what this run has posted already.
 * @returns none where there is nothing to post.
 */
export function repost(
  known: ReadonlyMap<string, Thread>,
  posted: readonly Thread[],
  to: ChannelConfig,
  { now, interval }: Pick<Push, 'now' | 'interval'>,
): PushRequest | undefined {
  const all = (threads: Iterable<Thread>) =>
    [...threads].flatMap(({ alert, left }) => {
      const parsed = parseAlert(alert)
      return parsed === undefined ? [] : [left === undefined ? { ...parsed, endsAt: aheadOf(now, interval) } : parsed]
    })
  const alerts = unambiguous(all(known.values()), all(posted), now)
  return alerts.length === 0 ? undefined : requestFor(alerts, to)
}

/** The same labels may fire again while their last end is still repeated: that would end the new one. */
function unambiguous(alerts: readonly PostedAlert[], posted: readonly PostedAlert[], now: number): PostedAlert[] {
  const nameOf = ({ labels }: PostedAlert) => JSON.stringify(Object.entries(labels).sort())
  const isFiring = ({ endsAt }: PostedAlert) => endsAt !== undefined && Date.parse(endsAt) > now
  const firing = new Set([...alerts, ...posted].filter(isFiring).map(nameOf))
  return alerts.filter((alert) => isFiring(alert) || !firing.has(nameOf(alert)))
}

function parseAlert(alert: string | undefined): PostedAlert | undefined {
  try {
    return alert === undefined ? undefined : (JSON.parse(alert) as PostedAlert)
  } catch {
    return undefined
  }
}

function requestFor(alerts: readonly PostedAlert[], to: ChannelConfig): PushRequest {
  return jsonRequest(under(to.url, '/api/v2/alerts').href, alerts, authorization(to.token))
}

/** Labels and beginning are those of the first post, whatever the incident turned into. */
function alertOf(fact: Notification, push: Push): PostedAlert {
  const { title, body, priority, link, links = [] } = push.tell(fact)
  // What it is posted with is kept in the state, where no token belongs; and it has silences of its own.
  const source = links.some(({ url }) => url === link) ? undefined : link
  const before = parseAlert(push.threadOf(fact.incident)?.alert)
  const annotations: Record<string, string> = { summary: title, description: body, priority: String(priority) }
  if (fact.value !== undefined) annotations.value = String(fact.value)
  if (fact.limit !== undefined) annotations.limit = String(fact.limit)
  return {
    labels: before?.labels ?? labelsOf(fact, push.functionName),
    annotations,
    startsAt: before?.startsAt ?? new Date(fact.firedAt).toISOString(),
    ...(source && { generatorURL: source }),
  }
}

function labelsOf(fact: Notification, functionName: string): Record<string, string> {
  const { rule, endpoint, subject, priority, context } = fact
  const group = endpoint?.includes('/') ? endpoint.slice(0, endpoint.indexOf('/')) : undefined
  const labels = {
    alertname: rule,
    job: 'queuebell',
    function: functionName,
    severity: severityOf(priority),
    endpoint,
    group,
    subject,
    model: context?.model,
  }
  // An empty label is no label.
  return Object.fromEntries(Object.entries(labels).filter((label): label is [string, string] => Boolean(label[1])))
}

/** When it is over: what fires is good for some runs; a fact without an end is shown for as long. */
function ended(alert: PostedAlert, fact: Notification, push: Push): PostedAlert {
  const endsAt = fact.reason === 'resolved' ? endOf(fact, push) : aheadOf(push.now, push.interval)
  return { ...alert, endsAt }
}

/** Never ahead of now, where Alertmanager would take it for one that fires. */
function endOf(fact: Notification, { now }: Push): string {
  return new Date(Math.min(fact.endedAt ?? now, now)).toISOString()
}

function aheadOf(now: number, interval: number): string {
  return new Date(now + RUNS_AHEAD * interval).toISOString()
}
