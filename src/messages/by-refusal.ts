import type { Refusal } from '../model/notification.ts'
import type { Fact, RuleTexts } from './texts.ts'

type WithTodo = RuleTexts & { todo(fact: Fact): string | undefined }

/** The words of a refused canary, by whose refusal it was; its end is that of all of them. */
export function byRefusal(texts: Record<Refusal | 'full', WithTodo>): WithTodo {
  const of = ({ refusal }: Fact) => texts[refusal ?? 'full']
  return {
    headline: (fact) => of(fact).headline(fact),
    now: (fact) => of(fact).now(fact),
    over: texts.full.over,
    todo: (fact) => of(fact).todo(fact),
  }
}
