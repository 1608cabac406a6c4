import type { Catalogue } from '../texts.ts'
import { n, requests } from './phrases.ts'
import { counted } from './rule-shapes.ts'

/** What broke inside a server or its process. */
export const faultRulesRu = {
  corrupted: counted(
    'Ответы испорчены',
    'Испорченных ответов больше нет',
    (count) => `испорчены ответы: ${requests(count)}`,
    'Выведите реплику из балансировки и перезапустите. Если повторится, смотрите память GPU (nvidia-smi -q, XID) и квантование модели.',
  ),
  transfer: counted(
    'Передача KV-кэша сбоит',
    'Передача KV-кэша снова работает',
    (count) =>
      `${n.plural(count, { one: 'сорвалась', other: 'сорвалось' })} ${n.count(count)} ${n.plural(count, { one: 'передача', few: 'передачи', many: 'передач', other: 'передачи' })} KV-кэша`,
    'Дело не в нагрузке: смотрите вторую сторону передачи, сеть между ними и лог коннектора.',
  ),
} satisfies Partial<Catalogue['rules']>
