import { existsSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { parseConfig } from '../config/parse.ts'
import type { Backend } from '../model/backend.ts'
import type { Config } from '../model/config.ts'
import { testPush } from './doctor.ts'
import { identify } from './identify.ts'
import { typed } from './version.ts'

/** Asks for what a first `.env` needs, tests it, and writes it; one that is there is never touched. @returns the exit code. */
export async function init(path: string, input: Readable): Promise<number> {
  if (existsSync(path)) {
    console.error(`${path} is there already, and is left as it is; ${typed('doctor')} checks it`)
    return 1
  }
  const asking = openQuestions(input)
  try {
    const watched = await askAddress(asking.ask)
    if (watched === undefined) return nothing(path)
    const push = await askPush(asking.ask)
    if (push === undefined) return nothing(path)
    const lines = [...watched.lines, ...push.lines]
    const parsed = parseConfig(watched.backend, variablesOf(lines), { lambda: false })
    if (!parsed.ok) {
      for (const problem of parsed.problems) console.error(problem)
      return nothing(path)
    }
    const told = await tellOnce(asking.ask, parsed.config)
    // Others of this machine need not read the token.
    writeFileSync(path, `${HEAD}\n${lines.map(written).join('\n')}\n`, { mode: 0o600, flag: 'wx' })
    console.log(`\nWrote ${path}. Next:\n  ${typed('doctor')}\n  ${typed('invoke all --every 1m')}`)
    return told ? 0 : 1
  } finally {
    asking.close()
  }
}

const HEAD = '# What Queuebell watches, and whom it tells. Every variable: docs/variables.md'

type Ask = (question: string) => Promise<string | undefined>

/** Questions on a terminal, or answers from a pipe, one a line. `undefined` when there are no more. */
function openQuestions(input: Readable): { ask: Ask; close(): void } {
  const lines = createInterface({ input })[Symbol.asyncIterator]()
  return {
    async ask(question) {
      process.stdout.write(`${question} `)
      const next = await lines.next()
      return next.done === true ? undefined : next.value.trim()
    },
    close: () => void lines.return?.(),
  }
}

const LOCAL = 'http://localhost:8000'

/** Asks until something answers that we know. */
async function askAddress(ask: Ask): Promise<{ backend: Backend; lines: string[] } | undefined> {
  for (;;) {
    const answer = await ask(`Which server is to be watched? Its address [${LOCAL}]:`)
    if (answer === undefined) return undefined
    const identified = await identify(answer || LOCAL)
    if (!identified.ok) {
      console.log(`  ${identified.why}`)
      continue
    }
    for (const line of identified.answers) console.log(`  ${line}`)
    const { found, problem } = identified
    if (found !== undefined) {
      console.log(`  watched by the function ${found.backend}`)
      return found
    }
    console.log(`  ${problem ?? ''}`)
  }
}

/** The lines of a channel, none where there is none. */
async function askPush(ask: Ask): Promise<{ lines: string[] } | undefined> {
  const url = await ask(
    'Where do pushes go? The address of a Notifly or Gotify, or one as ntfy+https://ntfy.sh/topic (empty: printed here only):',
  )
  if (url === undefined) return undefined
  if (url === '') return { lines: [] }
  // A service of docs/push.md before the address makes a channel of its own, named after it.
  const service = /^([a-z]+)\+/i.exec(url)?.[1]?.toUpperCase()
  const [address, secret] =
    service === undefined ? ['NOTIFLY_URL', 'NOTIFLY_TOKEN'] : [`PUSH_${service}`, `PUSH_${service}_TOKEN`]
  const token = await ask(service === undefined ? 'The token of an app on it:' : 'Its token (empty: none):')
  if (token === undefined) return undefined
  return { lines: [`${address}=${url}`, ...(token === '' ? [] : [`${secret}=${token}`])] }
}

/** @returns whether nobody was to be told, or somebody was. */
async function tellOnce(ask: Ask, config: Config): Promise<boolean> {
  if (config.channels.length === 0) return true
  const answer = await ask('Send a test push? [Y/n]')
  return /^n/i.test(answer ?? '') || testPush(config)
}

function variablesOf(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
}

/** A # in a value would begin a comment. */
function written(line: string): string {
  const equals = line.indexOf('=') + 1
  return line.includes('#') ? `${line.slice(0, equals)}"${line.slice(equals)}"` : line
}

function nothing(path: string): number {
  console.error(`\n${path} was not written`)
  return 1
}
