import { byRefusal } from '../by-refusal.ts'
import { withPrefix } from '../failure-shapes.ts'
import type { Catalogue, Fact } from '../texts.ts'
import { failuresEn } from './failures.ts'
import { atLeast, days, limit, n, requests } from './phrases.ts'
import { counted, measured, plain } from './rule-shapes.ts'

const CANARIES: readonly (string | undefined)[] = ['ollama', 'openai']

export const serverRulesEn = {
  down: {
    headline: ({ failure, backend }) =>
      failure ? failuresEn[failure.kind].headline(failure, CANARIES.includes(backend)) : 'Server does not answer',
    now: down,
    over: 'Answers again',
    todo: ({ failure, backend, variables }) =>
      failure && withPrefix(failuresEn[failure.kind].todo(failure, CANARIES.includes(backend), variables), backend),
  },
  blind: {
    headline: ({ missing, signals, doubted, sources }) => {
      if (sources !== undefined) return 'The list of endpoints cannot be used'
      if (doubted !== undefined && signals === undefined) return 'Metrics cannot be believed'
      if (missing === undefined) return 'Metrics are missing'
      return 'Model is not on the server'
    },
    now: blind,
    over: 'Everything is visible again',
    todo: whatIsMissing,
  },
  observer: plain(
    'Gateway has lost sight of its engine',
    'The gateway calls its own view of the engine degraded.',
    'Gateway sees its engine again',
    'Is the engine reachable from the gateway? Until then it admits blindly.',
  ),
  upstream: plain(
    'Upstream is unhealthy',
    'The gateway considers this upstream unhealthy.',
    'Upstream is healthy again',
    'Look at that upstream: is it up, and does its health route answer?',
  ),
  rejected: {
    ...counted(
      'Gateway refuses requests',
      'Requests are no longer refused',
      (count) => `${requests(count)} refused at admission`,
      'The admission limit works as set: add a replica, or raise the limit if the engine has room.',
    ),
    headline: ({ backend }) => (backend === 'vllm' ? 'Server refuses requests' : 'Gateway refuses requests'),
  },
  stale: counted(
    'Gateway works with stale engine state',
    'Gateway has fresh engine state again',
    (count) => `${n.count(count)} ${n.plural(count, { one: 'decision', other: 'decisions' })} on a stale engine state`,
    "The engine's state reaches the gateway too late: look at its polling and the network between them.",
  ),
  queue_full: counted(
    "Gateway's queue is full",
    "Gateway's queue has room again",
    (count) => `${requests(count)} refused because the queue was full`,
    'Clients get errors now: add a replica or rate-limit at the gateway.',
  ),
  parked: counted(
    'Gateway parks requests',
    'Gateway no longer parks requests',
    (count) => `${requests(count)} parked at admission`,
    'Requests are held back until the engine has room: add a replica if it lasts.',
  ),
  canary: {
    ...measured('Canary waits long', 'Canary is quick again', 'Our own request waited', n.seconds),
    now: ({ value, limit: max, atLeast: least, backend }) => {
      if (value === undefined) return 'Our own request waited long.'
      const what =
        backend === 'openai' && !least ? 'Our own request got its first token after' : 'Our own request waited'
      return `${what} ${atLeast(least)}${n.seconds(value)}${limit(max, n.seconds)}.`
    },
    todo: () => "Look at the server's queue and GPU; add a replica if load grew.",
  },
  busy: byRefusal({
    full: plain(
      'Server refuses requests: queue is full',
      'The server is overloaded, not down: it refused our own request because its queue is full. Users are being refused too.',
      'Server takes requests again',
      'Add a replica or rate-limit at the gateway.',
    ),
    'no-backend': plain(
      'Gateway has no backend left',
      'The gateway refused our own request: none of its backends is left, they failed or are in cool-down. Users are being refused too.',
      'Server takes requests again',
      "Look at the backends and at their errors in the gateway's log; a wrong key at a backend looks the same.",
    ),
    'own-limit': plain(
      "Our own key's limit is reached",
      'Our own request was refused for the limit or budget of the key that it is sent with. Other users may well be served.',
      'Server takes requests again',
      'Give the watcher a key with room of its own, or let it ask more rarely.',
    ),
    overloaded: plain(
      'Hosted service is overloaded',
      'The service calls itself overloaded (HTTP 529) and refused our own request: nothing of ours is full, its other users are refused too.',
      'Server takes requests again',
      "See the service's status page; until it is over, a second provider or another model is all that helps.",
    ),
  }),
  cold_load: {
    ...measured('Model had to be loaded', 'Model stays loaded', 'Loading the model took', n.seconds),
    todo: () => 'Raise OLLAMA_KEEP_ALIVE so that the model stays loaded between requests.',
  },
  tls_expiry: {
    headline: () => 'TLS certificate ends soon',
    now: ({ value, limit: max, ends, backend }) => {
      const whose = backend === undefined ? ' of this push server' : ''
      const when = ends === undefined ? '' : `, on ${ends}`
      if (value === undefined) return `The TLS certificate${whose} ends soon.`
      if (value <= 0) return `The TLS certificate${whose} has ended${when}.`
      return `The TLS certificate${whose} ends in ${days(value)}${when}${limit(max, days)}.`
    },
    over: 'TLS certificate was renewed',
    todo: () =>
      'Renew it, and see why that did not happen by itself (certbot, cert-manager, the load balancer): once it has ended, nobody gets through.',
  },
  gap: {
    headline: () => 'Not watched for a while',
    now: gap,
    over: 'Watched again',
    todo: () => "Look at the schedule, at errors and throttling of the function, and at this machine's sleep.",
  },
  silence: {
    headline: () => 'Silenced',
    now: silence,
    over: 'The silence is over',
  },
  'state-broken': plain(
    'The saved state was unreadable',
    'The broken state was put aside and watching started anew: baselines are being learned, open alerts may be told again.',
    'State is back',
    'The copy lies beside the state under another key, for a look at what happened.',
  ),
} satisfies Partial<Catalogue['rules']>

