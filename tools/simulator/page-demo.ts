import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as realTime } from 'node:timers/promises'
import { type Serving, serveHttp } from '../../src/cli/http-server.ts'
import { parsePage } from '../../src/config/page.ts'
import { parseConfig } from '../../src/config/parse.ts'
import { createLog } from '../../src/log.ts'
import type { Config } from '../../src/model/config.ts'
import type { Message } from '../../src/model/message.ts'
import type { Store } from '../../src/model/store.ts'
import { MOST_BODY } from '../../src/page/exchange.ts'
import { settingsBy } from '../../src/page/limits.ts'
import { statusLink } from '../../src/page/links.ts'
import { answer } from '../../src/page/routes.ts'
import { run } from '../../src/run.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { type Clock, createClock } from './clock.ts'
import { createEngine, type Engine } from './engine.ts'
import type { SimulatedServer } from './story.ts'
import { serveVllm } from './vllm-story.ts'

const MINUTE = 60_000
/** Watched before anybody looks: a verdict needs an hour of the endpoint's own past. Minutes. */
const PAST = 70
/** Real milliseconds that a simulated minute takes, and real seconds after which the page asks for itself again. */
const PACE = 4_000
const REFRESH = 4
const PORT = 8081
/** The day over again after so many minutes. */
const DAY = 40

const NAMES = ['chat/a', 'chat/b', 'chat/c', 'code/a', 'code/b']

/** What happens in each of these minutes, and to whom. */
const STORY: readonly (readonly [minute: number, name: string, words: string, act: (engine: Engine) => void])[] = [
  [
    3,
    'chat/a',
    'a campaign goes out: chat/a gets more than its GPU can do',
    (engine) => engine.change({ arrivals: 4.6 }),
  ],
  [8, 'code/b', 'the GPU of code/b is slowed down', (engine) => engine.change({ slowdown: 4 })],
  [14, 'chat/a', 'the campaign is over', (engine) => engine.change({ arrivals: 1.5 })],
  [20, 'code/b', 'the GPU of code/b is itself again', (engine) => engine.change({ slowdown: 1 })],
  [24, 'chat/c', 'chat/c dies, and needs six minutes to start', (engine) => engine.restart(6 * MINUTE)],
]

/** Five simulated servers that are watched once a minute, and have been for an hour. */
export interface PageStory {
  clock: Clock
  store: Store
  variables: Readonly<Record<string, string | undefined>> & { PAGE_SECRET: string }
  /** Plays the next minute. @returns what was pushed. */
  next(): Promise<Message[]>
  close(): Promise<unknown>
}

/** @param start epoch milliseconds: the moment at which the story begins. */
export async function openPageStory(start: number, print: (line: string) => void): Promise<PageStory> {
  const clock = createClock(start - PAST * MINUTE)
  const engines = NAMES.map((_, seed) => createEngine(clock.now(), { seed: seed + 3 }))
  const servers = await Promise.all(engines.map((engine) => serveVllm(engine, clock)))
  const store = createMemoryStore(clock.now)
  const variables = variablesOf(servers)
  const config = configOf(variables)
  const runNow = () => {
    clock.pass(MINUTE)
    return runOnce(config, store, clock, print)
  }
  for (let minute = 0; minute < PAST; minute++) await runNow()
  let minute = 0
  return {
    clock,
    store,
    variables,
    async next() {
      for (const [at, name, words, act] of STORY) {
        const engine = engines[NAMES.indexOf(name)]
        if (at !== minute % DAY || !engine) continue
        print(`— ${words}`)
        act(engine)
      }
      minute += 1
      return runNow()
    },
    close: () => Promise.all(servers.map((server) => server.close())),
  }
}

/** Plays it and serves the page over it, until the process is told to stop. */
export async function playPage(print: (line: string) => void): Promise<number> {
  let stopped = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      stopped = true
    })
  }
  print('Five simulated vLLM servers; they have been watched for an hour already, so that it is known what is usual.')
  const story = await openPageStory(Date.now(), print)
  const page = await servePage(story)
  print(`The page: ${statusLink({ url: page.url, secret: story.variables.PAGE_SECRET })}`)
  print(`A minute there takes ${PACE / 1_000} seconds here. Stop it with Ctrl+C.\n`)
  while (!stopped) {
    for (const { title, links = [] } of await story.next()) {
      print(`  push: ${title}`)
      for (const { label, url } of links) print(`        ${label}: ${url}`)
    }
    for (let waited = 0; waited < PACE && !stopped; waited += 200) await realTime(200)
  }
  await Promise.all([page.close(), story.close()])
  return 0
}

function variablesOf(servers: readonly SimulatedServer[]) {
  return {
    VLLM_ENDPOINTS: servers.map(({ url }, index) => `${NAMES[index]}=${url}`).join(' '),
    PAGE_SECRET: randomBytes(24).toString('base64url'),
    PAGE_URL: `http://127.0.0.1:${PORT}`,
    ALERT_LANGUAGE: process.env.ALERT_LANGUAGE,
    TIMEZONE: process.env.TIMEZONE ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
  }
}

function configOf(variables: Record<string, string | undefined>): Config {
  const parsed = parseConfig('vllm', variables, { lambda: false })
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'))
  return parsed.config
}

async function runOnce(config: Config, store: Store, clock: Clock, print: (line: string) => void): Promise<Message[]> {
  const io = { now: clock.now, sleep: clock.sleep, store, log: createLog('error', [], print, clock.now) }
  const { messages } = await run({
    config,
    io: { ...io, runId: randomUUID, print() {} },
    deadline: clock.now() + MINUTE,
  })
  return messages
}

/** The page with the clock of the story. */
async function servePage({ variables, store, clock }: PageStory): Promise<Serving> {
  const parsed = parsePage(variables, { lambda: false })
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'))
  const { config } = parsed
  const settingsOf = (backend: Config['backend']) => settingsBy(variables, backend)
  return serveHttp(PORT, (asked) => answer(asked, { config, store, now: clock.now(), settingsOf, refresh: REFRESH }), {
    mostBody: MOST_BODY,
  })
}
