import { type Backend, prefixOf } from '../model/backend.ts'
import { RULE_IDS, rulesOf } from '../rules/rules.ts'
import { address, credentialsOf } from './address.ts'
import { OF_CANARIES, OF_WORKERS } from './asking-settings.ts'
import { maintenance, timezone } from './maintenance.ts'
import { setting } from './setting.ts'
import {
  basicAuth,
  choice,
  duration,
  line,
  orOff,
  signingSecrets,
  token,
  type Value,
  value,
  whole,
  yesOrNo,
} from './values.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const PUSH_EXAMPLE = 'https://push.example.com'
const pushAddress = address('the http or https address of the push server', PUSH_EXAMPLE)
const asSecret = <T>(of: Value<T>): Value<T> => ({ ...of, secret: true })
const link = value('an http or https address', (text) =>
  /^https?:\/\/[^/?#@\s]+([/?#]\S*)?$/i.test(text) && URL.canParse(text) ? text : undefined,
)

/** Tokens of services may hold what a header does not: they go into a path, a body or a key. */
const secretLine = asSecret(line('a token on one line', /^[\x21-\x7e]{1,4096}$/))
const channelName = value('the name of a channel, small letters and digits', (text) =>
  /^[a-z0-9]+$/i.test(text) ? text.toLowerCase() : undefined,
)
const proxyAddress: Value<URL> = {
  ...value('the http address of a proxy, such as http://proxy.corp.example:3128', (text) => {
    const address = /^[a-z]+:\/\//i.test(text) ? text : `http://${text}`
    if (!URL.canParse(address)) return undefined
    const url = new URL(address)
    if (!/^https?:$/.test(url.protocol)) return undefined
    const read = credentialsOf(url)
    return read.ok ? url : read
  }),
  secret: true,
}
const PROXY_MEANING = (scheme: string) =>
  `proxy by which \`${scheme}\` addresses are reached, the small letters of other tools too. Endpoints at loopback never go through it; at private addresses only with \`<BACKEND>_PROXY=yes\` (secret, if it holds a password)`
const pemFile = line('the path of a PEM file', /^[^\p{Cc}]{1,4096}$/u)
const SKIP_MEANING = 'any certificate is taken: an attacker on the way can read tokens; warned of at each start'

/** Variables of the whole function, in the order of the documentation. */
export const GENERAL = {
  NOTIFLY_URL: setting(
    pushAddress,
    undefined,
    'push server: its base address, a sub-path and a slash at the end allowed. Without it, and without `PUSH_<NAME>`, a local run prints the push; in Lambda one of them is required',
  ),
  NOTIFLY_TOKEN: setting(token, undefined, 'app token of the push server (secret)'),
  NOTIFLY_AUTH: setting(
    choice(['bearer', 'notifly', 'gotify', 'query']),
    'bearer',
    'how the token is sent: `bearer` (`Authorization: Bearer`, accepted by Notifly and Gotify), `notifly` (`X-Notifly-Key`), `gotify` (`X-Gotify-Key`), `query` (`?token=`)',
  ),
  NOTIFLY_FALLBACK_URL: setting(
    pushAddress,
    undefined,
    'second push server, used when the first could not take a message',
  ),
  NOTIFLY_FALLBACK_TOKEN: setting(token, undefined, 'its app token (secret)'),
  NOTIFLY_MARKDOWN: setting(yesOrNo, false, 'messages as markdown'),
  ALERT_LANGUAGE: setting(choice(['en', 'ru']), 'en', 'language of the messages: `en` or `ru`'),
  TIMEZONE: setting(
    timezone,
    'UTC',
    'zone of the times in messages and on the page, and of planned work, such as `Europe/Berlin`',
  ),
  STATE_BUCKET: setting(
    line('the name of a bucket alone, such as queuebell-state', /^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/),
    undefined,
    'S3 bucket of the state; required in Lambda',
  ),
  STATE_PREFIX: setting(
    line('the beginning of a key without a leading slash, such as queuebell/', /^[^\p{Cc}/\\][^\p{Cc}\\]{0,255}$/u),
    'queuebell/',
    'beginning of the keys in the bucket: the state is `<prefix><function>.json`',
  ),
  STATE_DIR: setting(
    line('a folder'),
    '.queuebell',
    'folder of the state file when no bucket is set; refused in Lambda, whose disk does not last',
  ),
  S3_ENDPOINT: setting(
    address('the http or https address of an S3-compatible store', 'https://s3.example.com', { fetched: false }),
    undefined,
    "S3-compatible store; AWS's own variables (`AWS_ENDPOINT_URL_S3`, …) work too",
  ),
  S3_FORCE_PATH_STYLE: setting(yesOrNo, false, 'bucket in the path, not in the host name'),
  PING_URL: setting(
    asSecret(address('an http or https address', 'https://hc-ping.com/<uuid>')),
    undefined,
    'pinged after each complete run, with `/fail` after a failed one where the service has it (secret)',
  ),
  LOG_LEVEL: setting(
    choice(['debug', 'info', 'warn', 'error', 'silent']),
    'info',
    'structured JSON logs: `debug`, `info`, `warn`, `error` or `silent`',
  ),
  HTTP_PROXY: setting(proxyAddress, undefined, PROXY_MEANING('http://')),
  HTTPS_PROXY: setting(proxyAddress, undefined, PROXY_MEANING('https://')),
  NO_PROXY: setting(
    line('a list of hosts, such as .corp.example,10.0.0.0/8'),
    undefined,
    'hosts that are reached without the proxy: `name` (with its subdomains), `name:port`, `10.0.0.0/8`, `*`',
  ),
  TLS_CA: setting(pemFile, undefined, 'PEM file of a CA that is trusted beside the usual ones, for every address'),
  TLS_CERT: setting(pemFile, undefined, 'PEM file of the client certificate for servers that want one'),
  TLS_KEY: setting(pemFile, undefined, 'PEM file of its key, without a passphrase'),
  TLS_SKIP_VERIFY: setting(yesOrNo, undefined, SKIP_MEANING),
  NOTIFLY_TLS_CA: setting(pemFile, undefined, 'the same four for the push servers alone'),
  NOTIFLY_TLS_CERT: setting(pemFile, undefined, 'see above'),
  NOTIFLY_TLS_KEY: setting(pemFile, undefined, 'see above'),
  NOTIFLY_TLS_SKIP_VERIFY: setting(yesOrNo, undefined, 'see above'),
  METRICS: setting(
    choice(['off', 'own', 'all']),
    'own',
    "CloudWatch metrics in Lambda: `off`; `own`, nine figures of each function; `all`, also each endpoint's signals, which AWS charges for by endpoint: see `docs/logs.md`",
  ),
  WINDOW: setting(duration(SECOND, DAY, '5m'), 5 * MINUTE, 'span over which counters and histograms are judged'),
  INTERVAL: setting(
    duration(SECOND, DAY, '1m'),
    undefined,
    "the schedule's period",
    'learned from the last ten gaps between runs',
  ),
  CANARY_LOAD: setting(yesOrNo, false, 'the canary may load a model that is not loaded'),
  CANARY_LOAD_TIMEOUT: setting(duration(SECOND, HOUR, '120s'), 120 * SECOND, 'time for loading it'),
  MAINTENANCE: setting(
    maintenance,
    undefined,
    'times of planned work, in which nothing is pushed: `Sat 02:00-04:00 Europe/Berlin, 2026-12-24T20:00+01:00/PT6H`; what fires when they end is told then',
  ),
  PAGE_SECRET: setting(
    signingSecrets,
    undefined,
    'signs the links of the page: 32 characters or more; two separated by a comma while it is changed, the new one first (secret)',
  ),
  PAGE_URL: setting(
    address('the public http or https address of the page', 'https://abc.lambda-url.eu-central-1.on.aws', {
      fetched: false,
    }),
    undefined,
    'public address of the function `page`: with it and `PAGE_SECRET` pushes carry links and pictures',
  ),
  PAGE_TOKEN: setting(token, undefined, "bearer token for the page's `/status.json` and `/metrics` (secret)"),
  HEARTBEAT_TOKEN: setting(token, undefined, 'token that workers send; required for `heartbeat-receive` (secret)'),
} as const

/** Variables that name the endpoints; each is read by its own code. */
export const NAMING = {
  ENDPOINTS:
    '`name=url` pairs, separated by blanks, commas or line ends. `group/replica=url` makes siblings of one group. A URL without a path, or whose path ends in `/`, gets `metrics` appended; any other is taken as it stands. `user:password@` in a URL is sent as Basic authorization. `chat=dns+http://vllm-headless:8000` is one replica of the group `chat` for each address of the name',
  TARGETS:
    "where more endpoints are found at each run: a file, an `https://` address or an `s3://bucket/key` object with a list in the form of Prometheus' `http_sd`, or `dns+http://name:port`; see `docs/scaling.md`",
  METRICS_URL:
    'the one endpoint of a one-endpoint set-up, named after the backend, when `<BACKEND>_ENDPOINTS` is not set; for every backend that is scraped',
  OLLAMA_URL: 'the same for `ollama`',
  HEARTBEAT_WORKERS: '`name=interval+grace` pairs: `indexer=60s+30s`',
} as const

/** Variables per endpoint, group or backend: `VLLM_CHAT_A_MODEL`, `VLLM_CHAT_MODEL`, `VLLM_MODEL`. */
export const PER_ENDPOINT = {
  MODEL: setting(
    line('the name of a model', /^[^\p{Cc}]{1,300}$/u),
    undefined,
    'only the series of this model; for a canary the model to ask, required for `ollama` and `openai`',
  ),
  BEARER_TOKEN: setting(token, undefined, 'token for the endpoint (secret)'),
  BASIC_AUTH: setting(basicAuth, undefined, '`user:password` for the endpoint (secret)'),
  TIMEOUT: setting(duration(1, 15 * MINUTE, '5s'), undefined, 'time for one scrape or canary', '`5s`; canary `30s`'),
  TLS_CA: setting(pemFile, undefined, 'as `TLS_CA`, for these endpoints'),
  TLS_CERT: setting(pemFile, undefined, 'as `TLS_CERT`, for these endpoints'),
  TLS_KEY: setting(pemFile, undefined, 'as `TLS_KEY`, for these endpoints'),
  TLS_SKIP_VERIFY: setting(yesOrNo, undefined, 'as `TLS_SKIP_VERIFY`, for these endpoints'),
  PROXY: setting(yesOrNo, undefined, 'endpoints at private addresses go through HTTP_PROXY and HTTPS_PROXY too'),
  GPU_URL: setting(
    address('the http or https address of a GPU exporter', 'http://10.0.0.5:9400'),
    undefined,
    'the GPU exporter beside this server, so that the message can say what the GPU does',
  ),
  SLO_TTFT: setting(
    duration(1, HOUR, '500ms'),
    undefined,
    'time within which the first token should come, for the rule `slo`; also bare, as `SLO_TTFT`, for every backend',
    'off',
  ),
  FLAPS: setting(
    orOff(whole(2, 20)),
    3,
    'the beginning of the same incident within two hours that is told as "comes and goes"; its further ends and beginnings are silent until it is calm, or bad, for an hour. `off`: each is told. A bare `FLAPS` is for all backends',
    '`3`',
  ),
  ...OF_CANARIES,
  ...OF_WORKERS,
  RUNBOOK_URL: setting(link, undefined, 'opened by a tap on the message'),
  DASHBOARD_URL: setting(link, undefined, 'the same, where no runbook is set'),
  MAINTENANCE: setting(maintenance, undefined, 'times of planned work, before those of `MAINTENANCE`'),
  PUSH: setting(
    line('names of channels, separated by commas', /^[A-Za-z0-9,\s]+$/),
    undefined,
    'channels that hear of it, by name; looked up as `PUSH` too',
    'all but fallbacks',
  ),
} as const

export type EndpointSetting = keyof typeof PER_ENDPOINT

/** What follows the name of a channel, `PUSH_<NAME>`; that itself is `<service>+<url>`. */
export const CHANNEL = {
  TOKEN: setting(
    secretLine,
    undefined,
    "the channel's token, key or signing secret, or `user:password`: see `docs/push.md` (secret)",
  ),
  MIN_PRIORITY: setting(
    whole(0, 10),
    0,
    'what begins below this priority, or becomes worse below it, is not told on this channel',
    '`0`',
  ),
  LANGUAGE: setting(choice(['en', 'ru']), undefined, 'language of its messages', 'as `ALERT_LANGUAGE`'),
  TLS_CA: setting(pemFile, undefined, 'as `TLS_CA`, for this channel'),
  TLS_CERT: setting(pemFile, undefined, 'as `TLS_CERT`, for this channel'),
  TLS_KEY: setting(pemFile, undefined, 'as `TLS_KEY`, for this channel'),
  TLS_SKIP_VERIFY: setting(yesOrNo, undefined, 'as `TLS_SKIP_VERIFY`, for this channel'),
  FALLBACK: setting(
    channelName,
    undefined,
    'name of the channel that takes what this one could not take; unless `PUSH` names it, it gets nothing else',
  ),
} as const
/** Those that may stand for every backend, as the settings of rules may. */
export const BARE_SETTINGS: ReadonlySet<EndpointSetting> = new Set([
  'SLO_TTFT',
  'FLAPS',
  'CANARY_TOKENS',
  'CANARY_PROMPT',
  'CANARY_EXPECT',
  'CANARY_BUDGET',
  'CANARY_IDLE',
])

/** What follows a rule's name in its variables. `LIMIT` and `CLEAR` are read by `limits.ts`: they depend on the rule's unit. */
export const RULE_SETTINGS = {
  FOR: setting(duration(0, 7 * DAY, '5m'), undefined, 'how long the breach must last before it fires'),
  REPEAT: setting(
    orOff(duration(SECOND, 30 * DAY, '4h')),
    undefined,
    'time between reminders while it fires, or `off`',
  ),
  PRIORITY: setting(whole(0, 10), undefined, 'priority of the push, 0 to 10'),
} as const

export const RULE_ENDINGS = ['LIMIT', 'CLEAR', 'CRITICAL', 'FOR', 'REPEAT', 'PRIORITY'] as const
export type RuleEnding = (typeof RULE_ENDINGS)[number]

/** The per-endpoint variables that mean something for a backend. */
export function endpointSettings(backend: Backend): EndpointSetting[] {
  const links = ['RUNBOOK_URL', 'DASHBOARD_URL', 'MAINTENANCE', 'PUSH'] as const
  if (backend === 'heartbeat-check') return ['SCHEDULE', 'TIMEZONE', 'RUN_LIMIT', 'FLAPS', ...links]
  const tls = ['TLS_CA', 'TLS_CERT', 'TLS_KEY', 'TLS_SKIP_VERIFY', 'PROXY'] as const
  const all = ['BEARER_TOKEN', 'BASIC_AUTH', 'TIMEOUT', 'FLAPS', ...tls, ...links] as const
  if (backend === 'dcgm') return [...all]
  const canary =
    backend === 'ollama'
      ? (['CANARY_TOKENS', 'CANARY_PROMPT', 'CANARY_EXPECT', 'CANARY_BUDGET', 'CANARY_IDLE'] as const)
      : backend === 'openai'
        ? (['CANARY_TOKENS', 'CANARY_PROMPT', 'CANARY_EXPECT', 'CANARY_BUDGET'] as const)
        : []
  const objective = rulesOf(backend).includes('slo') ? (['SLO_TTFT'] as const) : []
  return ['MODEL', 'GPU_URL', ...canary, ...objective, ...all]
}

/**
 * Everything that may follow `VLLM_` without naming an endpoint: `WAITING_LIMIT`, `MODEL`, `ENDPOINTS`.
 * For `heartbeat-check` also what makes a bare setting of its rule `heartbeat`: `HEARTBEAT_LIMIT`.
 */
export function settingsAfterPrefix(backend: Backend): string[] {
  const rules = rulesOf(backend).flatMap((id) => RULE_ENDINGS.map((ending) => `${id.toUpperCase()}_${ending}`))
  const own = backend === 'heartbeat-check' ? ['WORKERS', 'TOKEN'] : ['ENDPOINTS', 'TARGETS', 'URL']
  const bare = RULE_IDS.some((id) => id.toUpperCase() === prefixOf(backend)) ? RULE_ENDINGS : []
  return [...rules, ...endpointSettings(backend), ...own, ...bare]
}
