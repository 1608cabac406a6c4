import type { Catalogue } from '../texts.ts'
import { capital, n, requests } from './phrases.ts'
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
  restarts: {
    headline: ({ alternates }) =>
      alternates ? 'По очереди отвечают два сервера' : 'Сервер перезапускается снова и снова',
    now: ({ value, alternates, backend }) => {
      const often =
        value === undefined
          ? 'несколько перезапусков за час'
          : `${n.count(value)} ${n.plural(value, { one: 'перезапуск', few: 'перезапуска', many: 'перезапусков', other: 'перезапуска' })} за час`
      if (alternates) return `Похоже на ${often}, но между ними отвечает более старый процесс: за адресом два сервера.`
      return `${capital(often)}${backend === 'dcgm' ? '' : ': всё, что было в очереди и в работе, каждый раз теряется'}.`
    },
    over: 'Сервер больше не перезапускается',
    peak: (value) => `до ${n.count(value)} за час`,
    todo: ({ alternates }) =>
      alternates ? 'Дайте каждому свой адрес: через балансировщик их счётчики ничего не значат.' : undefined,
  },
} satisfies Partial<Catalogue['rules']>
