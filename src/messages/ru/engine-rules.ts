import type { Catalogue, Fact } from '../texts.ts'
import { limit, n, requests, times, tokens } from './phrases.ts'
import { measured } from './rule-shapes.ts'

export const engineRulesRu = {
  waiting: {
    headline: () => 'Очередь инференса растёт',
    still: 'Очередь не рассасывается',
    now: queue,
    over: 'Очередь рассосалась',
    peak: (value) => `максимум в очереди ${n.count(value)}`,
  },
  inflight: {
    headline: () => 'Достигнут лимит запросов',
    now: ({ value, limit: max, running, waiting }) => {
      if (value === undefined) return 'Ждущих и выполняющихся запросов уже столько, сколько разрешено.'
      const parts =
        running !== undefined && waiting !== undefined
          ? ` (выполняется ${n.count(running)}, ждут ${n.count(waiting)})`
          : ''
      return `В системе ${requests(value)}${parts}${max === undefined ? '' : `, лимит ${n.count(max)}`}.`
    },
    over: 'Запросов снова меньше лимита',
    peak: (value) => `в системе было до ${n.count(value)}`,
  },
  growth: {
    headline: () => 'Очередь растёт несколько проверок подряд',
    now: growth,
    over: 'Очередь больше не растёт',
    peak: (value) => `прирост был до ${n.count(value)}`,
  },
  queue_wait: measured('Запросы долго ждут', 'Запросы больше не ждут подолгу', 'Среднее ожидание в очереди', n.seconds),
  kv_cache: {
    headline: ({ running }) => (running === 0 ? 'KV-кэш не освобождается' : 'KV-кэш почти заполнен'),
    now: ({ value, limit: max, at, running }) =>
      value === undefined
        ? 'KV-кэш почти заполнен.'
        : running === 0
          ? `KV-кэш занят на ${n.percent(value)}${limit(max, n.percent)}, хотя ничего не выполняется: блоки не возвращаются${at === undefined ? '' : `, самый полный: ${at}`}.`
          : `KV-кэш занят на ${n.percent(value)}${limit(max, n.percent)}${at === undefined ? '' : `, самый полный: ${at}`}.`,
    over: 'В KV-кэше снова есть место',
    peak: (value) => `занято было до ${n.percent(value)}`,
  },
  ttft: measured(
    'Большая задержка первого токена',
    'Первый токен снова приходит вовремя',
    'Время до первого токена, p99:',
    n.seconds,
  ),
  itl: measured('Токены идут медленно', 'Токены снова идут в обычном темпе', 'Время на токен, p99:', n.seconds),
  token_time: {
    headline: () => 'Каждый токен занимает больше времени',
    now: tokenTime,
    over: 'Токены снова идут с обычной скоростью',
    peak: (value) => `в худший момент ${times(value)} дольше`,
  },
  queue_tail: measured(
    'Часть запросов долго ждёт',
    'Долго никто больше не ждёт',
    'Ожидание в очереди, p95:',
    n.seconds,
  ),
  e2e: measured('Запросы выполняются долго', 'Запросы снова выполняются быстро', 'Время запроса, p99:', n.seconds),
  slo: {
    headline: () => 'Первый токен слишком часто опаздывает',
    now: ({ value, limit: max, within }) => {
      const time = within === undefined ? 'вовремя' : `за ${n.seconds(within / 1_000)}`
      if (value === undefined) return `Первый токен ${time} приходит слишком редко.`
      const wanted = max === undefined ? '' : ` (нужно ${n.percent(max)})`
      return `За последний час первый токен пришёл ${time} у ${n.percent(value)} запросов${wanted}, и сейчас не лучше.`
    },
    over: 'Первый токен снова приходит вовремя',
    peak: (value) => `в худший момент вовремя только ${n.percent(value)}`,
  },
  prefix_hits: {
    headline: () => 'Попаданий в префикс-кэш стало меньше',
    now: hits,
    over: 'Префикс-кэш снова работает как обычно',
    peak: (value) => `падение было до ${n.percent(value)}`,
  },
  throughput: {
    headline: () => 'Генерация замедлилась',
    now: throughput,
    over: 'Скорость генерации снова обычная',
    peak: (value) => `падение было до ${n.percent(value)}`,
  },
  stuck: {
    headline: ({ heldBy }) => (heldBy === 'asleep' ? 'Запросы ждут спящий движок' : 'Очередь стоит'),
    now: stuck,
    over: 'Очередь снова движется',
    peak: (value) => `ни один запрос не завершался ${n.seconds(value)}`,
    todo: ({ heldBy }) =>
      heldBy === undefined
        ? 'Смотрите, что сейчас выполняется: кэш может держать один длинный запрос. Отправьте запрос вручную; если висит, сохраните лог и перезапустите сервер.'
        : whatHolds(heldBy),
  },
  stalled: {
    headline: ({ heldBy }) => (heldBy === 'unhealthy' ? 'Движок неисправен' : 'Движок завис: запросы не выполняются'),
    now: stalled,
    over: 'Запросы снова движутся',
    todo: ({ heldBy }) => heldBy && whatHolds(heldBy),
  },
  errors: {
    ...measured('Запросы завершаются ошибкой', 'Запросы снова проходят', 'Доля ошибок', n.percent),
    now: errors,
  },
  preemptions: measured('Запросы вытесняются из KV-кэша', 'Вытеснений снова мало', 'Вытеснений', n.rate),
  sibling: {
    headline: () => 'Медленнее соседних реплик',
    now: sibling,
    over: 'Снова не медленнее соседних реплик',
    peak: (value) => `в худший момент ${times(value)} дольше`,
  },
} satisfies Partial<Catalogue['rules']>

