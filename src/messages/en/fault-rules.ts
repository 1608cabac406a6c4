import type { Catalogue } from '../texts.ts'
import { failuresEn } from './failures.ts'
import { n, requests } from './phrases.ts'
import { counted } from './rule-shapes.ts'

/** What broke inside a server or its process. */
export const faultRulesEn = {
  corrupted: counted(
    'Answers are corrupt',
    'No more corrupt answers',
    (count) => `${requests(count)} answered with garbage`,
    'Take this replica out of rotation and restart it. If it comes back: GPU memory (nvidia-smi -q, XIDs), or the quantisation of the model.',
  ),
  transfer: counted(
    'KV transfers fail',
    'KV transfers work again',
    (count) => `${n.count(count)} KV ${n.plural(count, { one: 'transfer', other: 'transfers' })} failed or expired`,
    'Not a matter of load: look at the other side of the transfer, the network between both, and the log of the connector.',
  ),
  cpu_fallback: {
    headline: () => 'Model runs on the CPU now',
    now: ({ value, usual }) =>
      value === undefined || usual === undefined
        ? 'The model no longer lies in GPU memory.'
        : `${value >= 1 ? 'Nothing' : `Only ${n.percent(usual * (1 - value))}`} of the model lies in GPU memory, usually ${n.percent(usual)}: the rest runs on the CPU, many times slower.`,
    over: 'Model is in GPU memory again',
    peak: (value) => `down by ${n.percent(value)} at worst`,
    todo: () =>
      'Does nvidia-smi still show the GPU (driver update, sleep)? Then restart Ollama, and see what else holds its memory.',
  },
  pool: {
    headline: ({ value }) =>
      value === undefined || value === 0 ? 'No replica of the group answers' : 'Too few replicas answer',
    now: ({ value = 0, limit: least, pool, failure }) => {
      const cause = failure === undefined ? '' : `: ${failuresEn[failure.kind].words(failure, false)}`
      if (pool === undefined) return 'The group has lost its replicas.'
      if (pool.of === 0) return `The group has no replica at all${cause}.`
      const left = value === 0 ? `None of ${n.count(pool.of)}` : `Only ${n.count(value)} of ${n.count(pool.of)}`
      const wanted = least === undefined || least === 1 ? '' : `, at least ${n.count(least)} should`
      return `${left} ${n.plural(pool.of, { one: 'replica', other: 'replicas' })} answers${wanted}${cause}. Gone: ${pool.gone.join(', ')}.`
    },
    over: 'Enough replicas answer again',
    todo: () =>
      'All at once, they share a cause: look at node, network, image and autoscaler before the single servers.',
  },
  restarts: {
    headline: ({ alternates }) => (alternates ? 'Two servers answer by turns' : 'Server restarts again and again'),
    now: ({ value, alternates, backend }) => {
      const often = `${value === undefined ? 'Several' : n.count(value)} restarts within an hour`
      if (alternates)
        return `${often} as it seems, but an older process answers in between: two servers share this address.`
      return `${often}${backend === 'dcgm' ? '' : ': what was queued or being computed is lost each time'}.`
    },
    over: 'Server keeps running',
    peak: (value) => `${n.count(value)} within an hour at most`,
    todo: ({ alternates }) =>
      alternates
        ? 'Give each of them an address of its own: through a balancer their counters mean nothing.'
        : undefined,
  },
} satisfies Partial<Catalogue['rules']>
