import { defined } from '../model/defined.ts'
import type { VerdictKind } from '../model/explanation.ts'
import type { End, Incident } from '../state/incident-schema.ts'

/** Of an endpoint's symptoms there is one incident at a time. */
export const WORK = 'work'

/** One alert that fires after this run, as far as its incident needs it. */
export interface Firing {
  /** `rule` or `rule@subject`. */
  key: string
  priority: number
  /** Milliseconds between reminders; `undefined`: none. */
  repeat: number | undefined
  peak: number | undefined
  /** A lower value is a worse one. */
  lowIsWorse?: boolean
  /** This run saw it beyond its clear limit; one that is not known is not reminded of. */
  lasts: boolean
  /** It began in this run. */
  began: boolean
  /** It began in this run, and as another than the one that was told: a GPU's next error code. */
  renewed: boolean
  /** Its critical limit is passed in this run. */
  critical: boolean
  /** What was told of it asks for something else than what helps now. */
  misled: boolean
}

/** What one run saw of one kind of incident at one endpoint. */
export interface Seen {
  /** The worst first. */
  firing: readonly Firing[]
  /** What does not fire yet, and soon will unless it ends: the first push is as urgent as that. */
  coming: readonly Pick<Firing, 'priority' | 'critical'>[]
  /** How an alert that fired until now came to its end in this run. */
  ended: End | undefined
  /** The server has no request and finished none since the last run: an empty queue may only mean that nobody asks. */
  idle: boolean
  verdict: VerdictKind | undefined
  /** The beginning, of two hours' beginnings, that is told as "comes and goes"; `undefined`: never. */
  flaps: number | undefined
  /** Another run is telling it right now, or nothing is known now: its end waits. */
  claimed: boolean
  /** The id that a new incident gets. */
  id: string
}

export type Turn = 'priority' | 'critical' | 'verdict'

/** What is to be told. `flaps` where it comes and goes: how often since when, and how long it was bad in all. */
export interface Told {
  reason: 'fired' | 'worse' | 'repeated' | 'resolved'
  /** The alert that the message is about; of an end the most urgent that took part. */
  key?: string
  priority: number
  turn?: Turn
  flaps?: { since: number; times: number; bad: number }
}

export interface Followed {
  /** Absent: there is none, and none to remember. */
  incident: Incident | undefined
  told?: Told
}

/** Beginnings within this time count together. Milliseconds. */
const MEMORY = 2 * 60 * 60_000
/** What comes and goes is over, or is there to stay, after so long without a change. Milliseconds. */
const SETTLED = 60 * 60_000
/** A queue that is empty for want of requests is over after this long without any. Milliseconds. */
const IDLE = 15 * 60_000
/** A turn to one of these is told while the incident lasts: another thing is to be done than was said. */
const WORSE: readonly (string | undefined)[] = ['broke', 'stalled', 'transfer']
export const CRITICAL_PRIORITY = 9

/** The life of an incident, the second table of `docs/rules.md`. */
export function follow(before: Incident | undefined, seen: Seen, now: number): Followed {
  const [worst] = seen.firing
  // Nothing of this kind is open.
  if (before === undefined || before.over)
    return worst ? begin(worst, before, seen, now) : { incident: remembered(before, now) }
  // The same alert fires for another reason than was told: that one is told by itself.
  if (worst?.renewed) return begin(worst, undefined, seen, now)
  const incident = joined(before, seen, now)
  if (incident.flaps) return worst ? flapping(worst, incident, seen, now) : calm(incident, seen, now)
  if (!worst) return end(incident, seen, now)
  // It had stopped only because nobody asked, and is back for the third time: that is told, as coming and going.
  if (before.calmSince !== undefined && isThird(incident.begins, seen)) return comesAndGoes(worst, incident, now)
  return turnOrReminder(worst, incident, seen, now)
}