/** `В очереди 42 запроса (порог 20), выполняется 16.` */
function queue({ value, limit: max, running, deferred = 0 }: Fact): string {
  if (value === undefined) return 'Запросы копятся в очереди.'
  const also = running === undefined ? '' : `, выполняется ${n.count(running)}`
  const more = deferred > 0 ? `; ещё ${n.count(deferred)} отложено до адаптера или передачи KV-кэша` : ''
  return `В очереди ${requests(value)}${limit(max, n.count)}${also}${more}.`
}

function growth({ value, waiting }: Fact): string {
  const more =
    value === undefined
      ? 'Очередь росла несколько проверок подряд'
      : `Очередь растёт 5 проверок подряд: за это время на ${n.count(value)}`
  return `${more}${waiting === undefined ? '' : `, теперь в ней ${n.count(waiting)}`}.`
}

function workOf({ running, waiting }: Fact): string | undefined {
  const parts = [
    running === undefined ? undefined : `выполняется ${n.count(running)}`,
    waiting === undefined ? undefined : `в очереди ${n.count(waiting)}`,
  ].filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : parts.join(', ')
}

function stalled(fact: Fact): string {
  const { value, heldBy } = fact
  const work = workOf(fact)
  const runs =
    value === undefined || value === 0
      ? ''
      : ` за ${n.count(value)} ${n.plural(value, { one: 'проверку', few: 'проверки', many: 'проверок', other: 'проверки' })}`
  if (heldBy === 'unhealthy') return `Сервер сам считает движок неисправным${work === undefined ? '' : `: ${work}`}.`
  if (heldBy === 'deferred')
    return `По метрикам ${work ?? 'запросы ждут'}, и все отложены: ждут адаптера или передачи KV-кэша. Движения нет${runs}.`
  if (heldBy === 'rereading')
    return `По метрикам ${work ?? 'работа есть'}. Промпты читаются снова и снова, но больше 10 минут не пришло ни одного токена.`
  return `По метрикам ${work ?? 'работа есть'}, но${runs} не завершился ни один запрос и не пришло ни одного токена: движок завис или его метрики застыли.`
}

function stuck({ value, waiting, running, heldBy }: Fact): string {
  const who = waiting === undefined ? 'Запросы ждут' : `В очереди ${requests(waiting)}`
  const also = running === undefined ? '' : `, выполняется ${n.count(running)}`
  if (heldBy === 'asleep') return `${who}${lastedFor(value)}: движок спит.`
  if (heldBy === 'deferred')
    return `${who}, все отложены: ждут адаптера или передачи KV-кэша. Вовремя не завершился ни один${lastedFor(value)}.`
  return `${who}${also}, но вовремя не завершился ни один${lastedFor(value)}.`
}

function lastedFor(seconds: number | undefined): string {
  return seconds === undefined ? '' : ` уже ${n.lasted(seconds * 1_000)}`
}

export function whatHolds(heldBy: NonNullable<Fact['heldBy']>): string {
  switch (heldBy) {
    case 'unhealthy':
      return 'Смотрите лог этого движка: до перезапуска его запросы висят.'
    case 'asleep':
      return 'Разбудите движок или направьте его запросы на другой.'
    case 'deferred':
      return 'Смотрите коннектор, который передаёт KV-кэш, и адаптеры: не больше ли их в работе, чем можно загрузить сразу?'
    case 'rereading':
      return 'Такие промпты не помещаются в кэш: уменьшите число одновременных запросов или их длину и перезапустите движок.'
    default:
      return heldBy satisfies never
  }
}

function errors({ value, limit: max, failedBy }: Fact): string {
  if (value === undefined) return 'Запросы завершаются ошибкой.'
  return `Доля ошибок ${n.percent(value)}${limit(max, n.percent)}${failedBy === undefined ? '' : `, в основном: ${failedBy}`}.`
}

function hits({ value, usual }: Fact): string {
  if (value === undefined) return 'Промпты реже обычного находятся в префикс-кэше.'
  if (usual === undefined) return `Доля токенов промпта из префикс-кэша упала на ${n.percent(value)}.`
  return `Из префикс-кэша берётся ${n.percent(usual * Math.max(0, 1 - value))} токенов промпта, обычно ${n.percent(usual)}.`
}

function throughput({ value, usual, running }: Fact): string {
  if (value === undefined) return 'Токенов выходит меньше обычного для такой работы.'
  const work = running === undefined ? '' : ` при ${n.count(running)} в работе`
  if (usual === undefined) return `Генерация медленнее обычного на ${n.percent(value)}${work}.`
  return `${tokens(usual * Math.max(0, 1 - value))}/с${work}, обычно ${tokens(usual)}/с.`
}

function tokenTime({ value, usual, running }: Fact): string {
  if (value === undefined) return 'Токен занимает больше времени, чем обычно при такой работе.'
  const work = running === undefined ? '' : ` при ${n.count(running)} в работе`
  if (usual === undefined) return `Токен занимает ${times(value)} больше времени, чем обычно${work}.`
  return `Один токен занимает ${n.seconds(usual * value)}${work}, обычно ${n.seconds(usual)}.`
}

function sibling({ value }: Fact): string {
  return value === undefined
    ? 'Отвечает медленнее остальных реплик группы.'
    : `Токен здесь генерируется ${times(value)} дольше, чем на остальных репликах.`
}
