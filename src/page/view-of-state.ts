import type { Backend } from '../model/backend.ts'
import { defined } from '../model/defined.ts'
import type { Verdict } from '../model/explanation.ts'
import type { DerivedSignal, Notification } from '../model/notification.ts'
import type { Rule } from '../model/rule.ts'
import { mainSignal } from '../rules/snapshot.ts'
import { usualInterval } from '../rules/watcher.ts'
import { ruleOf, subjectOf } from '../state/alert-key.ts'
import type { Alert, EndpointState, State } from '../state/schema.ts'
import { incidentOf, isOpen, type Place, quietAt } from '../state/silences.ts'
import { type Remembered, remember } from './remembered.ts'
import { chartOfRule, ruleOfSignal, signalOfRule } from './signal-of-rule.ts'
import type { Chart, EndpointView, Fire, FunctionView } from './view.ts'

/** What the configuration says of an endpoint: its rules with their limits, by id, and its planned work. */
export interface EndpointSettings extends Place {
  rules: ReadonlyMap<string, Rule>
}

/** Without a schedule that can be told, a watcher is late after this. Milliseconds. */
const LATE = 5 * 60_000
/** Intervals without a run after which a watcher is late, as the rule `gap` has it. */
const INTERVALS = 3

/** The state of one function as it is shown. */
export function viewOfState(
  state: State,
  owner: { name: string; backend: Backend },
  settingsOf: (endpoint: string, names: readonly string[]) => EndpointSettings,
  now: number,
): FunctionView {
  const names = Object.keys(state.endpoints)
  const interval = usualInterval(state.gaps)
  const silences = (state.silences ?? []).filter(({ until }) => until > now)
  const late = interval === undefined ? LATE : Math.max(INTERVALS * interval, 60_000)
  return {
    name: owner.name,
    backend: owner.backend,
    ...defined({ ranAt: state.ranAt }),
    isLate: state.ranAt !== undefined && now - state.ranAt > late,
    endpoints: Object.entries(state.endpoints).map(([name, endpoint]) =>
      endpointOf(endpoint, { state, backend: owner.backend, settings: settingsOf(name, names), now }),
    ),
    silences,
    waiting: state.outbox.length,
  }
}

interface Surroundings {
  state: State
  backend: Backend
  settings: EndpointSettings
  now: number
}

function endpointOf(endpoint: EndpointState, around: Surroundings): EndpointView {
  const { state, backend, settings, now } = around
  const { name, group } = settings
  const firing = Object.entries(endpoint.alerts).filter(([, { phase }]) => phase === 'firing')
  const remembered = remember(endpoint, backend, firing.length > 0)
  const charts = chartsOf(endpoint, backend, settings.rules)
  const pending = Object.entries(endpoint.alerts).flatMap(([key, { phase }]) =>
    phase === 'pending' ? [ruleOf(key)] : [],
  )
  return {
    name,
    ...defined({
      group,
      model: endpoint.model,
      goodAt: endpoint.goodAt,
      failure: endpoint.failures > 0 ? endpoint.failure : undefined,
      fire: firing.length > 0 ? fireOf(firing, endpoint, { ...around, remembered, charts }) : undefined,
      quiet: quietAt(settings, state.silences ?? [], now),
    }),
    up: endpoint.recent.length === 0 ? undefined : endpoint.failures === 0,
    numbers: remembered.numbers,
    atLeast: remembered.atLeast,
    charts,
    gpus: Object.keys(endpoint.gpus),
    pending,
  }
}

function chartsOf({ recent }: EndpointState, backend: Backend, rules: EndpointSettings['rules']): Chart[] {
  const main = mainSignal(backend)
  const of = (signal: DerivedSignal, index: 1 | 2): Chart => ({
    signal,
    points: recent.map((run) => [run[0], run[index]] as const),
    ...defined({ limit: rules.get(ruleOfSignal(signal, backend) ?? '')?.limit }),
  })
  const charts = [of(main, 1), ...(main === 'kv_cache' ? [] : [of('kv_cache', 2)])]
  return charts.filter(({ points }) => points.some(([, value]) => value !== null))
}

function fireOf(
  firing: readonly (readonly [string, Alert])[],
  endpoint: EndpointState,
  around: Surroundings & { remembered: Remembered; charts: Chart[] },
): Fire {
  const { state, backend, remembered, charts } = around
  const alerts = firing.map(([key, alert]) => alertNow(key, alert, endpoint, around))
  alerts.sort((a, b) => b.priority - a.priority || a.firedAt - b.firedAt)
  const taken = alerts.map(({ incident }) => state.acknowledged?.[incident])
  return {
    alerts,
    since: Math.min(...alerts.map(({ firedAt }) => firedAt)),
    ...defined({
      verdict: remembered.verdict ?? lastTold(endpoint),
      // Of what does not answer there is nothing to see.
      chart: endpoint.failures > 0 ? undefined : chartOfRule(alerts[0]?.rule ?? '', backend, charts),
      acknowledged: taken.every((one) => one !== undefined) ? taken[0] : undefined,
    }),
  }
}

/** The verdict that was told last of what is open, where this moment shows none. */
function lastTold({ incidents }: EndpointState): Verdict | undefined {
  const kinds = Object.values(incidents).flatMap((one) => (isOpen(one) ? (one.verdicts.at(-1) ?? []) : []))
  return kinds[0] === undefined ? undefined : { kind: kinds[0] as Verdict['kind'] }
}

/** An alert as a notification of this moment would tell it. */
function alertNow(
  key: string,
  alert: Alert,
  endpoint: EndpointState,
  { backend, settings, remembered, now }: Surroundings & { remembered: Remembered },
): Notification {
  const id = ruleOf(key)
  const subject = subjectOf(key)
  const rule = settings.rules.get(id)
  const signal = signalOfRule(id, backend)
  const incident = incidentOf(endpoint, key)
  return {
    id: `${incident?.id ?? key}/page`,
    incident: incident?.id ?? key,
    reason: 'repeated',
    rule: id,
    endpoint: settings.name,
    priority: rule?.priority ?? 5,
    at: now,
    firedAt: alert.firedAt ?? alert.activeAt,
    ...(incident?.symptoms[key]?.about ?? (id === 'down' && endpoint.failure ? { failure: endpoint.failure } : {})),
    ...defined({
      subject,
      value: valueOfAlert(id, subject, endpoint, signal && remembered.numbers[signal]),
      limit: rule?.limit,
      peak: alert.peak,
    }),
    ...(signal !== undefined && remembered.atLeast.includes(signal) ? { atLeast: true } : {}),
    context: { backend, url: '', numbers: remembered.numbers, of: 1 },
  }
}

/** Of one GPU or upstream the state keeps no number but the XID. */
function valueOfAlert(
  rule: string,
  subject: string | undefined,
  { failures, xids }: EndpointState,
  value: number | undefined,
): number | undefined {
  if (rule === 'down') return failures
  return subject === undefined ? value : rule === 'gpu_xid' ? xids[subject] : undefined
}
