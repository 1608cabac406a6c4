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
} satisfies Partial<Catalogue['rules']>
