import { alertKey } from '../state/alert-key.ts'
import { flagged, type Measured } from './measured.ts'
import { base, condition, MINUTE, type RuleSpec, ruleset } from './rule.ts'
import { gpuNames, type Snapshot, xidOf } from './snapshot.ts'
import { notOfSubject, withoutSubjects } from './unknown.ts'

const gpu = { about: 'hardware', backends: ['dcgm'] } as const

export const gpuRules = ruleset({
  gpu_memory: {
    ...base,
    ...gpu,
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
    ...gpu,
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
    firesWhen: 'the XID code of a GPU changed to one that is not 0; over when it is 0 or gone',
    sign: '⚡',
    priority: 9,
    needs: { signals: ['gpu_xid'] },
    measure: (snapshot, { id }) => xids(snapshot, id),
    unknownReason: withoutSubjects,
  },
  gpu_lost: {
    ...condition,
    ...gpu,
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
 * old, and so is what an exporter still shows after its restart.
 */
function xids(snapshot: Snapshot, rule: string): Measured[] {
  const { readings, before } = snapshot
  if (!readings) return []
  return Object.entries(readings.subjects).map(([subject, gauges]): Measured => {
    const code = xidOf(gauges, readings)
    if (code === undefined) return { subject, judgement: 'unknown' }
    if (code === 0) return { subject, value: 0, judgement: 'clear' }
    const known = before.xids[subject] ?? (before.goodAt === undefined ? code : 0)
    if (code !== known) return { subject, value: code, judgement: 'breach', renewed: true }
    const alert = before.alerts[alertKey(rule, subject)]
    const isOld = alert === undefined || snapshot.restarted || alert.restarted === true
    // Before its hold time is over it is still the same change.
    return { subject, value: code, judgement: isOld ? 'clear' : alert.phase === 'pending' ? 'breach' : 'between' }
  })
}

function lost(snapshot: Snapshot): Measured[] {
  if (!snapshot.readings) return []
  const present = new Set(gpuNames(snapshot.readings, 'dcgm'))
  return Object.keys(snapshot.before.gpus).map((name) => flagged(!present.has(name), name))
}
