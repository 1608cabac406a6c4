import { CATALOGUES } from '../messages/compose.ts'
import type { NumberFormat } from '../messages/number-format.ts'
import { sanitizeAll } from '../messages/sanitize.ts'
import { headlineOf, nowOf, textsOf } from '../messages/sentence.ts'
import type { Language } from '../model/config.ts'
import type { DerivedSignal, Notification } from '../model/notification.ts'
import { signOf } from '../rules/rules.ts'
import type { PageWords } from './words.ts'
import { wordsEn } from './words-en.ts'
import { wordsRu } from './words-ru.ts'

export const PAGE_WORDS: Record<Language, PageWords> = { en: wordsEn, ru: wordsRu }

/** Sign, headline and sentence of an alert as it stands, in the words of the messages. */
export function wordsOfAlert(alert: Notification, language: Language): { sign: string; headline: string; now: string } {
  const catalogue = CATALOGUES[language]
  const [note = alert] = sanitizeAll([alert], false).title
  const texts = textsOf(note.rule, catalogue)
  // Another version's rule has no words here.
  if (texts === undefined) return { sign: '🔔', headline: note.rule, now: '' }
  return { sign: signOf(note.rule), headline: texts.still ?? headlineOf(note, catalogue), now: nowOf(note, catalogue) }
}

/** A rule as a headline, without its numbers. */
export function headlineOfRule(rule: string, language: Language): string {
  const texts = textsOf(rule, CATALOGUES[language])
  return texts === undefined ? rule : (texts.still ?? texts.headline({}))
}

export function numbersOf(language: Language): NumberFormat {
  return CATALOGUES[language].format
}

/** A signal's value with its unit, as a person reads it. */
export function valueText(signal: DerivedSignal, value: number, language: Language): string {
  const { format } = CATALOGUES[language]
  switch (unitOf(signal)) {
    case 'share':
      return format.percent(value)
    case 'seconds':
      return format.seconds(value)
    case 'rate':
      return format.large(value)
    case 'count':
      return format.count(value)
  }
}

export function unitOf(signal: DerivedSignal): 'share' | 'seconds' | 'rate' | 'count' {
  if (/^(kv_cache|prefix_hit_share|failed_share|gpu_memory|gpu_utilisation)$/.test(signal)) return 'share'
  if (/_p\d\d$|^canary_|^queue_wait$|^beat_age$/.test(signal)) return 'seconds'
  return signal.endsWith('_per_second') ? 'rate' : 'count'
}

const clocks = new Map<string, Intl.DateTimeFormat>()

/** `14:05`, with its day where that is not the day of `now`. Epoch milliseconds. */
export function clockText(at: number, now: number, { language, timezone }: { language: Language; timezone: string }) {
  const format = (kind: 'time' | 'day' | 'key') => {
    const name = `${kind} ${language} ${timezone}`
    const known =
      clocks.get(name) ?? new Intl.DateTimeFormat(LOCALES[language], { ...FORMATS[kind], timeZone: timezone })
    clocks.set(name, known)
    return known
  }
  const time = format('time').format(at)
  return format('key').format(at) === format('key').format(now) ? time : `${format('day').format(at)} ${time}`
}

const LOCALES: Record<Language, string> = { en: 'en-GB', ru: 'ru-RU' }
const FORMATS = {
  time: { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  day: { day: 'numeric', month: 'short' },
  key: { year: 'numeric', month: '2-digit', day: '2-digit' },
} as const
