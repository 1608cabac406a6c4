import type { Cause, Verdict } from '../../model/explanation.ts'
import type { Catalogue } from '../texts.ts'
import { throttledBy } from './hardware-rules.ts'
import { n, pace, requests } from './phrases.ts'
import { xidMeaning } from './xids.ts'

/** What lies below a symptom, and what is counted of it. */
export const belowEn = {
  reaches: (count, minutes) => `At this rate ${n.count(count)} wait in about ${n.estimate(minutes * 60)}.`,
  flow: ({ came, finished, usual }) => {
    const before = usual === undefined ? '' : ` (usually ${n.count(usual * 60)})`
    return `${n.count(came * 60)} requests came a minute${before}, ${n.count(finished * 60)} finished.`
  },
  ruler: ({ manages, comes, replicas, needed }) => {
    const { count, unit, alone } = pace(Math.min(manages, comes))
    const all = replicas === 1 ? 'come' : `come to ${n.count(replicas)}`
    return `One replica manages about ${count(manages)} ${count(manages) === '1' ? 'request' : 'requests'}${unit}, ${count(comes)}${alone} ${all}: ${n.count(needed)} replicas are needed.`
  },
  gpuBelow: ({ name, xid, gone, throttle }) => {
    const meaning = xid === undefined ? undefined : xidMeaning(xid)
    if (xid !== undefined) return `${name}: XID ${xid}${meaning === undefined ? '' : `, ${meaning}`}.`
    if (gone) return `${name} is gone from its exporter.`
    return `${name} is slowed down by its hardware: ${throttledBy(throttle)}.`
  },
  upstreamsBelow: (names) => `The gateway calls ${names} unhealthy.`,
  cameFrom: (cause) => `Cause: ${causeIn(cause)}.`,
} satisfies Partial<Catalogue['line']>

function causeIn({ gpu, upstreams }: Cause): string {
  if (!gpu) return `unhealthy upstream ${upstreams}`
  if (gpu.xid !== undefined) return `${gpu.name}, XID ${gpu.xid}`
  return gpu.gone ? `${gpu.name} was gone` : `${gpu.name} was slowed down by its hardware`
}

/** Where work does not get through for another reason than load or speed. */
export const otherVerdictsEn = {
  imbalance: ({ uneven }: Verdict) =>
    uneven === undefined
      ? 'Spread unevenly: some have the queue while others idle.'
      : `Spread unevenly: ${requests(uneven.waiting)} wait on ${listed(uneven.at)} while ${idle(uneven)}.`,
  transfer: ({ transfersFailed, transferTime }: Verdict) => {
    const failed = transfersFailed ? `fail (${n.count(transfersFailed)} so far)` : undefined
    const slow =
      transferTime === undefined || transferTime < 1.5 ? undefined : `take ${n.times(transferTime)}× as long as usual`
    const what = [failed, slow].filter((part) => part !== undefined).join(' and ') || 'are slow'
    return `First tokens are late although nobody queues: KV transfers ${what}.`
  },
  draft: ({ accepted, usuallyAccepted, timePerToken }: Verdict) => {
    const share =
      accepted === undefined || usuallyAccepted === undefined
        ? 'fewer draft tokens are accepted'
        : `${n.percent(accepted)} of draft tokens are accepted, usually ${n.percent(usuallyAccepted)}`
    const slower =
      timePerToken === undefined || timePerToken < 1.1 ? '' : `; a token takes ${n.times(timePerToken)}× as long`
    return `Speculative decoding guesses worse: ${share}${slower}.`
  },
  asleep: ({ waiting }: Verdict) => {
    const who =
      waiting === undefined ? '' : `, and ${requests(waiting)} ${waiting === 1 ? 'waits' : 'wait'} for it to wake`
    return `The engine sleeps on purpose${who}.`
  },
  deferred: ({ waiting = 0, deferred }: Verdict) => {
    const who =
      deferred === undefined
        ? 'those that wait'
        : waiting > deferred
          ? `${n.count(deferred)} of ${n.count(waiting)} that wait`
          : `all ${n.count(deferred)} that wait`
    return `Deferred: ${who}, for an adapter or a KV transfer and not for room.`
  },
}

function idle({ of, idle: count }: NonNullable<Verdict['uneven']>): string {
  const one = of === 'engines' ? 'engine idles' : 'replica idles'
  const other = of === 'engines' ? 'engines idle' : 'replicas idle'
  return `${n.count(count)} other ${n.plural(count, { one, other })}`
}

/** So many names; the rest are counted. */
const NAMED = 4

function listed(names: readonly string[]): string {
  const shown = names.slice(0, NAMED).join(', ')
  return names.length > NAMED ? `${shown} and ${n.count(names.length - NAMED)} more` : shown
}
