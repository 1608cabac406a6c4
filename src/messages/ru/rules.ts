import type { Catalogue, Fact, RuleTexts } from '../catalogue.ts'
import { failuresRu } from './failures.ts'
import { atLeast, limit, n, requests, times } from './numbers.ts'

const CANARIES: readonly (string | undefined)[] = ['ollama', 'openai']

/** A rule whose sentence is one number against its limit. */
function measured(
  sign: string,
  headline: string,
  over: string,
  what: string,
  write: (value: number) => string,
): RuleTexts {
  return {
    sign,
    headline: () => headline,
    now: ({ value, limit: max, atLeast: least }) =>
      value === undefined ? `${headline}.` : `${what} ${atLeast(least)}${write(value)}${limit(max, write)}.`,
    over,
    peak: (value, least) => `в худший момент ${atLeast(least)}${write(value)}`,
  }
}

/** A rule without a number worth telling. */
function plain(sign: string, headline: string, sentence: string, over: string): RuleTexts {
  return { sign, headline: () => headline, now: () => sentence, over, peak: () => undefined }
}

/** A rule that counts events since the last run. */
function counted(sign: string, headline: string, over: string, what: (count: number) => string): RuleTexts {
  return {
    sign,
    headline: () => headline,
    now: ({ value }) => (value === undefined ? `${headline}.` : `С прошлого прогона ${what(value)}.`),
    over,
    peak: (value) => `до ${n.count(value)} за прогон`,
  }
}

const refused = { one: 'отклонён', other: 'отклонено' }

/** `В очереди 42 запроса (порог 20), считается 16.` */
function queue({ value, limit: max, running }: Fact): string {
  if (value === undefined) return 'Запросы копятся в очереди.'
  const also = running === undefined ? '' : `, считается ${n.count(running)}`
  return `В очереди ${requests(value)}${limit(max, n.count)}${also}.`
}

function growth({ value, waiting }: Fact): string {
  const more =
    value === undefined
      ? 'Очередь росла на каждом из последних прогонов'
      : `За последние 5 прогонов очередь выросла на ${n.count(value)}`
  return `${more}${waiting === undefined ? '' : `, теперь в ней ${n.count(waiting)}`}.`
}

function stalled({ running, waiting, value }: Fact): string {
  const parts = [
    running === undefined ? undefined : `считается ${n.count(running)}`,
    waiting === undefined ? undefined : `ждёт ${n.count(waiting)}`,
  ].filter((part) => part !== undefined)
  const runs =
    value === undefined
      ? ''
      : ` за ${n.count(value)} ${n.plural(value, { one: 'прогон', few: 'прогона', many: 'прогонов', other: 'прогона' })}`
  const work = parts.length > 0 ? parts.join(', ') : 'работа есть'
  return `По метрикам ${work}, но${runs} не завершился ни один запрос и не вышло ни одного токена: движок завис или его числа застыли.`
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
  return `${n.large(usual * Math.max(0, 1 - value))} токенов/с${work}, обычно ${n.large(usual)} токенов/с.`
}

function sibling({ value }: Fact): string {
  return value === undefined
    ? 'Отвечает медленнее остальных реплик группы.'
    : `Отвечает медленнее медианы своей группы ${times(value)}.`
}

function down(fact: Fact): string {
  const { value, failure } = fact
  const tries =
    value === undefined
      ? 'Нет пригодного ответа'
      : `Нет пригодного ответа ${n.count(value)} ${n.plural(value, { one: 'раз', few: 'раза', many: 'раз', other: 'раза' })} подряд`
  return failure
    ? `${tries}: ${failuresRu[failure.kind].words(failure, CANARIES.includes(fact.backend))}.`
    : `${tries}.`
}

function blind({ missing, signals, sources, backend }: Fact): string {
  if (sources !== undefined)
    return `${sources} не читается или содержит ошибки. Действует последний верный список; новые серверы не видны.`
  if (missing !== undefined) {
    if (backend === 'heartbeat-check') return `Воркера «${missing}» нет.`
    return `Модели «${missing}» на этом сервере нет: её правила ничего не видят.`
  }
  if (signals !== undefined) return `Сервер отвечает, но не отдаёт: ${signals}. Правила по ним слепы.`
  return 'Сервер отвечает, но чисел, нужных правилам, нет.'
}

