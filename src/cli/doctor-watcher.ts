import { formOf } from '../config/services.ts'
import { type Config, functionName } from '../model/config.ts'
import type { Log, LogFields } from '../model/io.ts'
import { ping } from '../push/ping.ts'
import { stateKey } from '../state/commit.ts'
import { readState } from '../state/schema.ts'
import { openStore } from '../store/open.ts'

/** One thing that was looked at. */
export interface Check {
  ok: boolean
  line: string
}

/** What the watcher itself needs, beside its endpoints: a place for the state, somebody to tell, a ping, its own platform. */
export async function checkWatcher(
  configs: readonly Config[],
  nodeVersion: string,
  { push }: { push: boolean },
): Promise<Check[]> {
  const [config] = configs
  if (config === undefined) return []
  return [
    ...(await checkState(configs)),
    // With --push each says whether it took the test, or that there is none.
    ...(push ? [] : channelLines(config)),
    ...(config.pingUrl === undefined ? [] : [await checkPing(config.pingUrl, config)]),
    ...platform(config, nodeVersion),
  ]
}

/** Written by doctor alone, and read back. */
const CHECK_KEY = 'doctor/check.json'

/** Reads the state of each function, and writes and reads an object beside them. */
async function checkState(configs: readonly Config[]): Promise<Check[]> {
  const [first] = configs
  if (first === undefined) return []
  const store = openStore(first.state)
  const place = first.state.kind === 's3' ? `s3://${first.state.bucket}/${first.state.prefix}` : first.state.dir
  const checks: Check[] = []
  try {
    for (const config of configs) {
      const key = stateKey(config.backend, config.shard)
      const stored = await store.load(key)
      const read = stored && readState(stored.text)
      if (read?.kind === 'broken')
        checks.push(
          failed(`state: ${key} in ${place} cannot be understood: the next run puts it aside and starts anew`),
        )
      if (read?.kind === 'newer')
        checks.push(
          failed(
            `state: ${key} in ${place} is of a newer Queuebell (version ${read.version}): deploy that one, or remove the object`,
          ),
        )
    }
    const before = await store.load(CHECK_KEY)
    const text = JSON.stringify({ checked: functionName(first) })
    const saved = await store.save(CHECK_KEY, text, before?.version)
    const again = await store.load(CHECK_KEY)
    if (saved !== 'conflict' && again?.text !== text)
      checks.push(failed(`state: what is written to ${place} does not come back as it was written`))
    for (const warning of store.warnings()) checks.push({ ok: true, line: `state: ${warning}` })
  } catch (error) {
    return [...checks, failed(`state: ${error instanceof Error ? error.message : String(error)}`)]
  }
  return checks.some(({ ok }) => !ok)
    ? checks
    : [...checks, { ok: true, line: `state: ${place} can be read and written` }]
}

function failed(line: string): Check {
  return { ok: false, line }
}

/** Each channel by its service and address; the address alone of those whose whole URL is a secret stays unsaid. */
function channelLines({ channels }: Config): Check[] {
  if (channels.length === 0) {
    const line =
      'push: no channel is set, so that a run only prints: set NOTIFLY_URL and NOTIFLY_TOKEN, or PUSH_<NAME> (docs/push.md)'
    return [{ ok: true, line }]
  }
  return channels.map(({ name, service, url, token, variables, fallback }) => {
    const address = formOf(service).isSecret(new URL(url)) ? `at ${new URL(url).host}` : url
    const secret = token === undefined ? '' : `, with ${variables.token}`
    const spare =
      fallback === undefined ? '' : `; ${fallback.isSpare ? fallback.variables.url : fallback.name} where it is away`
    return { ok: true, line: `push: ${name} is ${service} ${address}${secret}${spare}; --push tests it` }
  })
}

/** Pings as a run that went well does. */
async function checkPing(url: string, config: Config): Promise<Check> {
  const said: string[] = []
  const note = (text: string, { status, reason, failure, code }: LogFields = {}) => {
    const facts = [status, reason, failure, code].filter((fact) => fact !== undefined)
    said.push(facts.length > 0 ? `${text} (${facts.join(', ')})` : text)
  }
  const log: Log = { debug() {}, info() {}, warn: note, error: note }
  await ping(url, true, { io: { log }, secrets: config.secrets, timeout: 5_000, outward: config })
  const [wrong] = said
  return wrong === undefined ? { ok: true, line: 'ping: PING_URL took it' } : failed(`ping: PING_URL: ${wrong}`)
}

/** What AWS's client would print at every run on an older Node; `s3-client.ts` keeps it silent. */
function platform({ state }: Config, version: string): Check[] {
  if (state.kind !== 's3' || Number.parseInt(version, 10) >= WANTED_BY_AWS) return []
  const line = `node: ${version} works; AWS's client for S3 gets no updates for it after January 2027: go to Node ${WANTED_BY_AWS} or newer`
  return [{ ok: true, line }]
}

/** https://a.co/c895JFp */
const WANTED_BY_AWS = 22
