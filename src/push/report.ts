import { formOf } from '../config/services.ts'
import { type ChannelConfig, NOTIFLY } from '../model/config.ts'
import type { Log } from '../model/io.ts'
import type { Try } from './attempt.ts'
import type { Action } from './channel.ts'
import type { Stranger } from './stranger.ts'

/** Which push, to whom, and the number of the try. */
export interface Tried {
  to: ChannelConfig
  by: 'first' | 'fallback'
  try: number
  title: string
  about: readonly string[] | undefined
}

/** One line a try: what came of it and, where that is our mistake, what to look at; never the token or the whole address. */
export function report(log: Log, action: Action, tried: Try, { to, by, ...facts }: Tried): void {
  const { answer, reason, took } = tried
  const [level, text] = TOLD[action]
  log[level](action === 'misconfigured' ? `${text}: ${adviceOf(tried, to)}` : text, {
    channel: to.isSpare ? NOTIFLY : to.name,
    server: by,
    host: URL.canParse(to.url) ? new URL(to.url).host : undefined,
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
export function adviceOf({ answer, stranger, advice }: Try, to: ChannelConfig): string {
  const { url, token } = to.variables
  if (advice !== undefined) return advice
  if (stranger !== undefined) return aboutStranger(stranger, to)
  if (typeof answer !== 'number') return `${url} or ${token} cannot be used as it is`
  if (answer >= 300 && answer < 400)
    return `${url} redirects, and a redirected POST loses its body: set the address it points to`
  if (to.token === undefined && formOf(to.service).isSecret(new URL(to.url)))
    return `is ${url} still the whole address of the webhook?`
  if (answer === 401 || answer === 403) {
    if (to.token === undefined) return `it asks for a token: set ${token}`
    const how = to.name === NOTIFLY || to.isSpare ? ', and NOTIFLY_AUTH the right way to send it' : ''
    return `is ${token} still valid${how}?`
  }
  if (answer === 404 || answer === 405) return `is ${url} the base address of the push server?`
  if (answer === 402) return `the plan or budget behind ${token} does not cover this`
  return `is ${url} the push server, and ${token} an app that is still there?`
}

function aboutStranger(stranger: Stranger, { variables: { url, token }, name }: ChannelConfig): string {
  switch (stranger) {
    case 'web-page':
      return `is a sign-in page in front of ${url}, or another web server there? A push server answers JSON`
    case 'failure':
      return `the answer says that it failed: are ${url} and ${token} those of a push server?`
    case 'ntfy':
      return `${url} is an ntfy server, which shows such a message as raw text: use PUSH_${name === NOTIFLY ? '<NAME>' : name.toUpperCase()}=ntfy+https://…/topic`
    default:
      return stranger satisfies never
  }
}
