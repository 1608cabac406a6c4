import type { Catalogue, Fact } from '../texts.ts'
import { failuresRu } from './failures.ts'
import { atLeast, limit, n, requests } from './phrases.ts'
import { counted, measured, plain } from './rule-shapes.ts'

const CANARIES: readonly (string | undefined)[] = ['ollama', 'openai']

const refused = { one: 'отклонён', other: 'отклонено' }

export const serverRulesRu = {
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
    headline: ({ missing, signals, doubted, sources }) => {
      if (sources !== undefined) return 'Список серверов не читается'
      if (doubted !== undefined && signals === undefined) return 'Метрикам нельзя верить'
      if (missing === undefined) return 'Не хватает метрик'
      return 'Модели нет на сервере'
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
    'Шлюз сам сообщает, что видит состояние движка не полностью.',
    'Шлюз снова видит движок',
  ),
  upstream: plain('🔌', 'Апстрим нездоров', 'Шлюз считает этот апстрим нездоровым.', 'Апстрим снова здоров'),
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
    now: ({ value, limit: max, atLeast: least, backend }) => {
      if (value === undefined) return 'Наш пробный запрос долго ждал.'
      const what =
        backend === 'openai' && !least ? 'Наш пробный запрос получил первый токен через' : 'Наш пробный запрос ждал'
      return `${what} ${atLeast(least)}${n.seconds(value)}${limit(max, n.seconds)}.`
    },
  },
  busy: plain(
    '🚫',
    'Сервер отказывает: очередь полна',
    'Сервер перегружен, но жив: не принял наш пробный запрос, очередь полна. Пользователи сейчас тоже получают отказы.',
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
  'state-broken': plain(
    '🧩',
    'Сохранённое состояние не читалось',
    'Испорченное состояние отложено, наблюдение началось заново: обычные значения ещё набираются, об открытых тревогах можем сообщить повторно.',
    'Состояние на месте',
  ),
} satisfies Partial<Catalogue['rules']>

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

function blind({ missing, signals, doubted, sources }: Fact): string {
  if (sources !== undefined)
    return `${sources} не читается или содержит ошибки. Действует последний верный список; новые серверы не видны.`
  if (missing !== undefined) return `Модели «${missing}» на этом сервере нет: правила по ней ничего не видят.`
  const parts = [
    signals === undefined ? undefined : `не отдаёт: ${signals}`,
    doubted === undefined ? undefined : `отдаёт невозможные значения: ${doubted}`,
  ].filter((part) => part !== undefined)
  if (parts.length > 0) return `Сервер отвечает, но ${parts.join('; ')}. Правила по ним ничего не видят.`
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
