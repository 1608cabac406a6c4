import type { Backend } from '../model/backend.ts'
import type { Cause, Verdict, VerdictKind } from '../model/explanation.ts'
import type { Failure } from '../model/failure.ts'
import type { AlertContext, CanaryStatus, HeldBy, Notification } from '../model/notification.ts'
import type { RuleId } from '../rules/rules.ts'
import type { Advice } from '../verdict/advice-kinds.ts'
import type { NumberFormat } from './number-format.ts'

/** What a rule's sentence is made from; text in it is already safe to print. Units as the rule's. */
export interface Fact {
  value?: number
  /** The value is only known to be at least this. */
  atLeast?: boolean
  limit?: number
  /** What the value is compared with, in the unit of the compared signal. */
  usual?: number
  /** The engine that holds the fullest cache. */
  at?: string
  /** The upstream that most failures are at, or the server's own word for what they are. */
  failedBy?: string
  running?: number
  waiting?: number
  deferred?: number
  /** What holds work that does not move. */
  heldBy?: HeldBy
  /** Milliseconds within which the first token should come. */
  within?: number
  /** Milliseconds that were looked at, where the window had too few requests. */
  span?: number
  /** The model or worker that is not there. */
  missing?: string
  /** Signals that are not there, in words. */
  signals?: string
  /** Signals whose value cannot be, in words. */
  doubted?: string
  /** The sources of endpoints that could not be used, by their addresses. */
  sources?: string
  beat?: Notification['beat']
  run?: Notification['run']
  /** The model that answered in place of the missing one. */
  answeredBy?: string
  answer?: Notification['answer']
  quota?: Notification['quota']
  /** When a certificate ends, as a person reads it. */
  ends?: string
  gap?: Notification['gap']
  /** Clock times of a span without a watcher; of a silence its end. */
  from?: string
  to?: string
  /** The beginning of this endpoint's variables: `VLLM_CHAT_A`. */
  variables?: string
  refusal?: Notification['refusal']
  silence?: Notification['silence']
  alternates?: true
  pool?: Notification['pool']
  failure?: Failure
  backend?: Backend
}

/** A rule's words; its sign is the rule's own, in `rules/`. */
export interface RuleTexts {
  /** What happened, for the title: no number, no full stop. */
  headline(fact: Fact): string
  /** What the page says of an alert that lasts, where the headline may no longer be true hours later. */
  still?: string
  /** The same as a sentence with what is known: value, limit, company. Ends in a full stop. */
  now(fact: Fact): string
  /** What a resolved one says in the title. */
  over: string
  /** How high it got, as part of a sentence (`97 waiting at most`); absent where a number says nothing. */
  peak?(value: number, atLeast: boolean): string
  /** What to do where neither verdict nor server say it better; `undefined` where nothing is known to help. */
  todo?(fact: Fact): string | undefined
}

export interface FailureTexts {
  /** For the title. */
  headline(failure: Failure, canary: boolean): string
  /** The cause in words, without a full stop. */
  words(failure: Failure, canary: boolean): string
  /** What to look at, a sentence. @param variables as those of the endpoint begin: `VLLM_CHAT_A`. */
  todo(failure: Failure, canary: boolean, variables?: string): string
}

/** Where the seconds of a canary went; `ttft` where the server does not tell waiting from reading. */
export interface Phases {
  wait?: number
  load?: number
  prefill?: number
  ttft?: number
  decode?: number
}

/** The numbers that no other line tells, for a line of their own. */
export interface OtherNumbers {
  /** Seconds that the times, speeds and shares are over; the rest is of the last answer. */
  window?: number
  waiting?: number
  running?: number
  kvCache?: number
  kvAt?: string
  queueWait?: number
  ttft?: number
  ttftAtLeast?: boolean
  tokensPerSecond?: number
  failedShare?: number
}