function heartbeat({ beat }: Fact): string {
  if (!beat) return 'Сигнал не пришёл вовремя.'
  const due = `период ${n.lasted(beat.interval)}, запас ${n.lasted(beat.grace)}`
  if (beat.failed) {
    const code = beat.failed.exit
    return code === undefined ? 'Воркер сам сообщил о сбое.' : `Воркер сам сообщил о сбое, код выхода ${code}.`
  }
  if (beat.never) return `Ни одного сигнала ещё не было (${due}).`
  return beat.age === undefined
    ? `Сигнал не пришёл вовремя (${due}).`
    : `Последний сигнал был ${n.lasted(beat.age)} назад (${due}).`
}

function heartbeatHeadline({ beat }: Fact): string {
  if (beat?.failed) return 'Воркер сообщил о сбое'
  return beat?.never ? 'Воркер ни разу не отметился' : 'Воркер молчит'
}

function gap({ gap: span }: Fact): string {
  if (!span) return 'Наблюдатель какое-то время не запускался.'
  return `${n.lasted(span.length)} никто не наблюдал; обычный период прогонов ${n.lasted(span.interval)}.`
}

export const rulesRu: Catalogue['rules'] = {
  waiting: {
    sign: '🐌',
    headline: () => 'Очередь инференса растёт',
    now: queue,
    over: 'Очередь рассосалась',
    peak: (value) => `в очереди было до ${n.count(value)}`,
  },
  inflight: {
    sign: '🚦',
    headline: () => 'Достигнут предел приёма',
    now: ({ value, limit: max, running, waiting }) => {
      if (value === undefined) return 'Ждущих и считаемых вместе уже столько, сколько разрешено.'
      const parts =
        running !== undefined && waiting !== undefined
          ? ` (считается ${n.count(running)}, ждёт ${n.count(waiting)})`
          : ''
      return `Внутри ${requests(value)}${parts}${max === undefined ? '' : `, предел ${n.count(max)}`}.`
    },
    over: 'Запросов снова меньше предела приёма',
    peak: (value) => `внутри было до ${n.count(value)}`,
  },
  growth: {
    sign: '📈',
    headline: () => 'Очередь растёт прогон за прогоном',
    now: growth,
    over: 'Очередь больше не растёт',
    peak: (value) => `прирост был до ${n.count(value)}`,
  },
  queue_wait: measured(
    '⏳',
    'Запросы долго ждут',
    'Запросы больше не ждут подолгу',
    'Среднее ожидание в очереди',
    n.seconds,
  ),
  kv_cache: {
    sign: '📦',
    headline: () => 'KV-кэш почти заполнен',
    now: ({ value, limit: max, at }) =>
      value === undefined
        ? 'KV-кэш почти заполнен.'
        : `KV-кэш занят на ${n.percent(value)}${limit(max, n.percent)}${at === undefined ? '' : `, самый полный: ${at}`}.`,
    over: 'В KV-кэше снова есть место',
    peak: (value) => `занято было до ${n.percent(value)}`,
  },
  ttft: measured(
    '🐢',
    'Первый токен приходит поздно',
    'Первый токен снова приходит вовремя',
    'Время до первого токена, p99:',
    n.seconds,
  ),
  itl: measured('🐢', 'Токены идут медленно', 'Токены снова идут в обычном темпе', 'Время на токен, p99:', n.seconds),
  prefix_hits: {
    sign: '🎯',
    headline: () => 'Попаданий в префикс-кэш стало меньше',
    now: hits,
    over: 'Префикс-кэш снова работает как обычно',
    peak: (value) => `падение было до ${n.percent(value)}`,
  },
  throughput: {
    sign: '📉',
    headline: () => 'Генерация замедлилась',
    now: throughput,
    over: 'Скорость генерации снова обычная',
    peak: (value) => `падение было до ${n.percent(value)}`,
  },
  stalled: {
    sign: '🧊',
    headline: () => 'Запросы есть, а движения нет',
    now: stalled,
    over: 'Запросы снова движутся',
    peak: () => undefined,
  },
  errors: measured('💥', 'Запросы завершаются ошибкой', 'Запросы снова проходят', 'Доля ошибок', n.percent),
  preemptions: measured('🔁', 'Запросы вытесняются из KV-кэша', 'Вытеснений снова мало', 'Вытеснений', n.rate),
  sibling: {
    sign: '🦥',
    headline: () => 'Медленнее соседних реплик',
    now: sibling,
    over: 'Снова не медленнее соседних реплик',
    peak: (value) => `медленнее было ${times(value)}`,
  },
  down: {
    sign: '🔴',
    headline: ({ failure, backend }) =>
      failure ? failuresRu[failure.kind].headline(failure, CANARIES.includes(backend)) : 'Сервер не отвечает',
    now: down,
    over: 'Снова отвечает',
    peak: () => undefined,
  },
  blind: {
    sign: '🙈',
    headline: ({ missing, sources, backend }) => {
      if (sources !== undefined) return 'Список серверов не читается'
      if (missing === undefined) return 'Пропали метрики'
      return backend === 'heartbeat-check' ? 'Неизвестный воркер' : 'Модели нет на сервере'
    },
    now: blind,
    over: 'Снова всё видно',
    peak: () => undefined,
  },
  gpu_memory: measured(
    '💾',
    'Память GPU почти занята',
    'В памяти GPU снова есть место',
    'Память GPU занята на',
    n.percent,
  ),
  gpu_temperature: measured(
    '🔥',
    'GPU перегревается',
    'GPU остыл',
    'Температура GPU',
    (value) => `${n.count(value)} °C`,
  ),
  gpu_xid: {
    sign: '⚡',
    headline: ({ value }) => (value === undefined ? 'GPU сообщает об ошибке' : `Ошибка GPU, XID ${value}`),
    now: ({ value }) => (value === undefined ? 'Драйвер сообщает об ошибке.' : `Драйвер сообщает XID ${value}.`),
    over: 'GPU больше не сообщает об ошибке',
    peak: () => undefined,
  },
  gpu_lost: plain('🕳️', 'GPU пропал', 'Экспортёр больше не показывает GPU, который здесь был.', 'GPU вернулся'),
  observer: plain(
    '👁️',
    'Шлюз плохо видит движок',
    'Шлюз сам считает, что состояние движка видит неполно.',
    'Шлюз снова видит движок',
  ),
  upstream: plain('🔌', 'Апстрим нездоров', 'Шлюз считает апстрим нездоровым.', 'Апстрим снова здоров'),
  rejected: counted(
    '⛔',
    'Шлюз отклоняет запросы',
    'Шлюз больше не отклоняет запросы',
    (count) => `на входе ${n.plural(count, refused)} ${requests(count)}`,
  ),
  stale: counted(
    '🕰️',
    'Шлюз решает по устаревшим данным',
    'У шлюза снова свежие данные о движке',
    (count) =>
      `по устаревшим данным принято ${n.count(count)} ${n.plural(count, { one: 'решение', few: 'решения', many: 'решений', other: 'решения' })}`,
  ),
  queue_full: counted(
    '🚧',
    'Очередь шлюза переполнена',
    'В очереди шлюза снова есть место',
    (count) => `из-за полной очереди ${n.plural(count, refused)} ${requests(count)}`,
  ),
  parked: counted(
    '🅿️',
    'Шлюз придерживает запросы',
    'Шлюз больше не придерживает запросы',
    (count) => `на входе ${n.plural(count, { one: 'придержан', other: 'придержано' })} ${requests(count)}`,
  ),
  canary: {
    ...measured(
      '🐤',
      'Пробный запрос долго ждёт',
      'Пробный запрос снова быстрый',
      'Наш пробный запрос ждал',
      n.seconds,
    ),
    now: ({ value, limit: max, backend }) => {
      if (value === undefined) return 'Наш пробный запрос долго ждал.'
      const what = backend === 'openai' ? 'Наш пробный запрос получил первый токен через' : 'Наш пробный запрос ждал'
      return `${what} ${n.seconds(value)}${limit(max, n.seconds)}.`
    },
  },
  busy: plain(
    '🚫',
    'Сервер отказывает: очередь полна',
    'Сервер не принял наш пробный запрос: очередь полна. Пользователи сейчас тоже получают отказы.',
    'Сервер снова принимает запросы',
  ),
  cold_load: measured(
    '❄️',
    'Модель пришлось загружать',
    'Модель снова остаётся в памяти',
    'Загрузка модели заняла',
    n.seconds,
  ),
  heartbeat: {
    sign: '💔',
    headline: heartbeatHeadline,
    now: heartbeat,
    over: 'Воркер снова на связи',
    peak: () => undefined,
  },
  gap: {
    sign: '⏸️',
    headline: () => 'Наблюдение прерывалось',
    now: gap,
    over: 'Наблюдение идёт',
    peak: () => undefined,
  },
  'state-lost': plain(
    '🧩',
    'Сохранённое состояние пропало',
    'Объект состояния удалён. Наблюдение началось заново: обычные значения ещё набираются, об открытых тревогах можем сообщить повторно.',
    'Состояние на месте',
  ),
  'state-broken': plain(
    '🧩',
    'Сохранённое состояние не читалось',
    'Испорченное состояние отложено, наблюдение началось заново: обычные значения ещё набираются, об открытых тревогах можем сообщить повторно.',
    'Состояние на месте',
  ),
}
