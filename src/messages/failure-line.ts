import type { Backend } from '../model/backend.ts'
import type { Failure } from '../model/failure.ts'
import { CATALOGUES } from './compose.ts'
import { withPrefix } from './failure-shapes.ts'

/** A failure as the push tells it, for whoever tells it elsewhere: doctor, terminal, log. English, as they are. */
export interface ToldFailure {
  /** `nothing listens on the port (ECONNREFUSED)`, with the server's own words behind. */
  what: string
  /** A sentence; variables stand in it by their full names. */
  todo: string
}

export function tellFailure(failure: Failure, backend: Backend): ToldFailure {
  const texts = CATALOGUES.en.failures[failure.kind]
  const canary = backend === 'ollama' || backend === 'openai'
  const { detail } = failure
  return {
    what: `${texts.words(failure, canary)}${detail === undefined ? '' : `: “${detail}”`}`,
    todo: withPrefix(texts.todo(failure, canary), backend),
  }
}
