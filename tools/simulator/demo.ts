import { randomUUID } from 'node:crypto'
import { setTimeout as realTime } from 'node:timers/promises'
import { parseConfig } from '../../src/config/parse.ts'
import { createLog } from '../../src/log.ts'
import type { IO } from '../../src/model/io.ts'
import type { EndpointResult, RunResult } from '../../src/model/result.ts'
import { NETWORK, run } from '../../src/run.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { type Clock, createClock } from './clock.ts'
import { type Inbox, openInbox, type Received } from './inbox.ts'
import { ollamaStory } from './ollama-story.ts'
import { playPage } from './page-demo.ts'
import { onPhone } from './phone.ts'
import type { Story } from './story.ts'
import { vllmStory } from './vllm-story.ts'

const MINUTE = 60_000
/** Real milliseconds between two simulated minutes, so that a person can read along. */
const PACE = 700
/** The simulated day begins here: a Monday at noon, so that every demo prints the same times. */
const START = Date.UTC(2026, 10, 30, 12, 0)

/** What a story brought: the pushes as they arrived, and what the runs saw. */
export interface Played {
  pushes: readonly Received[]
  results: readonly EndpointResult[]
}

/** Plays a story: the real run, once a simulated minute, against a simulated server and push inbox. */
export async function play(story: Story, pace: number, print: (line: string) => void): Promise<Played> {
  const past = story.past ?? 0
  const clock = createClock(START - past * MINUTE)
  const inbox = await openInbox()
  const server = await story.open(clock)
  try {
    const config = configOf(story, server.url, inbox)
    const io = ioOf(clock, print)
    const network = { ...NETWORK, ...(story.observe && { observe: story.observe }) }
    const results: EndpointResult[] = []
    const runNow = () => run({ config, io, network, tick: clock.now(), deadline: clock.now() + MINUTE })
    for (let minute = 0; minute < past; minute += 1) {
      clock.pass(MINUTE)
      await runNow()
    }
    for (const line of [...story.introduction, '', heading(story)]) print(line)
    for (let minute = 0; minute < story.minutes && inbox.received.length < 2; minute += 1) {
      const words = story.turn(minute)
      if (words) print(`      — ${words}`)
      const told = inbox.received.length
      // A run may itself take some of the minute.
      clock.pass(MINUTE - ((clock.now() - START) % MINUTE))
      story.arrive?.(minute)
      const { result } = await runNow()
      results.push(...result.endpoints)
      print(row(story, clock, result))
      for (const push of inbox.received.slice(told)) for (const line of onPhone(push)) print(`       ${line}`)
      await realTime(pace)
    }
    return { pushes: inbox.received, results }
  } finally {
    await Promise.all([server.close(), inbox.close()])
  }
}

function configOf(story: Story, url: string, inbox: Inbox) {
  const push = { NOTIFLY_URL: inbox.url, NOTIFLY_TOKEN: 'demo', ALERT_LANGUAGE: process.env.ALERT_LANGUAGE }
  const parsed = parseConfig(story.backend, { ...story.environment(url), ...push }, { lambda: false })
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'))
  return parsed.config
}

/** The real run on a clock of our own, with a state that lives as long as the demo. */
function ioOf(clock: Clock, print: (line: string) => void): IO {
  const log = createLog('warn', [], print, clock.now)
  return { now: clock.now, sleep: clock.sleep, store: createMemoryStore(clock.now), log, runId: randomUUID, print }
}

function heading({ columns }: Story): string {
  return ['time ', ...columns.map(({ title, width }) => title.padStart(width))].join('  ')
}

function row({ columns }: Story, clock: Clock, { endpoints }: RunResult): string {
  const time = new Date(clock.now()).toISOString().slice(11, 16)
  const [endpoint] = endpoints
  if (!endpoint) return `${time}  no result`
  return [time, ...columns.map(({ cell, width }) => cell(endpoint).padStart(width))].join('  ').trimEnd()
}

/** One push when it began, one when it was over, of the priority that the end has. */
export function isWhole(pushes: readonly Received[]): boolean {
  const [fired, resolved] = pushes
  return pushes.length === 2 && fired?.priority !== 4 && resolved?.priority === 4
}

const STORIES: Readonly<Record<string, () => Story>> = { vllm: vllmStory, ollama: ollamaStory }

async function main(name = 'vllm'): Promise<number> {
  if (name === 'page') return playPage(console.log)
  const story = STORIES[name]
  if (!story) {
    console.error(`npm run demo -- ${name}: unknown; may be ${Object.keys(STORIES).join(', ')}, page`)
    return 1
  }
  const told = story()
  const { pushes, results } = await play(told, PACE, console.log)
  const lacks = told.lacks?.(results)
  if (!isWhole(pushes)) console.log(`\nExpected one push and one end of it, got ${pushes.length} messages.`)
  else if (lacks) console.log(`\nExpected ${lacks}, which was not seen.`)
  else console.log(`\nOne push when the queue grew, one when it was over. Now yours: npm run invoke -- ${name}`)
  return isWhole(pushes) && !lacks ? 0 : 1
}

if (process.argv[1]?.endsWith('demo.ts')) process.exitCode = await main(process.argv[2])
