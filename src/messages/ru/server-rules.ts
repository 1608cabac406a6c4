import { byRefusal } from '../by-refusal.ts'
import { withPrefix } from '../failure-shapes.ts'
import type { Catalogue, Fact } from '../texts.ts'
import { failuresRu } from './failures.ts'
import { atLeast, days, limit, n, requests } from './phrases.ts'
import { counted, measured, plain } from './rule-shapes.ts'

const CANARIES: readonly (string | undefined)[] = ['ollama', 'openai']

const refused = { one: 'отклонён', other: 'отклонено' }

export const serverRulesRu = {
  down: {
    headline: ({ failure, backend }) =>
      failure ? failuresRu[failure.kind].headline(failure, CANARIES.includes(backend)) : 'Сервер не отвечает',
    now: down,
    over: 'Снова отвечает',
    todo: ({ failure, backend, variables }) =>
      failure && withPrefix(failuresRu[failure.kind].todo(failure, CANARIES.includes(backend), variables), backend),
  },
  blind: {
    headline: ({ missing, signals, doubted, sources }) => {
      if (sources !== undefined) return 'Список серверов не читается'
      if (doubted !== undefined && signals === undefined) return 'Метрикам нельзя верить'
      if (missing === undefined) return 'Не хватает метрик'
      return 'Модели нет на сервере'
    },
    now: blind,
    over: 'Снова всё видно',
    todo: whatIsMissing,
  },
  observer: plain(
    'Шлюз плохо видит движок',
    'Шлюз сам сообщает, что видит состояние движка не полностью.',
    'Шлюз снова видит движок',
    'Доступен ли движок со шлюза? Пока нет, шлюз принимает запросы вслепую.',
  ),
  upstream: plain(
    'Апстрим нездоров',
    'Шлюз считает этот апстрим нездоровым.',
    'Апстрим снова здоров',
    'Проверьте этот апстрим: запущен ли он и отвечает ли его health-эндпоинт.',
  ),
  rejected: {
    ...counted(
      'Шлюз отклоняет запросы',
      'Запросы больше не отклоняются',
      (count) => `на входе ${n.plural(count, refused)} ${requests(count)}`,
      'Лимит работает, как задан: добавьте реплику или поднимите лимит, если у движка есть запас.',
    ),
    headline: ({ backend }) => (backend === 'vllm' ? 'Сервер отклоняет запросы' : 'Шлюз отклоняет запросы'),
  },
  stale: counted(
    'Шлюз решает по устаревшим данным',
    'У шлюза снова свежие данные о движке',
    (count) =>
      `по устаревшим данным принято ${n.count(count)} ${n.plural(count, { one: 'решение', few: 'решения', many: 'решений', other: 'решения' })}`,
    'Состояние движка доходит до шлюза слишком поздно: смотрите период опроса и сеть между ними.',
  ),
  queue_full: counted(
    'Очередь шлюза переполнена',
    'В очереди шлюза снова есть место',
    (count) => `из-за полной очереди ${n.plural(count, refused)} ${requests(count)}`,
    'Клиенты уже получают ошибки: добавьте реплику или ограничьте поток запросов на шлюзе.',
  ),
  parked: counted(
    'Шлюз ставит запросы в ожидание',
    'Шлюз больше не ставит запросы в ожидание',
    (count) => `на входе ${n.plural(count, { one: 'отложен', other: 'отложено' })} ${requests(count)}`,
    'Запросы ждут, пока у движка появится место: если надолго, добавьте реплику.',
  ),
  canary: {
    ...measured(
      'Пробный запрос долго ждёт',
      'Пробный запрос снова проходит быстро',
      'Наш пробный запрос ждал',
      n.seconds,
    ),
    now: ({ value, limit: max, atLeast: least, backend }) => {
      if (value === undefined) return 'Наш пробный запрос долго ждал.'
      const what =
        backend === 'openai' && !least ? 'Наш пробный запрос получил первый токен через' : 'Наш пробный запрос ждал'
      return `${what} ${atLeast(least)}${n.seconds(value)}${limit(max, n.seconds)}.`
    },
    todo: () => 'Смотрите очередь и GPU сервера; если выросла нагрузка, добавьте реплику.',
  },
  busy: byRefusal({
    full: plain(
      'Сервер отклоняет запросы: очередь переполнена',
      'Сервер перегружен, но жив: не принял наш пробный запрос, очередь переполнена. Пользователи сейчас тоже получают отказы.',
      'Сервер снова принимает запросы',
      'Добавьте реплику или ограничьте поток запросов на шлюзе.',
    ),
    'no-backend': plain(
      'У шлюза не осталось бэкендов',
      'Шлюз не принял наш пробный запрос: ни одного бэкенда не осталось, они сбоят или отдыхают после сбоев. Пользователи тоже получают отказы.',
      'Сервер снова принимает запросы',
      'Смотрите бэкенды и их ошибки в логе шлюза; неверный ключ к бэкенду выглядит так же.',
    ),
    'own-limit': plain(
      'Исчерпан лимит нашего ключа',
      'Нашему пробному запросу отказано: исчерпан лимит или бюджет ключа, с которым он отправлен. Остальных пользователей это может не касаться.',
      'Сервер снова принимает запросы',
      'Дайте мониторингу свой ключ с запасом или спрашивайте реже.',
    ),
    overloaded: plain(
      'Внешний сервис перегружен',
      'Сервис сам называет себя перегруженным (HTTP 529) и не принял пробный запрос: наши лимиты ни при чём, отказы получают и другие.',
      'Сервер снова принимает запросы',
      'Смотрите страницу состояния сервиса; пока это не прошло, поможет только второй провайдер или другая модель.',
    ),
  }),
  cold_load: {
    ...measured('Модель пришлось загружать', 'Модель снова остаётся в памяти', 'Загрузка модели заняла', n.seconds),
    todo: () => 'Поднимите OLLAMA_KEEP_ALIVE, чтобы модель не выгружалась между запросами.',
  },
  tls_expiry: {
    headline: () => 'Скоро истечёт TLS-сертификат',
    now: ({ value, limit: max, ends, backend }) => {
      const whose = backend === undefined ? ' этого пуш-сервера' : ''
      const when = ends === undefined ? '' : `, ${ends}`
      if (value === undefined) return `TLS-сертификат${whose} скоро истечёт.`
      if (value <= 0) return `TLS-сертификат${whose} истёк${when}.`
      return `TLS-сертификат${whose} истекает через ${days(value)}${when}${limit(max, days)}.`
    },
    over: 'TLS-сертификат обновлён',
    todo: () =>
      'Обновите его и выясните, почему этого не произошло само (certbot, cert-manager, балансировщик): с истёкшим не подключится никто.',
  },
  gap: {
    headline: () => 'Мониторинг не работал',
    now: gap,
    over: 'Мониторинг снова работает',
    todo: () => 'Смотрите расписание, ошибки и ограничения функции; локально — не засыпала ли машина.',
  },
  silence: {
    headline: () => 'Заглушено',
    now: silence,
    over: 'Заглушение закончилось',
  },
  'state-broken': plain(
    'Файл состояния повреждён',
    'Повреждённый файл отложен, мониторинг начат заново: базовые значения накапливаются заново, об открытых алертах можем сообщить повторно.',
    'Состояние на месте',
    'Копия лежит рядом с состоянием под другим ключом, по ней видно, что случилось.',
  ),
} satisfies Partial<Catalogue['rules']>

