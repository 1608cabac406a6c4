import { n } from '../messages/en/phrases.ts'
import type { PageWords } from './words.ts'

const endpoints = (count: number) => `${n.count(count)} ${n.plural(count, { one: 'endpoint', other: 'endpoints' })}`

export const wordsEn: PageWords = {
  title: 'Queuebell',
  skip: 'To the endpoints',
  summary: (trouble, all, taken) => {
    if (all === 0) return 'No endpoint is watched yet'
    if (trouble === 0) return all === 1 ? 'All is well' : `All is well at ${endpoints(all)}`
    const of = all === 1 ? 'Trouble' : `Trouble at ${n.count(trouble)} of ${endpoints(all)}`
    return taken === 0
      ? of
      : `${of}, ${taken === trouble ? 'taken or silenced' : `${n.count(taken)} taken or silenced`}`
  },
  nothingYet: 'No state is here yet: has a watcher run?',
  asOf: (clock) => `as of ${clock}`,
  fires: 'What fires',
  moreFire: (count) => `${n.count(count)} more`,
  endpoints: 'Endpoints',
  group: (count, above) => (above === 0 ? n.count(count) : `${n.count(count)}, ${n.count(above)} above`),
  since: (clock, lasted) => `since ${clock}, ${lasted}`,
  acknowledged: (by, clock) => `Acknowledged${by === undefined ? '' : ` ${by}`} at ${clock}`,
  silenced: (clock) => `Silenced until ${clock}`,
  maintenance: (clock) => `Planned work until ${clock}`,
  by: (who) => (who === 'link' ? 'by link' : `by ${who}`),
  pending: 'not for long enough yet',
  notAsked: 'not asked yet',
  unreachable: 'no usable answer',
  watchers: 'Watchers',
  ran: (clock, ago) => `ran at ${clock}, ${ago} ago`,
  neverRan: 'has not run yet',
  late: 'does not run: what is shown is old',
  waiting: (count) => `${n.count(count)} ${n.plural(count, { one: 'push', other: 'pushes' })} not delivered yet`,
  silences: 'Silences',
  silenceOf: (scope, name) =>
    scope === 'function' ? `everything of ${name}` : scope === 'group' ? `group ${name}` : name,
  broken: 'The state cannot be read:',
  badge: 'Badge',
  signal: {
    waiting: 'waiting',
    running: 'running',
    kv_cache: 'KV',
    queue_wait: 'mean wait',
    ttft_p99: 'TTFT p99',
    itl_p99: 'ITL p99',
    tokens_per_second: 'tok/s',
    requests_per_second: 'req/s',
    failed_share: 'failed',
    canary_wait: 'canary wait',
    canary_ttft: 'canary TTFT',
    gpu_memory: 'GPU memory',
    beat_age: 'last beat',
  },
  limit: (value) => `limit ${value}`,
  course: (first, last, span) => `${first} → ${last} in ${span}`,
  act: {
    heading: 'What can be done',
    over: 'This is over: it does not fire any more.',
    what: 'Opening this page changes nothing.',
    acknowledge: 'Acknowledge',
    acknowledgeMeans: 'I have it: no more reminders. Its end, and a turn for the worse, are still told.',
    silence: (lasts) => `Silence for ${lasts}`,
    silenceUntil: (clock) => `Silence until ${clock}`,
    silenceMeans: (names) => `Nothing of ${names} is pushed until then. What still fires after it is told.`,
    end: 'End the silence',
    done: {
      acknowledged: 'Acknowledged: no more reminders of this.',
      silenced: (clock) => `Silenced until ${clock}.`,
      already: (clock) => `Already silenced until ${clock}.`,
      ended: 'The silence has ended. What still fires is told at the next run.',
    },
    failed: 'This could not be written down just now: please try again.',
    unknown: 'Nothing was done: that is none of the choices.',
  },
}