function begin(worst: Firing, before: Incident | undefined, seen: Seen, now: number): Followed {
  const begins = recent([...(before?.begins ?? []), now], now)
  const soon = [...seen.firing, ...seen.coming]
  const critical = soon.some((one) => one.critical)
  const opened: Incident = {
    id: seen.id,
    openedAt: now,
    priority: priorityOf(soon, critical),
    verdicts: seen.verdict ? [seen.verdict] : [],
    symptoms: withFiring({}, seen.firing),
    begins,
    ...defined({ critical: critical ? (true as const) : undefined, bad: begins.length > 1 ? before?.bad : undefined }),
  }
  if (isThird(begins, seen)) return comesAndGoes(worst, opened, now)
  return { incident: opened, told: { reason: 'fired', key: worst.key, priority: opened.priority ?? 0 } }
}

/** What this run changes in an open incident, before anything is said of it. */
function joined(before: Incident, seen: Seen, now: number): Incident {
  const { calmSince, ended, ...incident } = before
  if (seen.firing.length === 0) {
    const stops = calmSince === undefined && seen.ended !== undefined
    const began = before.begins.at(-1) ?? before.openedAt
    return {
      ...incident,
      ...defined({
        ended: endedBy(ended, seen),
        calmSince: stops ? now : calmSince,
        bad: stops ? (before.bad ?? 0) + now - began : before.bad,
      }),
    }
  }
  const isBack = calmSince !== undefined
  return {
    ...incident,
    symptoms: withFiring(before.symptoms, seen.firing),
    ...(isBack ? { begins: recent([...before.begins, now], now) } : {}),
    ...(isBack && before.flaps ? { flaps: { ...before.flaps, times: before.flaps.times + 1 } } : {}),
    // A state from before there were incidents does not say how it was told: nothing is worse than that.
    ...(before.priority === undefined ? adopted(seen) : {}),
    // A restart that emptied the queue stays the end, whatever else ends after it, unless trouble begins anew.
    ...defined({ ended: endedBy(seen.firing.some(({ began }) => began) ? undefined : ended, seen) }),
  }
}

function endedBy(before: End | undefined, { ended }: Seen): End | undefined {
  return before === 'restarted' ? before : (ended ?? before)
}

function adopted(seen: Seen): Partial<Incident> {
  const critical = seen.firing.some((one) => one.critical)
  const told = { priority: priorityOf(seen.firing, critical), verdicts: seen.verdict ? [seen.verdict] : [] }
  return critical ? { ...told, critical } : told
}

function end(incident: Incident, { idle, claimed }: Seen, now: number): Followed {
  const { calmSince } = incident
  // It went without an end: the rule was switched off, or what it was about is gone for good. Nothing is told of it.
  if (calmSince === undefined) return { incident: undefined }
  const waits = idle && (incident.ended ?? 'clear') === 'clear' && now - calmSince < IDLE
  if (waits || claimed) return { incident }
  return { incident: { ...incident, over: true }, told: { reason: 'resolved', priority: incident.priority ?? 0 } }
}

function turnOrReminder(worst: Firing, incident: Incident, seen: Seen, now: number): Followed {
  const turn = turnOf(worst, incident, seen)
  if (turn) return turn
  const { priority = 0, lastSentAt } = incident
  const misled = seen.firing.find((one) => one.misled)
  if (misled && lastSentAt !== undefined) return { incident, told: { reason: 'repeated', key: misled.key, priority } }
  const lasting = seen.firing.find(({ lasts }) => lasts)
  const { repeat } = lasting ?? {}
  const isDue = repeat !== undefined && lastSentAt !== undefined && now - lastSentAt >= repeat
  return { incident, ...(lasting && isDue ? { told: { reason: 'repeated', key: lasting.key, priority } } : {}) }
}