function down(fact: Fact): string {
  const { value, failure } = fact
  const tries =
    value === undefined
      ? 'Нет нормального ответа'
      : `${n.count(value)} ${n.plural(value, { one: 'проверка', few: 'проверки', many: 'проверок', other: 'проверки' })} подряд без нормального ответа`
  const last = failure?.mixed ? ', в последний раз' : ''
  return failure
    ? `${tries}${last}: ${failuresRu[failure.kind].words(failure, CANARIES.includes(fact.backend))}.`
    : `${tries}.`
}

function blind({ missing, answeredBy, signals, doubted, sources }: Fact): string {
  if (sources !== undefined)
    return `${sources} не читается или содержит ошибки. Действует последний верный список; новые серверы не видны.`
  if (missing !== undefined && answeredBy !== undefined)
    return `Спрашивали «${missing}», ответила другая модель: «${answeredBy}». О «${missing}» это ничего не говорит.`
  if (missing !== undefined) return `Модели «${missing}» на этом сервере нет: правила для неё не работают.`
  const parts = [
    signals === undefined ? undefined : `не отдаёт: ${signals}`,
    doubted === undefined ? undefined : `отдаёт невозможные значения: ${doubted}`,
  ].filter((part) => part !== undefined)
  if (parts.length > 0) return `Сервер отвечает, но ${parts.join('; ')}. Правила по ним не работают.`
  return 'Сервер отвечает, но чисел, нужных правилам, нет.'
}

function silence({ silence: what, to }: Fact): string {
  if (!what || to === undefined) return 'Какое-то время пушей не будет.'
  const why = what.comment === undefined ? '' : `, «${what.comment}»`
  const who = what.by === 'link' ? 'по ссылке' : what.by
  return `Пушей не будет до ${to} (${who}${why}). Что тогда ещё продолжится, о том сообщим.`
}

function gap({ gap: span, from, to }: Fact): string {
  if (!span) return 'Мониторинг какое-то время не работал.'
  const when = from === undefined || to === undefined ? '' : ` с ${from} до ${to}`
  return `Мониторинг не работал${when} (${n.lasted(span.length)}); обычно проверка раз в ${n.lasted(span.interval)}.`
}

function whatIsMissing({ missing, signals, doubted, sources, variables }: Fact): string | undefined {
  if (sources !== undefined) return undefined
  if (missing !== undefined)
    return `Сверьте ${variables === undefined ? 'модель в настройках' : `${variables}_MODEL`} с именем, которое отдаёт сервер.`
  return doubted !== undefined && signals === undefined
    ? 'Поищите на странице метрик NaN, значения вне границ и старые метки времени; часто помогает перезапуск экспортёра.'
    : 'Сервер обновили или это другой порт? Чего не хватает, покажет npm run doctor.'
}
