/** The units as one language writes them. */
export interface Units {
  ms: string
  s: string
  min: string
  h: string
  d: string
  thousand: string
  million: string
  perSecond: string
}

/** Numbers as a person reads them, in one language. Every function takes finite numbers. */
export interface NumberFormat {
  /** `42`, `1,234`, `0.4`. */
  count(value: number): string
  /** `1.2 k`, for tokens. */
  large(value: number): string
  /** Share 0..1: `93 %`, `4.5 %`. */
  percent(share: number): string
  /** Seconds: `85 ms`, `4.1 s`, `50 s`, `12 min`, `1 h 5 min`, `2 d 3 h`. */
  seconds(value: number): string
  /** An estimate in seconds, without a precision that it does not have. */
  estimate(value: number): string
  /** Milliseconds, for how long something lasted: whole seconds and more. */
  lasted(ms: number): string
  /** `2.4/s`. */
  rate(value: number): string
  /** `3`, `1.5`, for "times". */
  times(value: number): string
  /** `14:05 UTC`, with the day when it is not the day of `now`, in the zone of the messages. Epoch milliseconds. */
  clock(at: number, now: number): string
  /** The form that goes with a count. */
  plural(value: number, forms: PluralForms): string
}

/** `few` and `many` are for languages that have them. */
export interface PluralForms {
  one: string
  few?: string
  many?: string
  other: string
}

export function numberFormat(locale: string, units: Units): NumberFormat {
  // Made with the first message: they take longer than all the rest of a run that has nothing to tell.
  const formats = once(() =>
    [0, 1, 2].map((digits) => new Intl.NumberFormat(locale, { maximumFractionDigits: digits })),
  )
  const rules = once(() => new Intl.PluralRules(locale))
  const write = (value: number, digits = 0) => (formats()[digits] ?? formats()[0])?.format(value) ?? String(value)
  const decimals = (value: number) => (Math.abs(value) < 9.95 ? 1 : 0)
  const seconds = (value: number): string => {
    if (value === 0) return `0 ${units.s}`
    if (value < 0.0995) return `${write(value * 1000, value < 0.00995 ? 1 : 0)} ${units.ms}`
    if (value < 0.9995) return `${write(value * 1000)} ${units.ms}`
    if (value < 119.5) return `${write(value, decimals(value))} ${units.s}`
    return longer(Math.round(value / 60))
  }
  const longer = (minutes: number): string => {
    const parts: [number, string][] =
      minutes >= 48 * 60
        ? [
            [Math.floor(minutes / 1440), units.d],
            [Math.round((minutes % 1440) / 60), units.h],
          ]
        : [
            [Math.floor(minutes / 60), units.h],
            [minutes % 60, units.min],
          ]
    return parts
      .filter(([value]) => value > 0)
      .map(([value, unit]) => `${write(value)} ${unit}`)
      .join(' ')
  }
  return {
    count: (value) => write(value, Number.isInteger(value) ? 0 : decimals(value)),
    large: (value) => {
      if (value >= 999_500) return `${write(value / 1e6, decimals(value / 1e6))} ${units.million}`
      if (value >= 1000) return `${write(value / 1000, decimals(value / 1000))} ${units.thousand}`
      return write(value, decimals(value))
    },
    percent: (share) => `${write(share * 100, Math.abs(share) < 0.0995 ? 1 : 0)} %`,
    seconds,
    estimate: (value) => seconds(value < 3 ? value : Math.round(value)),
    lasted: (ms) =>
      ms < 119_500 && ms !== 60_000
        ? `${write(Math.max(0, Math.round(ms / 1000)))} ${units.s}`
        : longer(Math.round(ms / 60_000)),
    rate: (value) => `${write(value, value < 0.095 ? 2 : decimals(value))}${units.perSecond}`,
    times: (value) => write(value, value < 9.95 ? 1 : 0),
    clock: clockIn(locale, 'UTC'),
    plural: (value, forms) => {
      const form = rules().select(Math.abs(value))
      return (form === 'one' || form === 'few' || form === 'many' ? forms[form] : undefined) ?? forms.other
    },
  }
}

/** Times of day as a language writes them, with the zone's short name: `14:05 UTC`, `15:05 CET`. @param zone such as `Europe/Berlin`. */
export function clockIn(locale: string, zone: string): NumberFormat['clock'] {
  const time = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: zone, timeZoneName: 'short' } as const
  const clock = once(() => new Intl.DateTimeFormat(locale, time))
  const dated = once(() => new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: zone }))
  return (at, now) => {
    const [day, today] = [dated().format(at), dated().format(now)]
    return `${day === today ? '' : `${day} `}${clock().format(at)}`
  }
}

/** `see …` → `See …`. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** `Queue is growing` → `queue is growing` inside a sentence; `KV cache …` and `GPU-5fd …` stay. */
export function inner(text: string): string {
  return /^\p{Lu}\p{Ll}/u.test(text) || /^\p{Lu} /u.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
