import type { Backend } from './backend.ts'
import type { Fallible } from './fallible.ts'
import type { Proxies, Reach, TlsFiles } from './reach.ts'
import type { Rule } from './rule.ts'

export type Language = 'en' | 'ru'
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'
/** CloudWatch metrics, in Lambda alone: none, the function's own figures, or each endpoint's signals too. */
export type MetricsMode = 'off' | 'own' | 'all'
export type PushAuth = 'bearer' | 'notifly' | 'gotify' | 'query'

/** What can take pushes; `docs/push.md` says how each is addressed. */
export const SERVICES = [
  'notifly',
  'gotify',
  'ntfy',
  'telegram',
  'slack',
  'discord',
  'teams',
  'pagerduty',
  'alertmanager',
  'webhook',
] as const
export type Service = (typeof SERVICES)[number]

/** The channel of `NOTIFLY_URL`, and the one that prints where none is configured. */
export const NOTIFLY = 'notifly'

/** One place where pushes go. `token` is a secret, and with some services so is the whole `url`. */
export interface ChannelConfig {
  /** As `PUSH` names it: small letters and digits. */
  name: string
  service: Service
  /** Without a trailing slash; some services have their query in it. */
  url: string
  token: string | undefined
  tls?: TlsFiles
  /** The variable of its address, and of its token. */
  variables: { url: string; token: string }
  language: Language
  /** What begins below this priority is not told here. */
  minPriority: number
  /** Takes what this one could not take. */
  fallback: ChannelConfig | undefined
  /** Second server of the same channel (`NOTIFLY_FALLBACK_URL`): what it took counts as told by the first. */
  isSpare?: true
  /** Notifly and Gotify: how the token is sent, and whether the text is markdown. */
  auth: PushAuth
  markdown: boolean
}

/** What stands between us and a server that is no endpoint: the store, the push server, the ping. */
export interface Outward {
  proxies?: Proxies
  tls?: TlsFiles
}

/** Where the state lies. */
export type StateConfig =
  | ({ kind: 's3'; bucket: string; prefix: string; endpoint: string | undefined; forcePathStyle: boolean } & Outward)
  | { kind: 'file'; dir: string }

/** Where the page is, and what signs its links. */
export interface PageLinks {
  /** Without a slash at the end. */
  url: string
  /** Secret. */
  secret: string
}

/** One server we watch, with all that its variables say. Times in milliseconds. */
export interface Endpoint {
  /** `chat/a`, or `chat` where it has no group. */
  name: string
  group: string | undefined
  /** As requested, with `metrics` appended where the rule says so; without credentials. */
  url: string
  /** Only the series of this model; for a canary, the model to ask. */
  model: string | undefined
  /** Secret: the whole `Authorization` value (`Bearer …` or `Basic …`). */
  authorization: string | undefined
  /** For one scrape or canary. */
  timeout: number
  /** Milliseconds within which the first token should come; absent: no such objective. */
  sloTtft?: number | undefined
  reach?: Reach
  /** The GPU exporter beside this server. */
  gpuUrl: string | undefined
  /** The beginning of an incident, of those within two hours, from which on it is told as coming and going; `undefined`: never. */
  flaps: number | undefined
  runbookUrl: string | undefined
  dashboardUrl: string | undefined
  /** Names of the channels that hear of it; absent: those of the function. */
  channels?: readonly string[]
  /** Active rules, in catalogue order. */
  rules: Rule[]
  /** Where canaries ask; absent: one token, asked at each run. */
  canary?: CanaryRequest
  /** Heartbeat worker: milliseconds. */
  beat: ExpectedBeats | undefined
  /** When nothing of it is pushed. */
  maintenance?: readonly MaintenanceWindow[]
}

/** When a worker is to report. Milliseconds. */
export interface ExpectedBeats {
  /** 0 where it has a calendar. */
  interval: number
  grace: number
  schedule?: Schedule
  /** The longest that a run may last; absent: by those before it. */
  runLimit?: number
}

/** A calendar by the clock of a time zone. */
export interface Schedule {
  /** As it was written: `0 3 * * *`. */
  text: string
  timezone: string
  /** The last time it was due, at that moment or before. Epoch milliseconds; `undefined`: never. */
  previous(at: number): number | undefined
}

/** Handed in by the functions that have workers: the others do not carry the library. */
export type ReadSchedule = (text: string, timezone: string) => Fallible<{ schedule: Schedule }, { why: string }>

