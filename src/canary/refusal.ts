import { defined } from '../model/defined.ts'
import type { Failure } from '../model/failure.ts'
import type { CanaryFacts } from '../model/observation.ts'
import { CanaryFailed } from './exchange.ts'
import { isUsedUp } from './quota.ts'

/** Anthropic's status for itself; others have taken it over. https://docs.claude.com/en/api/errors */
const OVERLOADED = 529

/** What a server says when it will not take one request more. "CUDA device busy" is a fault, not a queue. */
const BUSY =
  /queue[\s_-]*(is[\s_-]*)?full|\bqueue[\s_-]*(size|length|limit)?[\s_-]*(exceeded|reached)|\bbusy\b|overload|too many (\w+ )?requests|maximum (pending requests|queue)|at capacity|backpressure/i
const FAULT = /cuda|device|driver/i

/** What a server says with 503 when there is nobody behind it, or nobody yet: not a queue. */
const NOBODY =
  /loading model|model is (still )?loading|no healthy upstream|upstream connect error|no (available|healthy) (server|backend|endpoint)|no server is available|^(503 )?service temporarily unavailable/i

/** What a gateway says when each of its backends is gone, or left alone for a while after failures. */
const NO_BACKEND =
  /no deployments? (is |are )?available|cool[\s_-]?down|no (available|healthy) (deployment|provider|backend|upstream|server|endpoint)|all (deployments|providers|backends|upstreams) /i
/** What it says when the limit is that of the key we ask with. */
const OWN_LIMIT =
  /budget|quota|rate[\s_-]?limit|\b(rpm|tpm|rpd|tpd)\b|(requests|tokens) per (second|minute|hour|day)|insufficient (credit|balance|fund)|billing|api[\s_-]?key.{0,60}limit/i
const ABOUT_MONEY = /budget|quota|insufficient (credit|balance|fund)|billing/i

/** The server will not take the canary, and that is an answer: it is busy, or the model is not there. */
export class Refused extends Error {
  override name = 'Refused'
  constructor(readonly facts: CanaryFacts) {
    super(facts.status)
  }
}

/** Whether an error text says that the queue is full. */
function saysBusy(words: string): boolean {
  return BUSY.test(words) && !FAULT.test(words)
}

/**
 * Whether an answer refuses for want of room: 429, 503 unless its words name another cause, any 5xx whose words say so.
 */
function refusesForLoad(status: number, words: string): boolean {
  if (status === 429 || status === OVERLOADED) return true
  if (status === 503) return !NOBODY.test(words) && !FAULT.test(words)
  return status >= 500 && saysBusy(words)
}

/** The same of an error inside a 200 stream, which may carry a status of its own: `{"error": {"code": 429, …}}`. */
function refusesInStream(text: string, words: string): boolean {
  const [, status] = /"(?:http_)?(?:status|code|status_code)"\s*:\s*"?([45]\d\d)\b/.exec(text) ?? []
  return saysBusy(words) || (status !== undefined && refusesForLoad(Number(status), words))
}

/** @param retryAfter the header, as it came. */
function busyFacts(words: string, retryAfter: string | null): CanaryFacts {
  const wait = retryAfter === null ? '' : `Retry-After: ${retryAfter.slice(0, 40)}`
  const detail = [words, wait].filter((part) => part !== '').join('; ')
  return defined({ status: 'busy' as const, detail: detail || undefined, refusal: whoseRefusal(words) })
}

/** Whose limit it is; `undefined`: the queue of the server, as far as its words tell. */
function whoseRefusal(words: string): CanaryFacts['refusal'] {
  if (NO_BACKEND.test(words)) return 'no-backend'
  return OWN_LIMIT.test(words) && !saysBusy(words.replace(/too many requests/gi, '')) ? 'own-limit' : undefined
}

/** A budget that is spent is refused with 400, 402 or 403, depending on the gateway. */
function refusesForMoney(status: number, words: string): boolean {
  return status === 402 || ((status === 400 || status === 403) && ABOUT_MONEY.test(words))
}

/** Whether an error body says that the server does not have the model, and not that it does not have the route. */
export function saysModelMissing(body: string, words: string): boolean {
  if (/model_not_found/.test(body)) return true
  return (
    /\bmodels?\b/i.test(words) &&
    /not found|not exist|does ?n.t exist|unknown|invalid model|no such|not available|not served/i.test(words)
  )
}

/** What an answer other than 200 means. @param isMissing the caller takes it to say that the model is not there. */
export function refusalOf({ status, headers }: Response, words: string, isMissing: boolean): Error {
  if (refusesForLoad(status, words)) {
    const facts = busyFacts(words, headers.get('retry-after'))
    return new Refused({ ...facts, ...refusalByHeaders(facts, status, headers) })
  }
  if (refusesForMoney(status, words)) return new Refused({ ...busyFacts(words, null), refusal: 'own-limit' })
  return isMissing ? modelMissing(words) : new CanaryFailed(failureOfStatus(status, words))
}

/** Where the words do not say whose limit it is, status and headers may. */
function refusalByHeaders({ refusal }: CanaryFacts, status: number, headers: Headers): Pick<CanaryFacts, 'refusal'> {
  if (refusal !== undefined) return {}
  if (status === OVERLOADED) return { refusal: 'overloaded' }
  return status === 429 && isUsedUp(headers) ? { refusal: 'own-limit' } : {}
}

/** What an error inside a 200 stream means. @param isMissing as in {@link refusalOf}. */
export function errorInStream(text: string, words: string, isMissing: boolean): Error {
  if (refusesInStream(text, words)) return new Refused(busyFacts(words, null))
  return isMissing ? modelMissing(words) : new CanaryFailed({ kind: 'stream-error', detail: words })
}

function modelMissing(words: string): Refused {
  return new Refused(defined({ status: 'model-missing' as const, detail: words || undefined }))
}

function failureOfStatus(status: number, words: string): Failure {
  return defined({ kind: kindOf(status), status, detail: words || undefined })
}

function kindOf(status: number): Failure['kind'] {
  if (status === 401 || status === 403) return 'not-authorised'
  if (status === 404) return 'not-found'
  return status >= 300 && status < 400 ? 'redirected' : 'http'
}
