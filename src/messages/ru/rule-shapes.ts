import type { RuleTexts } from '../texts.ts'
import { atLeast, limit, n } from './phrases.ts'

type WithTodo = RuleTexts & { todo(): string }

/** A rule whose sentence is one number against its limit. */
export function measured(headline: string, over: string, what: string, write: (value: number) => string): RuleTexts {
  return {
    headline: () => headline,
    now: ({ value, limit: max, atLeast: least, span }) => {
      if (value === undefined) return `${headline}.`
      const long = span === undefined ? '' : ` за последние ${n.lasted(span)}`
      return `${what} ${atLeast(least)}${write(value)}${limit(max, write)}${long}.`
    },
    over,
    peak: (value, least) => `в худший момент ${atLeast(least)}${write(value)}`,
  }
}

/** A rule without a number worth telling. */
export function plain(headline: string, sentence: string, over: string, todo: string): WithTodo {
  return { headline: () => headline, now: () => sentence, over, todo: () => todo }
}

/** A rule that counts events since the last run. */
export function counted(headline: string, over: string, what: (count: number) => string, todo: string): WithTodo {
  return {
    headline: () => headline,
    now: ({ value }) => (value === undefined ? `${headline}.` : `С прошлой проверки ${what(value)}.`),
    over,
    peak: (value) => `до ${n.count(value)} за одну проверку`,
    todo: () => todo,
  }
}
