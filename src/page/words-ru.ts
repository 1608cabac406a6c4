import { n } from '../messages/ru/phrases.ts'
import type { PageWords } from './words.ts'

const endpoints = (count: number) =>
  `${n.count(count)} ${n.plural(count, { one: 'эндпоинт', few: 'эндпоинта', many: 'эндпоинтов', other: 'эндпоинта' })}`

export const wordsRu: PageWords = {
  title: 'Queuebell',
  skip: 'К эндпоинтам',
  summary: (trouble, all, taken) => {
    if (all === 0) return 'Пока ничего не отслеживается'
    if (trouble === 0) return all === 1 ? 'Всё в порядке' : `Всё в порядке: ${endpoints(all)}`
    const of = all === 1 ? 'Есть проблема' : `Проблемы: ${n.count(trouble)} из ${n.count(all)}`
    return taken === 0
      ? of
      : `${of}, ${taken === trouble ? 'в работе или заглушено' : `в работе или заглушено: ${n.count(taken)}`}`
  },
  nothingYet: 'Состояния пока нет: мониторинг уже запускался?',
  asOf: (clock) => `на ${clock}`,
  fires: 'Что сработало',
  moreFire: (count) => `Ещё ${n.count(count)}`,
  endpoints: 'Эндпоинты',
  group: (count, above) => (above === 0 ? n.count(count) : `${n.count(count)}, выше ${n.count(above)}`),
  since: (clock, lasted) => `с ${clock}, ${lasted}`,
  acknowledged: (by, clock) => `Принято в работу${by === undefined ? '' : ` ${by}`} в ${clock}`,
  silenced: (clock) => `Заглушено до ${clock}`,
  maintenance: (clock) => `Плановые работы до ${clock}`,
  by: (who) => (who === 'link' ? 'по ссылке' : `(${who})`),
  pending: 'ещё недостаточно долго',
  notAsked: 'ещё не опрошен',
  unreachable: 'нет нормального ответа',
  watchers: 'Мониторинг',
  ran: (clock, ago) => `проверка в ${clock}, ${ago} назад`,
  neverRan: 'ещё не запускался',
  late: 'не запускается: данные устарели',
  waiting: (count) =>
    `${n.count(count)} ${n.plural(count, { one: 'пуш ещё не доставлен', few: 'пуша ещё не доставлены', many: 'пушей ещё не доставлены', other: 'пуша ещё не доставлены' })}`,
  silences: 'Заглушено',
  silenceOf: (scope, name) => (scope === 'function' ? `всё у ${name}` : scope === 'group' ? `группа ${name}` : name),
  broken: 'Состояние не читается:',
  badge: 'Значок',
  signal: {
    waiting: 'в очереди',
    running: 'выполняется',
    kv_cache: 'KV',
    queue_wait: 'ожидание',
    ttft_p99: 'TTFT p99',
    itl_p99: 'ITL p99',
    tokens_per_second: 'ток/с',
    requests_per_second: 'запр/с',
    failed_share: 'ошибок',
    canary_wait: 'ожидание пробы',
    canary_ttft: 'TTFT пробы',
    gpu_memory: 'память GPU',
    beat_age: 'последний сигнал',
  },
  limit: (value) => `порог ${value}`,
  course: (first, last, span) => `${first} → ${last} за ${span}`,
  act: {
    heading: 'Что можно сделать',
    over: 'Это закончилось: больше не срабатывает.',
    what: 'Открытие этой страницы ничего не меняет.',
    acknowledge: 'Принять в работу',
    acknowledgeMeans: 'Занимаюсь: напоминаний больше не будет. О конце и об ухудшении сообщим.',
    silence: (lasts) => `Заглушить на ${lasts}`,
    silenceUntil: (clock) => `Заглушить до ${clock}`,
    silenceMeans: (names) => `До этого времени пушей по ${names} не будет. Что продолжится после, о том сообщим.`,
    end: 'Снять заглушение',
    done: {
      acknowledged: 'Принято: напоминаний больше не будет.',
      silenced: (clock) => `Заглушено до ${clock}.`,
      already: (clock) => `Уже заглушено до ${clock}.`,
      ended: 'Заглушение снято. Что ещё продолжается, о том сообщит следующая проверка.',
    },
    failed: 'Сейчас не удалось это записать: попробуйте ещё раз.',
    unknown: 'Ничего не сделано: такого выбора нет.',
  },
}