function down(fact: Fact): string {
  const tries =
    fact.value === undefined
      ? 'No usable answer'
      : `No usable answer ${n.count(fact.value)} ${n.plural(fact.value, { one: 'time', other: 'times' })} in a row`
  if (!fact.failure) return `${tries}.`
  const last = fact.failure.mixed ? ', the last time' : ''
  return `${tries}${last}: ${failuresEn[fact.failure.kind].words(fact.failure, CANARIES.includes(fact.backend))}.`
}

function blind({ missing, answeredBy, signals, doubted, sources }: Fact): string {
  if (sources !== undefined)
    return `${sources} cannot be read or is not valid. Its last good list counts; new endpoints are not seen.`
  if (missing !== undefined && answeredBy !== undefined)
    return `Asked for “${missing}”, another model answered: “${answeredBy}”. Its times and answers say nothing of “${missing}”.`
  if (missing !== undefined) return `There is no model “${missing}” on this server: its rules see nothing.`
  const parts = [
    signals === undefined ? undefined : `does not publish: ${signals}`,
    doubted === undefined ? undefined : `publishes values that cannot be: ${doubted}`,
  ].filter((part) => part !== undefined)
  if (parts.length > 0) return `The server answers, but ${parts.join('; it ')}. Rules on them see nothing.`
  return 'The server answers, but numbers that the rules need are missing.'
}

function gap({ gap: span, from, to }: Fact): string {
  if (!span) return 'Nothing was watched for a while.'
  const when = from === undefined || to === undefined ? '' : ` from ${from} to ${to}`
  return `Not watched${when} (${n.lasted(span.length)}); usually every ${n.lasted(span.interval)}.`
}

function silence({ silence: what, to }: Fact): string {
  if (!what || to === undefined) return 'Nothing is pushed for a while.'
  const why = what.comment === undefined ? '' : `, “${what.comment}”`
  const who = what.by === 'link' ? 'by a link' : `by ${what.by}`
  return `No pushes until ${to} (${who}${why}). What still fires then is told.`
}

function whatIsMissing({ missing, signals, doubted, sources, variables }: Fact): string | undefined {
  if (sources !== undefined) return undefined
  if (missing !== undefined)
    return `Check ${variables === undefined ? 'the model in the settings' : `${variables}_MODEL`} against the name that the server publishes.`
  return doubted !== undefined && signals === undefined
    ? 'Look for NaN, values out of range and old timestamps on the metrics page; a restart of the exporter often helps.'
    : 'Was the server upgraded, or is this another port? npm run doctor tells what is missing.'
}
