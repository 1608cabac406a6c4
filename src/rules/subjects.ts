import type { Rule } from '../model/rule.ts'
import type { Measured } from './measured.ts'
import { gpuNames, type Snapshot, xidOf } from './snapshot.ts'

/**
 * An XID stays published after the event: only a change to a new code is one. What was there at our first look is old,
 * and so is what an exporter still shows after its restart.
 */
export function xids(snapshot: Snapshot): Measured[] {
  const { readings, before } = snapshot
  if (!readings) return []
  return Object.entries(readings.subjects).map(([subject, gauges]): Measured => {
    const code = xidOf(gauges, readings)
    if (code === undefined) return { subject, judgement: 'unknown' }
    if (code === 0) return { subject, value: 0, judgement: 'clear' }
    const known = before.xids[subject] ?? (before.goodAt === undefined ? code : 0)
    if (code !== known) return { subject, value: code, judgement: 'breach', renewed: true }
    const alert = before.alerts[`gpu_xid@${subject}`]
    const isOld = alert === undefined || snapshot.restarted || alert.restarted === true
    // Not past its hold time yet: it is still the same change.
    return { subject, value: code, judgement: isOld ? 'clear' : alert.phase === 'pending' ? 'breach' : 'between' }
  })
}

export function lost(snapshot: Snapshot): Measured[] {
  if (!snapshot.readings) return []
  const present = new Set(gpuNames(snapshot.readings, 'dcgm'))
  return Object.keys(snapshot.before.gpus).map((gpu) => flagged(!present.has(gpu), gpu))
}

/** Unhealthy at 0, each upstream by itself; one that the gateway does not name is the endpoint's. */
export function upstreams(snapshot: Snapshot): Measured[] {
  const only = snapshot.readings?.gauges.upstream_health
  const named = Object.entries(snapshot.readings?.subjects ?? {}).map(([subject, { upstream_health: health }]) =>
    flagged(health === undefined ? undefined : health === 0, subject),
  )
  return only ? [flagged(only.value === 0), ...named] : named
}

/** Counts since the last run, by reason or upstream where the series says so. */
export function increased(
  snapshot: Snapshot,
  rule: Rule,
  signal: 'admission_rejected' | 'engine_state_stale' | 'queue_full' | 'admission_parked',
): Measured[] {
  // A counter that is there and not believable is no counter that stood still.
  if (!snapshot.last || snapshot.readings?.faults.some((fault) => fault.signal === signal)) return []
  const bySubject = new Map<string | undefined, number>()
  for (const key of Object.keys(snapshot.before.alerts)) {
    if (key === rule.id) bySubject.set(undefined, 0)
    else if (key.startsWith(`${rule.id}@`)) bySubject.set(key.slice(rule.id.length + 1), 0)
  }
  for (const [labels, n] of Object.entries(snapshot.last.byLabels[signal] ?? {})) {
    const subject = /(?:^|,)(?:reason|upstream)="((?:[^"\\]|\\.)*)"/.exec(labels)?.[1]
    bySubject.set(subject, (bySubject.get(subject) ?? 0) + n)
  }
  return [...bySubject].map(([subject, value]) => ({ subject, value }))
}

/** A condition that is so, or not, or unknown. */
export function flagged(bad: boolean | undefined, subject?: string): Measured {
  if (bad === undefined) return { subject, judgement: 'unknown' }
  return { subject, value: bad ? 1 : 0, judgement: bad ? 'breach' : 'clear' }
}
