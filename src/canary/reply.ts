import { sayOnOneLine } from '../http/server-words.ts'
import type { CanaryRequest } from '../model/config.ts'
import { defined } from '../model/defined.ts'
import type { CanaryFacts } from '../model/observation.ts'

/** What is asked where nothing is set. */
export const ONE_TOKEN: CanaryRequest = { tokens: 1, prompt: 'Hi', idle: 'ask' }

/** Characters that an expectation is tried on: a pattern may take long over a long text. */
const TRIED = 2_000

/** What came of an answer, in words: its own, and what a model thought before it. */
export interface Reply {
  text: string
  /** Only its length counts. */
  thoughts: string
}

export function addTo(reply: Reply, part: Partial<Reply>): void {
  if (reply.text.length < TRIED) reply.text += part.text ?? ''
  if (reply.thoughts.length < TRIED) reply.thoughts += part.thoughts ?? ''
}

/**
 * Whether the answer is what was expected. Where all tokens went into thoughts there is no answer that could be wrong;
 * thoughts that have the expected in them are proof enough.
 */
export function answerFacts({ text, thoughts }: Reply, { expect }: CanaryRequest): Pick<CanaryFacts, 'answer'> {
  if (expect === undefined) return {}
  const hasAnswered = text.trim() !== ''
  const found = hasAnswered ? text : thoughts
  const matches = expect.test(found)
  const isUnknown = !matches && !hasAnswered && thoughts.trim() !== ''
  return { answer: { text: sayOnOneLine(found), ...defined({ matches: isUnknown ? undefined : matches }) } }
}

/**
 * Tokens a second after the first.
 * @param seconds from the first to the last.
 * @returns `undefined` for fewer than two, and where they came in one piece: a proxy had gathered them.
 */
export function rateOf(tokens: number, seconds: number): number | undefined {
  if (tokens < 2) return undefined
  const rate = (tokens - 1) / seconds
  return rate <= FASTEST ? rate : undefined
}

/** No server writes faster for one request. */
const FASTEST = 20_000
