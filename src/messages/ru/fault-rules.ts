import type { Catalogue } from '../texts.ts'
import { failuresRu } from './failures.ts'
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
  cpu_fallback: {
    headline: () => 'Модель теперь выполняется на CPU',
    now: ({ value, usual }) =>
      value === undefined || usual === undefined
        ? 'Модель больше не лежит в памяти GPU.'
        : `В памяти GPU ${value >= 1 ? 'ничего от' : `только ${n.percent(usual * (1 - value))}`} модели, обычно ${n.percent(usual)}: остальное выполняется на CPU, во много раз медленнее.`,
    over: 'Модель снова в памяти GPU',
    peak: (value) => `падение было до ${n.percent(value)}`,
    todo: () =>
      'Виден ли GPU в nvidia-smi (обновление драйвера, сон)? Затем перезапустите Ollama и проверьте, кто ещё занял память.',
  },
  pool: {
    headline: ({ value }) =>
      value === undefined || value === 0 ? 'Ни одна реплика группы не отвечает' : 'Отвечает слишком мало реплик',
    now: ({ value = 0, limit: least, pool, failure }) => {
      const cause = failure === undefined ? '' : `: ${failuresRu[failure.kind].words(failure, false)}`
      if (pool === undefined) return 'Группа потеряла свои реплики.'
      if (pool.of === 0) return `В группе нет ни одной реплики${cause}.`
      const left = value === 0 ? 'не отвечает ни одна' : `отвечает ${n.count(value)}`
      const wanted = least === undefined || least === 1 ? '' : `, нужно не меньше ${n.count(least)}`
      const all = n.plural(pool.of, { one: 'реплики', other: 'реплик' })
      return `Из ${n.count(pool.of)} ${all} ${left}${wanted}${cause}. Молчат: ${pool.gone.join(', ')}.`
    },
    over: 'Реплик снова достаточно',
    todo: () => 'Если пропали разом, причина общая: сначала смотрите узел, сеть, образ и автоскейлер, потом серверы.',
  },
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
