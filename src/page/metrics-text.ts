import type { PageView } from './view.ts'

type Labels = Readonly<Record<string, string | undefined>>
interface Sample {
  labels: Labels
  value: number
}

/** The page as Prometheus text, format 0.0.4. https://prometheus.io/docs/instrumenting/exposition_formats/ */
export function metricsText(view: PageView): string {
  const { functions, now } = view
  const ran = functions.flatMap(({ name, ranAt }) => (ranAt === undefined ? [] : [{ name, ranAt }]))
  const endpoints = functions.flatMap((owner) =>
    owner.endpoints.map((endpoint) => ({ ...endpoint, labels: { function: owner.name, endpoint: endpoint.name } })),
  )
  const families = [
    family('alert_firing', 'Alerts that are not ok: 1 firing, 0 in breach and not yet for long enough.', [
      ...endpoints.flatMap(({ labels, fire }) =>
        (fire?.alerts ?? []).map(({ rule, subject }) => ({ labels: { ...labels, rule, subject }, value: 1 })),
      ),
      ...endpoints.flatMap(({ labels, pending }) =>
        [...new Set(pending)].map((rule) => ({ labels: { ...labels, rule, subject: undefined }, value: 0 })),
      ),
    ]),
    family(
      'alert_since_timestamp_seconds',
      'When what fires at an endpoint began to fire.',
      endpoints.flatMap(({ labels, fire }) => (fire ? [{ labels, value: fire.since / 1_000 }] : [])),
    ),
    family(
      'alert_acknowledged',
      '1 where somebody has taken all that fires at an endpoint.',
      endpoints.flatMap(({ labels, fire }) => (fire ? [{ labels, value: fire.acknowledged ? 1 : 0 }] : [])),
    ),
    family(
      'endpoint_up',
      '1 where the last scrape or canary got a usable answer.',
      endpoints.flatMap(({ labels, up }) => (up === undefined ? [] : [{ labels, value: up ? 1 : 0 }])),
    ),
    family(
      'endpoint_silenced',
      '1 where nothing of an endpoint is pushed now.',
      endpoints.map(({ labels, quiet }) => ({ labels, value: quiet ? 1 : 0 })),
    ),
    family(
      'signal',
      'Signals of the last good answer, in the units of docs/signals.md.',
      endpoints.flatMap(({ labels, numbers }) =>
        Object.entries(numbers).map(([signal, value]) => ({ labels: { ...labels, signal }, value })),
      ),
    ),
    family(
      'run_age_seconds',
      'Time since a watcher last ran.',
      ran.map(({ name, ranAt }) => ({ labels: { function: name }, value: Math.max(0, now - ranAt) / 1_000 })),
    ),
    family(
      'run_timestamp_seconds',
      'When a watcher last ran.',
      ran.map(({ name, ranAt }) => ({ labels: { function: name }, value: ranAt / 1_000 })),
    ),
    family(
      'notifications_waiting',
      'Notifications that no push server has taken yet.',
      functions.map(({ name, waiting }) => ({ labels: { function: name }, value: waiting })),
    ),
    family('state_readable', '0 where the state of a watcher cannot be read.', [
      ...functions.map(({ name }) => ({ labels: { function: name }, value: 1 })),
      ...view.broken.map(({ function: name }) => ({ labels: { function: name }, value: 0 })),
    ]),
  ]
  return families.join('')
}

function family(name: string, help: string, samples: readonly Sample[]): string {
  if (samples.length === 0) return ''
  const lines = samples.map(({ labels, value }) => `queuebell_${name}{${labelsText(labels)}} ${value}`)
  return `# HELP queuebell_${name} ${help}\n# TYPE queuebell_${name} gauge\n${lines.join('\n')}\n`
}

function labelsText(labels: Labels): string {
  return Object.entries(labels)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}="${escaped(value)}"`]))
    .join(',')
}

function escaped(value: string): string {
  return value.replace(/\\/g, '\\\\').replace(/\n/g, '\\n').replace(/"/g, '\\"')
}
