import type { PushServer } from '../model/config.ts'
import type { Failure } from '../model/failure.ts'
import type { Log } from '../model/io.ts'
import type { Action, Try } from './attempt.ts'
import type { Stranger } from './stranger.ts'

/** Which push, to whom, and the number of the try. */
export interface Tried {
  server: PushServer
  by: 'first' | 'fallback'
  try: number
  title: string
  about: readonly string[] | undefined
}

/** One line a try: what came of it and, where that is our mistake, what to look at; never the token or the whole address. */
export function report(log: Log, action: Action, { answer, stranger, reason, took }: Try, tried: Tried): void {
  const { server, by, ...facts } = tried
  const [level, text] = TOLD[action]
  log[level](action === 'misconfigured' ? `${text}: ${advice(answer, by, stranger)}` : text, {
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
  limited: ['warn', 'push not taken: too many for the server, to be tried again later'],
  shorter: ['warn', 'push too large for the server'],
  bare: ['warn', 'push refused as it is'],
  unanswered: ['warn', 'push sent, but its answer was lost'],
  misconfigured: ['error', 'push not taken'],
  refused: ['error', 'push refused for good'],
} as const satisfies Record<Action, readonly ['info' | 'warn' | 'error', string]>

/** What to look at when the server's answer is about our configuration. */
export function advice(answer: number | Failure, by: Tried['by'], stranger?: Stranger): string {
  const variable = by === 'first' ? 'NOTIFLY' : 'NOTIFLY_FALLBACK'
  if (stranger !== undefined) return aboutStranger(stranger, variable)
  if (typeof answer !== 'number') return `${variable}_URL or ${variable}_TOKEN cannot be used as it is`
  if (answer === 401 || answer === 403)
    return `is ${variable}_TOKEN still valid, and NOTIFLY_AUTH the right way to send it?`
  if (answer >= 300 && answer < 400)
    return `${variable}_URL redirects, and a redirected POST loses its body: set the address it points to`
  if (answer === 404 || answer === 405) return `is ${variable}_URL the base address of the push server?`
  if (answer === 402) return `the plan or budget behind ${variable}_TOKEN does not cover this`
  return `is ${variable}_URL the push server, and ${variable}_TOKEN an app that is still there?`
}

function aboutStranger(stranger: Stranger, variable: string): string {
  switch (stranger) {
    case 'web-page':
      return `is a sign-in page in front of ${variable}_URL, or another web server there? A push server answers JSON`
    case 'failure':
      return `the answer says that it failed: are ${variable}_URL and ${variable}_TOKEN those of a push server?`
    case 'ntfy':
      return `${variable}_URL is an ntfy server, which shows such a message as raw text: use PUSH_<NAME>=ntfy+https://…/topic`
    default:
      return stranger satisfies never
  }
}
