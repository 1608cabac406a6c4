import type { Catalogue, Fact } from '../texts.ts'
import { limit, n, requests } from './phrases.ts'
import { measured } from './rule-shapes.ts'

export const engineRulesEn = {
  waiting: {
    headline: () => 'Inference queue is growing',
    still: 'Inference queue is long',
    now: queue,
    over: 'Queue is short again',
    peak: (value) => `${n.count(value)} waiting at most`,
  },
  inflight: {
    headline: () => 'Admission limit reached',
    now: ({ value, limit: max, running, waiting }) => {
      if (value === undefined) return 'Waiting and running together have reached the limit.'
      const parts =
        running !== undefined && waiting !== undefined
          ? ` (${n.count(running)} running, ${n.count(waiting)} waiting)`
          : ''
      return `${requests(value)} in flight${parts}${max === undefined ? '' : `, the limit is ${n.count(max)}`}.`
    },
    over: 'Below the admission limit again',
    peak: (value) => `${n.count(value)} in flight at most`,
  },
  growth: {
    headline: () => 'Queue keeps growing',
    now: growth,
    over: 'Queue no longer grows',
    peak: (value) => `up by ${n.count(value)} at most`,
  },
  queue_wait: measured('Requests wait long', 'Requests no longer wait long', 'Mean time in the queue', n.seconds),
  kv_cache: {
    headline: ({ running }) => (running === 0 ? 'KV cache is not given back' : 'KV cache is nearly full'),
    now: ({ value, limit: max, at, running }) =>
      value === undefined
        ? 'The KV cache is nearly full.'
        : running === 0
          ? `KV cache ${n.percent(value)} full${limit(max, n.percent)} though nothing runs: its blocks are not given back${at === undefined ? '' : `, fullest: ${at}`}.`
          : `KV cache ${n.percent(value)} full${limit(max, n.percent)}${at === undefined ? '' : `, fullest: ${at}`}.`,
    over: 'KV cache has room again',
    peak: (value) => `${n.percent(value)} at most`,
  },
  ttft: measured('First token comes late', 'First token comes in time again', 'Time to first token, p99:', n.seconds),
  itl: measured('Tokens come slowly', 'Tokens come at their pace again', 'Time per token, p99:', n.seconds),
  token_time: {
    headline: () => 'Each token takes longer',
    now: tokenTime,
    over: 'Tokens come as fast as usual again',
    peak: (value) => `${n.times(value)}× as long at worst`,
  },
  queue_tail: measured(
    'Some requests wait long',
    'No request waits long any more',
    'Time in the queue, p95:',
    n.seconds,
  ),
  e2e: measured('Requests take long', 'Requests are quick again', 'Time of a whole request, p99:', n.seconds),
  slo: {
    headline: () => 'First tokens come too late too often',
    now: ({ value, limit: max, within }) => {
      const time = within === undefined ? 'in time' : `within ${n.seconds(within / 1_000)}`
      if (value === undefined) return `Too few first tokens came ${time}.`
      const wanted = max === undefined ? '' : ` (wanted: ${n.percent(max)})`
      return `In the last hour ${n.percent(value)} of first tokens came ${time}${wanted}, and it is no better now.`
    },
    over: 'First tokens come in time again',
    peak: (value) => `only ${n.percent(value)} in time at worst`,
  },
  prefix_hits: {
    headline: () => 'Prefix cache hits fell',
    now: hits,
    over: 'Prefix cache hits are back',
    peak: (value) => `down by ${n.percent(value)} at worst`,
  },
  throughput: {
    headline: () => 'Generation slowed down',
    now: throughput,
    over: 'Generation is back at its usual speed',
    peak: (value) => `down by ${n.percent(value)} at worst`,
  },
  stuck: {
    headline: ({ heldBy }) => (heldBy === 'asleep' ? 'Requests wait for a sleeping engine' : 'Queue does not move'),
    now: stuck,
    over: 'Queue moves again',
    peak: (value) => `no request finished for ${n.seconds(value)}`,
    todo: ({ heldBy }) =>
      heldBy === undefined
        ? 'Look at what runs: one long request may hold the cache. Send a request by hand; if it hangs, keep the log and restart the server.'
        : whatHolds(heldBy),
  },
  stalled: {
    headline: ({ heldBy }) => (heldBy === 'unhealthy' ? 'Engine is unhealthy' : 'Engine makes no progress'),
    now: stalled,
    over: 'Work moves again',
    todo: ({ heldBy }) => heldBy && whatHolds(heldBy),
  },
  errors: {
    ...measured('Requests are failing', 'Requests succeed again', 'Failed requests:', n.percent),
    now: errors,
  },
  preemptions: measured('Requests are being preempted', 'Preemptions are back to normal', 'Preemptions:', n.rate),
  sibling: {
    headline: () => 'Slower than its siblings',
    now: sibling,
    over: 'As fast as its siblings again',
    peak: (value) => `${n.times(value)}× as long at worst`,
  },
} satisfies Partial<Catalogue['rules']>

