import type { Verdict } from '../model/explanation.ts'
import { kindOf, nameOf } from '../signals/parts.ts'
import { listed } from './listed.ts'
import { adviceRu } from './ru/advice.ts'
import { belowRu, otherVerdictsRu } from './ru/below.ts'
import { briefsRu } from './ru/briefs.ts'
import { canaryRulesRu } from './ru/canary-rules.ts'
import { engineRulesRu } from './ru/engine-rules.ts'
import { failuresRu } from './ru/failures.ts'
import { faultRulesRu } from './ru/fault-rules.ts'
import { hardwareRulesRu } from './ru/hardware-rules.ts'
import { inner, n, times, tokens } from './ru/phrases.ts'
import { serverRulesRu } from './ru/server-rules.ts'
import { workerRulesRu } from './ru/worker-rules.ts'
import { xidsRu } from './ru/xids.ts'
import type { Catalogue, OtherNumbers, Phases } from './texts.ts'

const SIGNALS: Readonly<Record<string, string>> = {
  waiting: 'очередь',
  running: 'выполняющиеся запросы',
  kv_cache: 'заполнение KV-кэша',
  queue_wait: 'ожидание в очереди',
  ttft: 'время до первого токена',
  itl: 'время на токен',
  e2e: 'длительность запроса',
  finished: 'завершённые запросы',
  failed: 'ошибки',
  http_failed: 'ответы HTTP 5xx',
  corrupted: 'испорченные ответы',
  transfer_failed: 'сорванные передачи KV-кэша',
  preemptions: 'вытеснения',
  prompt_tokens: 'токены промптов',
  generation_tokens: 'токены ответов',
  prefix_queries: 'обращения к префикс-кэшу',
  prefix_hits: 'попадания в префикс-кэш',
  hit_share: 'доля попаданий в префикс-кэш',
  gpu_memory: 'память GPU',
  gpu_utilisation: 'загрузка GPU',
  gpu_temperature: 'температура GPU',
  gpu_xid: 'ошибки XID',
  gpu_remap_failed: 'сбои замены строк памяти',
  gpu_remapped_rows: 'заменённые строки памяти',
  gpu_throttle: 'причины снижения частот',
  canary_rate: 'токены в секунду у пробного запроса',
  quota_left: 'остаток лимита запросов',
  vram_share: 'доля в памяти GPU',
  observer_degraded: 'обзор движка у шлюза',
  upstream_health: 'здоровье апстримов',
  admission_rejected: 'отклонённые запросы',
  admission_parked: 'отложенные запросы',
  engine_state_stale: 'устаревшее состояние движка',
  queue_full: 'переполнение очереди',
}

/** ` Прирост в основном за счёт «sql-lora»: 70 % запросов, обычно 20 %.` */
function mostFor(grown: Verdict['grown'], what: 'запросов' | 'токенов'): string {
  if (!grown) return ''
  const name = nameOf(grown.part)
  const whom = kindOf(grown.part) === 'priority' ? `приоритета ${name}` : `«${name}»`
  return ` Прирост в основном за счёт ${whom}: ${n.percent(grown.share)} ${what}, обычно ${n.percent(grown.usual)}.`
}

function loadGrew({ arrivals, tokensPerSecond, grown }: Verdict): string {
  const more = arrivals === undefined ? 'запросов больше обычного' : `запросов ${times(arrivals)} больше обычного`
  const speed =
    tokensPerSecond === undefined || tokensPerSecond < 0.8
      ? ''
      : tokensPerSecond > 1.25
        ? ', генерация идёт на пределе'
        : ', скорость генерации прежняя'
  return `Нагрузка выросла: ${more}${speed}.${mostFor(grown, 'запросов')}`
}

function broke({ arrivals, tokensPerSecond, timePerToken }: Verdict): string {
  const parts = [
    timePerToken !== undefined && timePerToken >= 1.3 ? `токен генерируется ${times(timePerToken)} дольше` : undefined,
    tokensPerSecond !== undefined && tokensPerSecond <= 0.8
      ? `скорость ${n.percent(tokensPerSecond)} от обычной`
      : undefined,
  ].filter((part) => part !== undefined)
  const worse = parts.length === 0 ? 'работа идёт гораздо медленнее' : parts.join(', ')
  const isUsual = arrivals !== undefined && arrivals <= 1.5
  return `Что-то сломалось: ${isUsual ? `нагрузка обычная, но ${worse}` : worse}.`
}

function heavier({ promptTokens, outputTokens, grown }: Verdict): string {
  const parts = [
    promptTokens !== undefined && promptTokens >= 1.4 ? `промпты ${times(promptTokens)} длиннее обычного` : undefined,
    outputTokens !== undefined && outputTokens >= 1.4 ? `ответы ${times(outputTokens)} длиннее обычного` : undefined,
  ].filter((part) => part !== undefined)
  return `Запросы стали тяжелее${parts.length === 0 ? '' : `: ${parts.join(', ')}`}.${mostFor(grown, 'токенов')}`
}

