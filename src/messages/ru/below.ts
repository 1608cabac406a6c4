import type { Cause, Verdict } from '../../model/explanation.ts'
import type { Catalogue } from '../texts.ts'
import { throttledBy } from './hardware-rules.ts'
import { n, pace, requests, times } from './phrases.ts'
import { xidMeaning } from './xids.ts'

/** What lies below a symptom, and what is counted of it. */
export const belowRu = {
  reaches: (count, minutes) =>
    `Такими темпами в очереди будет ${n.count(count)} примерно через ${n.estimate(minutes * 60)}.`,
  flow: ({ came, finished, usual }) => {
    const before = usual === undefined ? '' : ` (обычно ${n.count(usual * 60)})`
    return `Запросов в минуту: приходит ${n.count(came * 60)}${before}, завершается ${n.count(finished * 60)}.`
  },
  ruler: ({ manages, comes, replicas, needed }) => {
    const { count, unit } = pace(Math.min(manages, comes))
    const all = replicas === 1 ? '' : ` на ${n.count(replicas)}`
    const forms = { one: 'реплика', few: 'реплики', many: 'реплик', other: 'реплики' }
    const need = `${n.plural(needed, { one: 'нужна', other: 'нужно' })} ${n.count(needed)} ${n.plural(needed, forms)}`
    return `Одна реплика выдерживает запросов ${unit}: около ${count(manages)}, приходит ${count(comes)}${all}: ${need}.`
  },
  gpuBelow: ({ name, xid, gone, throttle }) => {
    const meaning = xid === undefined ? undefined : xidMeaning(xid)
    if (xid !== undefined) return `${name}: XID ${xid}${meaning === undefined ? '' : `, ${meaning}`}.`
    if (gone) return `${name}: экспортёр его больше не показывает.`
    return `${name}: железо снизило частоты, ${throttledBy(throttle)}.`
  },
  upstreamsBelow: (names) => `Шлюз считает нездоровым: ${names}.`,
  cameFrom: (cause) => `Причина: ${causeIn(cause)}.`,
} satisfies Partial<Catalogue['line']>

function causeIn({ gpu, upstreams }: Cause): string {
  if (!gpu) return `нездоровый апстрим ${upstreams}`
  if (gpu.xid !== undefined) return `${gpu.name}, XID ${gpu.xid}`
  return gpu.gone ? `${gpu.name} пропадал` : `${gpu.name} работал на сниженных частотах`
}

/** Where work does not get through for another reason than load or speed. */
export const otherVerdictsRu = {
  imbalance: ({ uneven }: Verdict) =>
    uneven === undefined
      ? 'Распределение неравномерное: у одних очередь, другие простаивают.'
      : `Распределение неравномерное: ${requests(uneven.waiting)} в очереди на ${listed(uneven.at)}, при этом ${idle(uneven)}.`,
  transfer: ({ transfersFailed, transferTime }: Verdict) => {
    const failed = transfersFailed ? `сбоит (сбоев: ${n.count(transfersFailed)})` : undefined
    const slow =
      transferTime === undefined || transferTime < 1.5 ? undefined : `идёт ${times(transferTime)} дольше обычного`
    const what = [failed, slow].filter((part) => part !== undefined).join(' и ') || 'идёт медленно'
    return `Первый токен задерживается без очереди: передача KV-кэша ${what}.`
  },
  draft: ({ accepted, usuallyAccepted, timePerToken }: Verdict) => {
    const share =
      accepted === undefined || usuallyAccepted === undefined
        ? 'принимается меньше токенов'
        : `принимается ${n.percent(accepted)} токенов, обычно ${n.percent(usuallyAccepted)}`
    const slower =
      timePerToken === undefined || timePerToken < 1.1 ? '' : `; токен генерируется ${times(timePerToken)} дольше`
    return `Спекулятивное декодирование угадывает хуже: ${share}${slower}.`
  },
  asleep: ({ waiting }: Verdict) =>
    waiting === undefined ? 'Движок усыплён.' : `Движок усыплён, пробуждения ждёт ${requests(waiting)}.`,
  deferred: ({ waiting = 0, deferred }: Verdict) => {
    const who =
      deferred === undefined
        ? 'запросы в очереди'
        : waiting > deferred
          ? `${n.count(deferred)} из ${n.count(waiting)} в очереди`
          : `вся очередь (${n.count(deferred)})`
    return `Отложено: ${who}; ждут адаптера или передачи KV-кэша, а не места.`
  },
}

function idle({ of, idle: count }: NonNullable<Verdict['uneven']>): string {
  const engines = {
    one: 'движок простаивает',
    few: 'движка простаивают',
    many: 'движков простаивают',
    other: 'движка простаивают',
  }
  const replicas = {
    one: 'реплика простаивает',
    few: 'реплики простаивают',
    many: 'реплик простаивают',
    other: 'реплики простаивают',
  }
  return `${n.count(count)} ${n.plural(count, of === 'engines' ? engines : replicas)}`
}

/** So many names; the rest are counted. */
const NAMED = 4

function listed(names: readonly string[]): string {
  const shown = names.slice(0, NAMED).join(', ')
  return names.length > NAMED ? `${shown} и ещё ${n.count(names.length - NAMED)}` : shown
}
