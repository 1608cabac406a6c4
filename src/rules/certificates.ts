import type { Config } from '../model/config.ts'
import { defined } from '../model/defined.ts'
import type { Notification } from '../model/notification.ts'
import type { CertificateSeen } from '../state/asked-and-heard.ts'
import type { State } from '../state/schema.ts'
import { ALL, base, ruleset } from './rule.ts'

const DAY = 86_400_000
const FRESH = 2 * 3_600_000

export const certificateRules = ruleset({
  tls_expiry: {
    ...base,
    firesWhen:
      'the certificate of an endpoint, or of a push server, ends sooner than the limit; looked at on the connections that a run makes anyway',
    sign: '🔏',
    about: 'reachability',
    unit: 'days',
    breach: 'below',
    limit: 14,
    repeat: DAY,
    priority: 5,
    backends: ALL,
    measure: ({ observation: { certificate } }, _, { now }) => [
      { value: certificate === undefined ? undefined : daysUntil(certificate, now) },
    ],
    unknownReason: () => 'no connection by https in this run',
    describe: ({ observation }) => defined({ certificateEnds: observation.certificate }),
    outlivesRestart: true,
  },
})

function daysUntil(end: number, now: number): number {
  return (end - now) / DAY
}

/** Of each push server whose certificate was seen to end soon: once a day at most, by the first run after it. */
export function certificateNotifications(previous: State, { channels, certificates: rule }: Config, now: number) {
  const names = new Set(channels.flatMap((channel) => [channel.name, channel.fallback?.name ?? channel.name]))
  const seen = rule ? Object.entries(previous.certificates ?? {}).filter(([name]) => names.has(name)) : []
  const told: Record<string, CertificateSeen> = {}
  const notifications = seen.flatMap(([name, one]): Notification[] => {
    told[name] = one
    const { ends, seenAt, toldAt = Number.NEGATIVE_INFINITY } = one
    // What was seen long before the last run may have been renewed since.
    const isFresh = (previous.ranAt ?? now) - seenAt <= FRESH
    const isNews = isFresh && seenAt > toldAt && now - toldAt >= DAY
    if (!rule || !isNews || daysUntil(ends, seenAt) >= rule.limit) return []
    told[name] = { ...one, toldAt: now }
    const incident = `|tls_expiry|${name}@${now}`
    return [
      {
        id: `${incident}/told-once/${now}`,
        incident,
        reason: 'told-once',
        rule: 'tls_expiry',
        subject: name,
        priority: rule.priority,
        at: now,
        firedAt: now,
        value: Number(daysUntil(ends, now).toPrecision(5)),
        limit: rule.limit,
        certificateEnds: ends,
      },
    ]
  })
  return { notifications, ...(seen.length > 0 && { certificates: told }) }
}
