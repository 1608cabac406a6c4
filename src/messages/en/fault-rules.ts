import type { Catalogue } from '../texts.ts'
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