/** A turn for the worse; each is told once. */
function turnOf(worst: Firing, incident: Incident, seen: Seen): Followed | undefined {
  const { priority = 0, verdicts } = incident
  const critical = seen.firing.find((one) => one.critical)
  const isNew = seen.verdict !== undefined && !verdicts.includes(seen.verdict)
  const kinds = seen.verdict && isNew ? [...verdicts, seen.verdict] : verdicts
  const turned = (turn: Turn, { key }: Firing): Followed => {
    const next = Math.max(priority, priorityOf(seen.firing, critical !== undefined))
    const marks = critical || incident.critical ? { critical: true as const } : {}
    return {
      incident: { ...incident, priority: next, verdicts: kinds, ...marks },
      told: { reason: 'worse', key, priority: next, turn },
    }
  }
  if (critical && !incident.critical) return turned('critical', critical)
  if (worst.priority > priority) return turned('priority', worst)
  return isNew && WORSE.includes(seen.verdict) ? turned('verdict', worst) : undefined
}

/** From here on its ends and beginnings are silent. */
function comesAndGoes(worst: Firing, incident: Incident, now: number): Followed {
  const flaps = { since: incident.begins[0] ?? now, times: incident.begins.length }
  const next = { ...incident, flaps }
  return {
    incident: next,
    told: { reason: 'fired', key: worst.key, priority: incident.priority ?? 0, flaps: soFar(next) },
  }
}

/** It comes and goes, and fires now. */
function flapping(worst: Firing, incident: Incident, seen: Seen, now: number): Followed {
  const turn = turnOf(worst, incident, seen)
  if (turn) return turn
  const began = incident.begins.at(-1) ?? incident.openedAt
  if (now - began < SETTLED) return { incident }
  // Bad for an hour without a break: it no longer comes and goes.
  const { flaps: _, ...lasting } = incident
  const { times, since, bad } = soFar(incident)
  const told = { reason: 'repeated', key: worst.key, priority: incident.priority ?? 0 } as const
  return { incident: lasting, told: { ...told, flaps: { times, since, bad: bad + now - began } } }
}

/** It comes and goes, and does not fire now. */
function calm(incident: Incident, { claimed }: Seen, now: number): Followed {
  const { calmSince } = incident
  if (calmSince === undefined) return { incident: undefined }
  if (claimed || now - calmSince < SETTLED) return { incident }
  const flaps = soFar(incident)
  return {
    incident: { ...incident, over: true },
    told: { reason: 'resolved', priority: incident.priority ?? 0, flaps },
  }
}

function soFar({ flaps, begins, bad = 0 }: Incident): NonNullable<Told['flaps']> {
  return { since: flaps?.since ?? begins[0] ?? 0, times: flaps?.times ?? begins.length, bad }
}

function isThird(begins: readonly number[], { flaps }: Seen): boolean {
  return flaps !== undefined && begins.length >= flaps
}

function recent(begins: readonly number[], now: number): number[] {
  return begins.filter((at) => now - at < MEMORY).slice(-KEPT)
}
/** More beginnings than any setting asks for need not be kept. */
const KEPT = 20

function remembered(before: Incident | undefined, now: number): Incident | undefined {
  if (!before) return undefined
  const begins = recent(before.begins, now)
  return begins.length > 0 ? { ...before, begins, symptoms: {} } : undefined
}

function priorityOf(alerts: Seen['coming'], critical: boolean): number {
  const highest = Math.max(0, ...alerts.map(({ priority }) => priority))
  return critical ? Math.max(highest, CRITICAL_PRIORITY) : highest
}

function withFiring(symptoms: Incident['symptoms'], firing: readonly Firing[]): Incident['symptoms'] {
  const all = { ...symptoms }
  for (const { key, peak, lowIsWorse, began } of firing) {
    const worst = lowIsWorse ? Math.min : Math.max
    const known = all[key]
    const times = (known?.times ?? 0) + (began || !known ? 1 : 0)
    const peaks = [known?.peak, peak].filter((value) => value !== undefined)
    all[key] = { ...known, times, ...(peaks.length > 0 ? { peak: worst(...peaks) } : {}) }
  }
  return all
}