/** A time of planned work. */
export type MaintenanceWindow =
  /** Epoch milliseconds. */
  | { kind: 'once'; from: number; to: number }
  /** Days of the week on which it begins, Sunday is 0; minutes of the day by the clock of a time zone. An end that is not after the beginning is on the next day. */
  | { kind: 'weekly'; days: readonly number[]; from: number; to: number; zone: string }

/** What one endpoint is asked, and how often. */
export interface CanaryRequest {
  /** Tokens that are asked for. */
  tokens: number
  prompt: string
  /** What the answer must match. */
  expect?: RegExp | undefined
  /** Requests that may be sent in a day of UTC. */
  budget?: number | undefined
  /** `skip`: a model that nobody else uses is let go. */
  idle: 'ask' | 'skip'
}

export interface CanaryConfig {
  /** Load a model that is not loaded. */
  load: boolean
  loadTimeout: number
}

/** A place that is asked at each run which endpoints there are. */
export type Source = { id: string } & (
  | { kind: 'file'; path: string }
  | { kind: 'http'; url: string; authorization: string | undefined }
  | { kind: 's3'; bucket: string; key: string; endpoint: string | undefined; forcePathStyle: boolean }
  | DnsName
)

/** One replica for each address of a name. */
export interface DnsName {
  kind: 'dns'
  /** The group of the replicas. */
  group: string
  /** With the name in it: `http://vllm-headless:8000/metrics`. */
  url: string
}

/** One endpoint that a source names; in a list also a `dns+http://` address, whose name is then a group. */
export interface Target {
  /** `group/replica`, or without a group. */
  name: string
  url: string
}

/** Endpoints that are found anew at each run: the run loads the sources and expands the configuration by what they name. */
export interface Discovery {
  /** `VLLM_TARGETS`. */
  variable: string
  sources: Source[]
  /** Stands for the sources: it is what is blind when one cannot be used. No endpoint can be called so. */
  endpoint: Endpoint
  /** The endpoints that the variables name themselves. */
  taken: readonly Pick<Endpoint, 'name' | 'group'>[]
  expand(found: readonly Target[]): Fallible<{ config: Config }, { problems: string[] }>
}

/** One of several functions that divide the endpoints among them: `2/8` is the second of eight. */
export interface Shard {
  /** From 1. */
  index: number
  of: number
}

/** A group of replicas whose number is watched. */
export interface Pool {
  group: string
  rule: Rule
  /** Its name resolves to nothing at this run: whatever was there is gone. */
  nameless?: true
}

export interface Config {
  backend: Backend
  endpoints: Endpoint[]
  /** None: a local run, which prints its pushes. */
  channels: ChannelConfig[]
  /** Names of the channels that hear of what no endpoint has channels of its own for. */
  heard: readonly string[]
  state: StateConfig
  language: Language
  /** Of clock times in messages; absent: UTC. */
  timezone?: string
  pingUrl: string | undefined
  logLevel: LogLevel
  /** How the certificates of push servers are judged; absent: none is reached by https, or nobody wants to know. */
  certificates?: Rule
  /** Absent: off. */
  metrics?: MetricsMode
  /** Span over which counters and histograms are judged. */
  window: number
  /** The schedule's period, where it is set; otherwise it is learned. */
  interval: number | undefined
  canary: CanaryConfig
  proxies?: Proxies
  /** For what is no endpoint. */
  tls?: TlsFiles
  /** Every secret of this configuration, so that the log can mask it. */
  secrets: string[]
  /** Settings that work but will surprise: told once in the log. */
  warnings: string[]
  /** Nothing was configured: the one endpoint is the local default. */
  usedDefault?: boolean
  discovery?: Discovery
  /** Absent: pushes carry no links to the page. */
  page?: PageLinks
  /** The groups that must not be lost; absent: there are none. */
  pools?: readonly Pool[]
  /** Absent: all endpoints are this function's. */
  shard?: Shard
}

/** How a function is called in logs and metrics: `vllm`, or `vllm.2-of-8`. */
export function functionName({ backend, shard }: Pick<Config, 'backend' | 'shard'>): string {
  return shard ? `${backend}.${shard.index}-of-${shard.of}` : backend
}

/** The configuration cannot be used; the message lists every problem, one a line, and shows no secret. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  constructor(readonly problems: readonly string[]) {
    super(
      `Configuration: ${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}\n${problems.map((p) => `  - ${p}`).join('\n')}`,
    )
  }
}
