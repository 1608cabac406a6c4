import { alertKey } from '../state/alert-key.ts'
import { BY_HARDWARE, gpuNames, xidOf } from './gpu-gauges.ts'
import { flagged, type Measured } from './measured.ts'
import { base, condition, MINUTE, type RuleSpec, ruleset } from './rule.ts'
import type { Snapshot } from './snapshot.ts'
import { notOfSubject, withoutSubjects } from './unknown.ts'

const gpu = { about: 'hardware', backends: ['dcgm'] } as const
const measuredAnew = { ...gpu, outlivesRestart: true } as const

export const gpuRules = ruleset({
  gpu_memory: {
    ...base,
    ...measuredAnew,
    ...gaugeOf('gpu_memory'),
    firesWhen:
      'used / (used + free) of a GPU or MIG instance is above the limit; no reminders, since servers that reserve memory stay there',
    sign: '💾',
    unit: 'share',
    limit: 0.95,
    clear: 0.93,
    repeat: undefined,
    priority: 8,
  },
  gpu_temperature: {
    ...base,
    ...measuredAnew,
    ...gaugeOf('gpu_temperature'),
    firesWhen: 'a GPU is hotter than the limit',
    sign: '🔥',
    unit: '°C',
    limit: 85,
    clear: 80,
    for: 5 * MINUTE,
    priority: 7,
  },
  gpu_xid: {
    ...condition,
    ...gpu,
    firesWhen:
      'the XID code of a GPU changed to one that is not 0; over when it is 0, not known to be over when it is gone; no reminders, since the code stays',
    sign: '⚡',
    repeat: undefined,
    priority: 9,
    needs: { signals: ['gpu_xid'] },
    measure: (snapshot, { id }) => xids(snapshot, id),
    unknownReason: withoutSubjects,
  },
  gpu_remap: {
    ...condition,
    ...measuredAnew,
    firesWhen:
      'replacing a bad memory row of a GPU failed, or more rows had errors that could not be corrected; over after an hour without more',
    sign: '🧱',
    priority: 9,
    needs: { signals: ['gpu_remap_failed', 'gpu_remapped_rows'], oneIsEnough: true },
    measure: (snapshot, { id }, { now }) => remaps(snapshot, id, now),
    unknownReason: withoutSubjects,
  },
  gpu_throttle: {
    ...condition,
    ...measuredAnew,
    firesWhen:
      'the clocks of a GPU are held down by its hardware: slowdown, heat or power brake, not idleness or a power cap',
    sign: '🥵',
    for: 10 * MINUTE,
    priority: 6,
    needs: { signals: ['gpu_throttle'] },
    measure: throttled,
    unknownReason: (snapshot, subject) => notOfSubject('gpu_throttle', subject, snapshot),
  },
  gpu_lost: {
    ...condition,
    ...measuredAnew,
    firesWhen: 'a GPU that was there is gone from a good answer of the exporter',
    sign: '🕳️',
    priority: 9,
    measure: lost,
    unknownReason: withoutSubjects,
  },
})

function gaugeOf(signal: 'gpu_memory' | 'gpu_temperature') {
  return {
    needs: { signals: [signal] },
    measure: ({ readings }) =>
      Object.entries(readings?.subjects ?? {}).map(([subject, gauges]) => ({ subject, value: gauges[signal] })),
    unknownReason: (snapshot, subject) => notOfSubject(signal, subject, snapshot),
  } as const satisfies Partial<RuleSpec>
}

/**
 * An XID stays published after the event, so only a change to a new code is one. What was there at our first look is
 * old, and so is what an exporter still shows after its restart. A code that is gone and not 0 was forgotten, not mended.
 */
function xids(snapshot: Snapshot, rule: string): Measured[] {
  const { readings, before } = snapshot
  if (!readings) return []
  return Object.entries(readings.subjects).map(([subject, gauges]): Measured => {
    const code = xidOf(gauges, readings)
    if (code === undefined) return { subject, judgement: 'unknown' }
    const alert = before.alerts[alertKey(rule, subject)]
    const restarted = snapshot.restarted || alert?.restarted === true
    const forgotten = restarted || gauges.gpu_xid === undefined ? { forgotten: true as const } : {}
    if (code === 0) return { subject, value: 0, judgement: 'clear', ...forgotten }
    const known = before.xids[subject] ?? (before.goodAt === undefined ? code : 0)
    if (code !== known) return { subject, value: code, judgement: 'breach', renewed: true }
    if (alert === undefined || restarted) return { subject, value: code, judgement: 'clear', ...forgotten }
    // Before its hold time is over it is still the same change.
    return { subject, value: code, judgement: alert.phase === 'pending' ? 'breach' : 'between' }
  })
}

/** Nothing was lost for so long. Milliseconds. */
const REMAPPED = 60 * MINUTE

/** A failed replacement is told by itself; of rows, which never come back, only that there are more. */
function remaps({ readings, before, after }: Snapshot, rule: string, now: number): Measured[] {
  return Object.entries(readings?.subjects ?? {}).map(([subject, gauges]): Measured => {
    if (gauges.gpu_remap_failed === 1) return { subject, judgement: 'breach' }
    const { rows, grewAt } = after.remapped?.[subject] ?? {}
    if (gauges.gpu_remapped_rows === undefined || rows === undefined) {
      return { subject, judgement: gauges.gpu_remap_failed === 0 ? 'clear' : 'unknown' }
    }
    const more = rows - (before.remapped?.[subject]?.rows ?? rows)
    if (more > 0) return { subject, value: more, judgement: 'breach' }
    const isRecent = grewAt !== undefined && now - grewAt < REMAPPED && before.alerts[alertKey(rule, subject)]
    return { subject, judgement: isRecent ? 'between' : 'clear' }
  })
}

function throttled({ readings }: Snapshot): Measured[] {
  return Object.entries(readings?.subjects ?? {}).map(([subject, { gpu_throttle: mask }]): Measured => {
    if (mask === undefined) return { subject, judgement: 'unknown' }
    const value = mask & BY_HARDWARE
    return { subject, value, judgement: value === 0 ? 'clear' : 'breach' }
  })
}

function lost(snapshot: Snapshot): Measured[] {
  if (!snapshot.readings) return []
  const present = new Set(gpuNames(snapshot.readings, 'dcgm'))
  return Object.keys(snapshot.before.gpus).map((name) => flagged(!present.has(name), name))
}
