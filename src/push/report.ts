import { formOf } from '../config/services.ts'
import { CATALOGUES } from '../messages/compose.ts'
import { underPrefix } from '../messages/failure-shapes.ts'
import { type ChannelConfig, NOTIFLY } from '../model/config.ts'
import type { Failure } from '../model/failure.ts'
import type { Log } from '../model/io.ts'
import type { Try } from './attempt.ts'
import type { Action } from './channel.ts'
import { CHANNELS } from './services.ts'
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
  const advice = isOurs(action, tried) ? adviceOf(tried, to) : undefined
  log[level](advice === undefined ? text : `${text}: ${advice}`, {
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

/** Whether it may be for us to mend: an answer about our configuration, or a server that was never reached. */
export function isOurs(action: Action, { answer }: Try): boolean {
  return action === 'misconfigured' || (action === 'again' && typeof answer !== 'number')
}

/** What to look at when the server's answer is about our configuration, or it was never reached. `undefined`: nothing is known. */
export function adviceOf({ answer, stranger, advice }: Try, to: ChannelConfig): string | undefined {
  const { url, token } = to.variables
  if (advice !== undefined) return advice
  if (stranger !== undefined) return aboutStranger(stranger, to)
  if (typeof answer !== 'number') return aboutNetwork(answer, to)
  if (answer >= 300 && answer < 400)
    return `${url} redirects, and a redirected POST loses its body: set the address it points to`
  const form = formOf(to.service)
  const address = new URL(to.url)
  if (form.takesNoToken(address) || (to.token === undefined && form.isSecret(address)))
    return `is ${url} still the whole address of the webhook? One that was deleted has to be made anew`
  if (answer === 401 || answer === 403) {
    const wanted = CHANNELS[to.service].page.token.replaceAll('`', '')
    if (to.token === undefined) return `it asks for a token: set ${token} (${wanted})`
    const how = to.name === NOTIFLY || to.isSpare ? ', and NOTIFLY_AUTH the right way to send it' : ''
    return `is ${token} still valid${how}? Wanted: ${wanted}`
  }
  if (answer === 404 || answer === 405) return `is ${url} the base address of the push server?`
  if (answer === 402) return `the plan or budget behind ${token} does not cover this`
  return `is ${url} the push server, and ${token} an app that is still there?`
}

/** Why there was no answer, in the words of the messages about endpoints where they fit, with the channel's own variables. */
function aboutNetwork(
  failure: Failure,
  { isSpare, name, variables: { url, token } }: ChannelConfig,
): string | undefined {
  const prefix = isSpare || name === NOTIFLY ? 'NOTIFLY' : `PUSH_${name.toUpperCase()}`
  switch (failure.kind) {
    case 'tls':
    case 'proxy':
      return underPrefix(CATALOGUES.en.failures[failure.kind].todo(failure, false), prefix).replace(/\.$/, '')
    case 'refused':
      return `does the push server run, and is the port in ${url} right?`
    case 'name-not-found':
      return `is the host in ${url} right, and known to the DNS of this machine?`
    case 'unreachable':
    case 'timeout':
      return `can ${url} be reached from this machine, past firewalls, or only by a proxy (HTTPS_PROXY)?`
    case 'other':
      return failure.code === 'INVALID_REQUEST' ? `${url} or ${token} cannot be used as it is` : undefined
    default:
      return undefined
  }
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
