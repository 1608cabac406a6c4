import type { PushServer } from '../model/config.ts'
import type { Failure } from '../model/failure.ts'
import type { Log } from '../model/io.ts'
import type { Action, Try } from './attempt.ts'

/** Which push, to whom, and the how-many-th try. */
export interface Tried {
  server: PushServer
  by: 'first' | 'fallback'
  try: number
  title: string
  about: readonly string[] | undefined
}

/** One line a try: what came of it and, where that is our mistake, what to look at; never the token or the whole address. */
export function report(log: Log, action: Action, { answer, reason, took }: Try, tried: Tried): void {
  const { server, by, ...facts } = tried
  const [level, text] = TOLD[action]
  log[level](action === 'misconfigured' ? `${text}: ${advice(answer, by)}` : text, {
    server: by,
    host: URL.canParse(server.url) ? new URL(server.url).host : undefined,
    ...(typeof answer === 'number' ? { status: answer } : { failure: answer.kind }),
    reason,
    took,
    ...facts,
  })
}

const TOLD = {
  delivered: ['info', 'push delivered'],
  again: ['warn', 'push not taken, to be tried again'],
  shorter: ['warn', 'push too large for the server'],
  unanswered: ['warn', 'push sent, but its answer was lost'],
  misconfigured: ['error', 'push not taken'],
  refused: ['error', 'push refused for good'],
} as const satisfies Record<Action, readonly ['info' | 'warn' | 'error', string]>

/** What to look at when the server's answer is about our configuration. */
export function advice(answer: number | Failure, by: Tried['by']): string {
  const variable = by === 'first' ? 'NOTIFLY' : 'NOTIFLY_FALLBACK'
  if (answer === 401 || answer === 403)
    return `is ${variable}_TOKEN still valid, and NOTIFLY_AUTH the right way to send it?`
  if (answer === 404) return `is ${variable}_URL the base address of the push server?`
  if (typeof answer === 'number')
    return `${variable}_URL redirects, and a redirected POST loses its body: set the address it points to`
  return `${variable}_URL or ${variable}_TOKEN cannot be used as it is`
}