function cacheFull({ preemptions }: Verdict): string {
  const more = preemptions !== undefined && preemptions >= 2 ? ` (${times(preemptions)} чаще обычного)` : ''
  return `KV-кэш переполнен: запросы вытесняются и вычисляются заново${more}.`
}

function otherNumbers(numbers: OtherNumbers): string | undefined {
  const now = [
    numbers.waiting === undefined ? undefined : `в очереди ${n.count(numbers.waiting)}`,
    numbers.running === undefined ? undefined : `выполняется ${n.count(numbers.running)}`,
    numbers.kvCache === undefined
      ? undefined
      : `KV-кэш ${n.percent(numbers.kvCache)}${numbers.kvAt === undefined ? '' : ` (${numbers.kvAt})`}`,
  ]
  const over = [
    numbers.queueWait === undefined ? undefined : `ожидание в среднем ${n.seconds(numbers.queueWait)}`,
    numbers.ttft === undefined
      ? undefined
      : `первый токен p99 ${numbers.ttftAtLeast ? '≥ ' : ''}${n.seconds(numbers.ttft)}`,
    numbers.tokensPerSecond === undefined ? undefined : `${tokens(numbers.tokensPerSecond)}/с`,
    numbers.failedShare === undefined ? undefined : `ошибок ${n.percent(numbers.failedShare)}`,
  ]
  const since = numbers.window === undefined ? 'За последнее время' : `За последние ${n.seconds(numbers.window)}`
  return listed([
    ['Сейчас', now],
    [since, over],
  ])
}

function gpu(busiest: { utilisation?: number; temperature?: number; xid?: number }): string | undefined {
  const parts = [
    busiest.utilisation === undefined ? undefined : `загрузка ${n.percent(busiest.utilisation)}`,
    busiest.temperature === undefined ? undefined : `${n.count(busiest.temperature)} °C`,
    busiest.xid ? `XID ${busiest.xid}` : undefined,
  ].filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : `GPU: ${parts.join(', ')}.`
}

const none = (count: number) =>
  `ни один из ${n.count(count)} ${n.plural(count, { one: 'эндпоинта', other: 'эндпоинтов' })}`
const all = (count: number) =>
  count === 2
    ? 'Оба эндпоинта'
    : `Все ${n.count(count)} ${n.plural(count, { one: 'эндпоинт', few: 'эндпоинта', many: 'эндпоинтов', other: 'эндпоинта' })}`
const withDetail = (detail: string | undefined) => (detail === undefined ? '' : `, ${detail}`)