/** `42 requests are waiting (limit 20), 16 are running.` */
function queue({ value, limit: max, running, deferred = 0 }: Fact): string {
  if (value === undefined) return 'Requests are piling up.'
  const isAre = (count: number) => (count === 1 ? 'is' : 'are')
  const more =
    deferred > 0 ? `, ${n.count(deferred)} more ${isAre(deferred)} deferred for an adapter or a KV transfer` : ''
  const also = `${running === undefined ? '' : `, ${n.count(running)} ${isAre(running)} running`}${more}`
  return `${requests(value)} ${value === 1 ? 'is' : 'are'} waiting${limit(max, n.count)}${also}.`
}

function growth({ value, waiting }: Fact): string {
  const more =
    value === undefined
      ? 'The queue has grown at each of the last runs'
      : `The queue grew by ${n.count(value)} over the last 5 runs`
  return `${more}${waiting === undefined ? '' : ` to ${n.count(waiting)}`}.`
}

function workOf({ running, waiting }: Fact): string | undefined {
  const parts = [
    running === undefined ? undefined : `${n.count(running)} running`,
    waiting === undefined ? undefined : `${n.count(waiting)} waiting`,
  ].filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : parts.join(' and ')
}

function stalled(fact: Fact): string {
  const { value, heldBy } = fact
  const work = workOf(fact)
  const runs =
    value === undefined || value === 0 ? '' : ` for ${n.count(value)} ${n.plural(value, { one: 'run', other: 'runs' })}`
  if (heldBy === 'unhealthy') return `The server calls its engine unhealthy${work === undefined ? '' : `: ${work}`}.`
  if (heldBy === 'deferred')
    return `${work ?? 'Requests wait'}, all of them deferred: they wait for an adapter or a KV transfer, and none has moved${runs}.`
  if (heldBy === 'rereading')
    return `${work ?? 'Work is reported'}. Prompts are read again and again, but no token has come for over 10 minutes.`
  return `${work === undefined ? 'Work is reported' : work}, but no request finished and no token came${runs}: the engine hangs or its numbers are frozen.`
}

function stuck({ value, waiting, running, heldBy }: Fact): string {
  const who = waiting === undefined ? 'Requests are' : `${requests(waiting)} ${waiting === 1 ? 'is' : 'are'}`
  const also = running === undefined ? '' : `, ${n.count(running)} running`
  if (heldBy === 'asleep') return `${who} waiting${lastedFor(value)}: the engine sleeps.`
  if (heldBy === 'deferred')
    return `${who} waiting, all deferred for an adapter or a KV transfer; none has finished${lastedFor(value)}.`
  return `${who} waiting${also}, and none has finished in time${lastedFor(value)}.`
}

function lastedFor(seconds: number | undefined): string {
  return seconds === undefined ? '' : ` for ${n.lasted(seconds * 1_000)}`
}

export function whatHolds(heldBy: NonNullable<Fact['heldBy']>): string {
  switch (heldBy) {
    case 'unhealthy':
      return 'Read the log of this engine; its requests hang until it is restarted.'
    case 'asleep':
      return 'Wake the engine, or send its requests to another one.'
    case 'deferred':
      return 'Look at the connector that moves KV blocks, and at the adapters: are there more in use than may be loaded at once?'
    case 'rereading':
      return 'The cache cannot hold these prompts: lower the number of requests at once or their length, then restart the engine.'
    default:
      return heldBy satisfies never
  }
}

function errors({ value, limit: max, failedBy }: Fact): string {
  if (value === undefined) return 'Requests are failing.'
  return `Failed requests: ${n.percent(value)}${limit(max, n.percent)}${failedBy === undefined ? '' : `, mostly: ${failedBy}`}.`
}

function hits({ value, usual }: Fact): string {
  if (value === undefined) return 'Prompts find less in the prefix cache than usual.'
  if (usual === undefined) return `The share of prompt tokens found in the prefix cache fell by ${n.percent(value)}.`
  const share = usual * Math.max(0, 1 - value)
  return `Prompt tokens found in the prefix cache: ${n.percent(share)}, usually ${n.percent(usual)}.`
}

function throughput({ value, usual, running }: Fact): string {
  if (value === undefined) return 'Fewer tokens come than usual for this much work.'
  const work = running === undefined ? '' : ` with ${n.count(running)} running`
  if (usual === undefined) return `Generation is ${n.percent(value)} slower than usual${work}.`
  const speed = usual * Math.max(0, 1 - value)
  return `${n.large(speed)} tok/s${work}, usually ${n.large(usual)} tok/s.`
}

function tokenTime({ value, usual, running }: Fact): string {
  if (value === undefined) return 'Each token takes longer than usual for as many requests.'
  const work = running === undefined ? '' : ` with ${n.count(running)} running`
  if (usual === undefined) return `Each token takes ${n.times(value)}× as long as usual${work}.`
  return `Each token takes ${n.seconds(usual * value)}${work}, usually ${n.seconds(usual)}.`
}

function sibling({ value }: Fact): string {
  return value === undefined
    ? 'It answers slower than the other replicas.'
    : `A token takes ${n.times(value)}× as long here as on the other replicas.`
}