/** Every text of a message in one language. Functions take raw numbers in the signals' units and safe text. */
export interface Catalogue {
  format: NumberFormat
  rules: Record<RuleId | 'state-broken' | 'silence', RuleTexts>
  /** A rule in the title, behind the endpoint: its figure first. */
  briefs: { [K in RuleId]?: (fact: Fact) => string | 0 | undefined }
  /** A rule in a digest, where its headline is too long for many endpoints. */
  lots: Partial<Record<string, string>>
  failures: Record<Failure['kind'], FailureTexts>
  /** Why, in a sentence. */
  verdicts: Record<VerdictKind, (verdict: Verdict) => string>
  advice: { [K in Advice['key']]: (advice: Extract<Advice, { key: K }>) => string }
  /** An XID by its number: what it means and what to do. `undefined`: not in the table. */
  xids: Readonly<Record<number, string>>
  canary: Record<CanaryStatus, string | undefined>
  /** A signal's name in words. */
  signal(name: string): string
  title: {
    /** `Queue is long, for 4 h now`. */
    repeated(headline: string, lasted: string): string
    /** While it lasts it became worse. */
    worse(headline: string): string
    comesAndGoes(headline: string): string
    cameAndWent(headline: string, times: number): string
    restarted(headline: string): string
    idle(headline: string): string
    forgotten(headline: string): string
    limitChanged(headline: string): string
    late(headline: string): string
    /** In a digest: `Queue at 12 of 30: c7 220, c4 190, …`. */
    lot(what: string, endpoints: number, of: number, names: string): string
    allDown(endpoints: number): string
    /** All fail alike, but the network is not the cause. */
    allFail(endpoints: number, headline: string): string
    allUp(endpoints: number): string
  }
  line: {
    newRequestWaits(seconds: number): string
    noneFinishes: string
    otherNumbers(numbers: OtherNumbers): string | undefined
    drains(minutes: number): string
    /** When so many will wait. */
    reaches(count: number, minutes: number): string
    /** What came and what finished; requests a second. */
    flow(flow: NonNullable<AlertContext['flow']>): string
    ruler(ruler: NonNullable<AlertContext['ruler']>): string
    /** What lies below the symptom, as it is now. */
    gpuBelow(gpu: NonNullable<Cause['gpu']>): string
    upstreamsBelow(names: string): string
    /** The same of what is over. */
    cameFrom(cause: Cause): string
    kvFull(minutes: number): string
    partlyOut(upstreams: string): string
    gpu(gpu: { utilisation?: number; temperature?: number; xid?: number }): string | undefined
    /** `queue ▁▂▃ 3 → 42 in 15 min`; `what` is absent where the first line says it. */
    spark(bars: string, first: string, last: string, minutes: number | undefined, what: string | undefined): string
    sparkOf: { queue: string; wait: string; memory: string }
    /** `“Queue is growing” lasted 12 min, 97 waiting at most.` */
    lasted(headline: string, ms: number, detail: string | undefined): string
    /** What else took part in the incident. */
    also(parts: readonly string[]): string
    /** Within the incident. */
    began(times: number): string
    /** `stays`: for the last hour it has been there without a break. */
    comesAndGoes(times: number, since: string, stays: boolean): string
    cameAndWent(times: number, since: string, bad: number, detail: string | undefined): string
    ended: { clear: string | undefined; idle: string; restarted: string; forgotten: string; 'limit-changed': string }
    was(from: string, to: string, ms: number, detail: string | undefined): string
    /** Several times between the two. */
    wasOften(times: number, from: string, to: string, detail: string | undefined): string
    /** A resolved rule as a line beside others. */
    over(sign: string, over: string, ms: number): string
    lateLine(headline: string, from: string, to: string, times: number | undefined): string
    maybeSent: string
    says(who: 'server' | 'worker', text: string): string
    /** Where a redirect leads. */
    pointsTo(address: string): string
    subject(subject: string, text: string): string
    more(count: number): string
    /** `cause: nothing listens on the port`. */
    cause(words: string): string
    /** For a push that comes later than what it tells. */
    asOf(clock: string): string
    since(clock: string): string
    allDown(cause: string, clock: string): string
    allUp(lasted: string): string
    /** `undefined`: no two phases are known. */
    phases(phases: Phases): string | undefined
    requestId(id: string): string
  }
  /** What `doctor --push` sends. */
  test: { title: string; body(backend: string): string }
}