export const ru: Catalogue = {
  format: n,
  rules: {
    ...engineRulesRu,
    ...serverRulesRu,
    ...canaryRulesRu,
    ...workerRulesRu,
    ...faultRulesRu,
    ...hardwareRulesRu,
  },
  briefs: briefsRu,
  lots: {
    waiting: 'Очередь',
    growth: 'Очередь растёт',
    kv_cache: 'KV-кэш полон',
    ttft: 'Первый токен поздно',
    stalled: 'Движок завис',
  },
  failures: failuresRu,
  verdicts: {
    'load-grew': loadGrew,
    broke,
    heavier,
    'cache-full': cacheFull,
    stalled: () => 'Движок завис: запросы не выполняются, или его метрики застыли.',
    ...otherVerdictsRu,
    restarted: () => 'Сервер перезапустился: всё, что в нём было, потеряно, кэши пусты.',
  },
  advice: adviceRu,
  xids: xidsRu,
  canary: {
    answered: undefined,
    'cold-load': 'Сначала пришлось загрузить модель; это время ожиданием не считается.',
    'not-loaded': 'Модель не загружена, поэтому её не спрашивали.',
    'other-model': 'Память занята другой моделью.',
    busy: undefined,
    'model-missing': undefined,
    skipped: 'Пробный запрос не отправлялся: и так известно, что очередь длинная.',
    idle: 'Модель никому больше не нужна: её не спрашивали, чтобы она могла уйти из памяти.',
    'over-budget': 'Пробный запрос не отправлялся: запросы дня распределены по нему.',
    'backing-off': 'Пробный запрос не отправлялся: сервер и так не успевал.',
    parked: 'Шлюз держит пробный запрос у себя и лишь поддерживает соединение.',
    failed: undefined,
  },
  signal: (name) => SIGNALS[name] ?? name,
  title: {
    repeated: (headline, lasted) => `${headline}, уже ${lasted}`,
    worse: (headline) => `Хуже: ${headline}`,
    comesAndGoes: (headline) => `Повторяется: ${headline}`,
    cameAndWent: (headline, times) => `Повторилось ${often(times)}: ${inner(headline)}`,
    restarted: (headline) => `Закончилось перезапуском: «${headline}»`,
    forgotten: (headline) => `Неизвестно, прошло ли: «${headline}»`,
    limitChanged: (headline) => `Порог изменён, это больше не алерт: «${headline}»`,
    idle: (headline) => `Закрыто, трафика нет: «${headline}»`,
    late: (headline) => `Было: «${headline}»`,
    lot: (what, count, of, names) => `${what} (${n.count(count)}${of > count ? ` из ${n.count(of)}` : ''}): ${names}`,
    allDown: (count) => `Мониторинг не видит ${none(count)}`,
    allFail: (count, headline) => `${all(count)}: ${inner(headline)}`,
    allUp: (count) => `${all(count)} снова отвечают`,
  },
  line: {
    newRequestWaits: (seconds) => `Новый запрос ждёт около ${n.estimate(seconds)}.`,
    noneFinishes: 'Ни один запрос не завершается.',
    otherNumbers,
    drains: (minutes) => `Такими темпами очередь рассосётся примерно за ${n.estimate(minutes * 60)}.`,
    kvFull: (minutes) => `Такими темпами KV-кэш заполнится примерно через ${n.estimate(minutes * 60)}.`,
    ...belowRu,
    partlyOut: (upstreams) => `Частично недоступны: ${upstreams}.`,
    gpu,
    spark: (bars, first, last, minutes, what) =>
      `${what === undefined ? '' : `${what} `}${bars} ${first} → ${last}${minutes === undefined ? '' : ` за ${n.seconds(minutes * 60)}`}`,
    sparkOf: { queue: 'Очередь', wait: 'Ожидание', memory: 'Память' },
    lasted: (headline, ms, detail) => `Алерт «${headline}» длился ${n.lasted(ms)}${withDetail(detail)}.`,
    also: (parts) => `Кроме того: ${parts.join('; ')}.`,
    began: (times) => `За это время проблема возвращалась ${often(times)}.`,
    comesAndGoes: (times, since, stays) =>
      stays
        ? `С ${since} повторилось ${often(times)}, последний час держится без перерыва.`
        : `Повторилось ${often(times)} с ${since}. О новых повторах не сообщаем, пока час не пройдёт без изменений.`,
    cameAndWent: (times, since, bad, detail) =>
      `Повторилось ${often(times)} с ${since}, всего длилось ${n.lasted(bad)}${withDetail(detail)}. Уже час спокойно.`,
    ended: {
      clear: undefined,
      idle: '15 минут нет запросов: алерт закрыт за отсутствием трафика, восстановление не подтверждено.',
      restarted: 'Закончилось, потому что сервер перезапустился: ждавшие запросы потеряны.',
      forgotten:
        'Экспортёр перезапускался или больше её не показывает, так что ничего не известно. Проверьте GPU вручную (nvidia-smi, dmesg).',
      'limit-changed': 'По новому порогу это уже не нарушение.',
    },
    was: (from, to, ms, detail) =>
      `Было с ${from} до ${to} (${n.lasted(ms)})${withDetail(detail)}. Сообщаем с опозданием: пуш-сервер был недоступен.`,
    wasOften: (times, from, to, detail) =>
      `Было ${often(times)} с ${from} до ${to}${withDetail(detail)}. Сообщаем с опозданием: пуш-сервер был недоступен.`,
    over: (sign, over, ms) => `${sign} ${over} (через ${n.lasted(ms)}).`,
    lateLine: (headline, from, to, times) =>
      `🕓 Было${times === undefined ? '' : ` ${often(times)}`} с ${from} до ${to}: «${headline}».`,
    maybeSent: '(Возможно, повтор: ответ на первый пуш потерялся.)',
    says: (who, text) => `${who === 'worker' ? 'Воркер пишет' : 'Ответ сервера'}: «${text}»`,
    pointsTo: (address) => `Новый адрес: ${address}`,
    subject: (subject, text) => `${subject}: ${inner(text)}`,
    more: (count) => `… и ещё ${n.count(count)}.`,
    cause: (words) => `причина: ${words}`,
    asOf: (clock) => `Данные на ${clock}.`,
    since: (clock) => `Началось: ${clock}.`,
    phases,
    allDown: (cause, clock) => `С ${clock} ни один не даёт нормального ответа: ${cause}.`,
    allUp: (lasted) => `Нормальных ответов не было ${lasted}; что происходило в это время, неизвестно.`,
    requestId: (id) => `X-Request-Id: ${id}`,
  },
  test: { title: '🔔 Queuebell: проверка', body: (backend) => `Проверочный пуш от ${backend}. Ничего не случилось.` },
}

function often(times: number): string {
  return `${n.count(times)} ${n.plural(times, { one: 'раз', few: 'раза', many: 'раз', other: 'раза' })}`
}

function phases({ wait, load, prefill, decode, ttft }: Phases): string | undefined {
  const parts = [
    wait === undefined ? undefined : `ожидание ${n.seconds(wait)}`,
    load === undefined ? undefined : `загрузка ${n.seconds(load)}`,
    prefill === undefined ? undefined : `чтение ${n.seconds(prefill)}`,
    ttft === undefined ? undefined : `ожидание и чтение ${n.seconds(ttft)}`,
    decode === undefined ? undefined : `ответ ${n.seconds(decode)}`,
  ].filter((part) => part !== undefined)
  return parts.length < 2 ? undefined : `По частям: ${parts.join(', ')}.`
}
