import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { RunResult } from '../../src/model/result.ts'
import { type Loopback, serveOnLoopback } from '../../tools/simulator/loopback.ts'
import { startRunner } from '../faults/runner.ts'
import { SECOND, wait } from './asking.ts'
import { folder } from './scratch.ts'

/** One push as a receiver of one's own gets it. */
export interface Told {
  /** Seconds since the watching began. */
  after: number
  reason: string
  rule: string
  endpoint: string
  priority: number
  title: string
  message: string
}

/** The same servers, watched at the same time by the same means that people have. */
export const WAYS = ['bundle', 'invoke'] as const
export type Way = (typeof WAYS)[number]

export interface Watching {
  told(way: Way): readonly Told[]
  results(way: Way): readonly RunResult[]
  /** What the runs themselves complained of. */
  complaints(way: Way): string
  /** All that left a watcher or that it keeps: pushes, results, complaints, the state's files. */
  everything(way: Way): string
  /** The receiver of all pushes refuses connections, until it is back. */
  receiverGone(): Promise<void>
  receiverBack(): Promise<void>
  stop(): Promise<void>
}

export interface WatchOptions {
  /** `dist`, freshly built. */
  dist: string
  functions: readonly string[]
  env: Record<string, string>
  every?: number
  /** Where the state lies, when not in a folder of this watching's own; both ways share it, as two watchers of one state. */
  shared?: boolean
}

/** Watches until stopped: `bundle` calls the built functions as a platform would, `invoke` is the command line in one file. */
export async function startWatching({
  dist,
  functions,
  env,
  every = 5 * SECOND,
  shared = false,
}: WatchOptions): Promise<Watching> {
  const began = Date.now()
  const home = mkdtempSync(join(folder('states'), 'watch-'))
  const receivers = { bundle: await openReceiver(began), invoke: await openReceiver(began) }
  const variables = (way: Way): Record<string, string> => ({
    STATE_DIR: join(home, shared ? 'both' : way),
    PUSH_HOOK: `webhook+${receivers[way].url}/hook`,
    LOG_LEVEL: 'warn',
    PATH: process.env.PATH ?? '',
    ...env,
  })
  const bundle = await startBundles(dist, functions, variables('bundle'), every)
  const invoke = startInvoke(dist, variables('invoke'), every, home)
  const by = { bundle, invoke }
  return {
    told: (way) => receivers[way].told,
    results: (way) => by[way].results,
    complaints: (way) => by[way].wrote(),
    everything: (way) =>
      [
        JSON.stringify([receivers[way].told, by[way].results]),
        by[way].wrote(),
        ...filesIn(home).map((file) => readFileSync(file, 'utf8')),
      ].join('\n'),
    receiverGone: async () => void (await Promise.all(WAYS.map((way) => receivers[way].gone()))),
    receiverBack: async () => void (await Promise.all(WAYS.map((way) => receivers[way].back()))),
    async stop() {
      await Promise.all([bundle.stop(), invoke.stop()])
      await Promise.all(WAYS.map((way) => receivers[way].gone()))
      rmSync(home, { recursive: true, force: true })
    },
  }
}

function filesIn(home: string): string[] {
  return readdirSync(home, { recursive: true })
    .map((name) => join(home, String(name)))
    .filter((file) => statSync(file).isFile())
}

interface Watcher {
  results: RunResult[]
  wrote(): string
  stop(): Promise<void>
}

async function startBundles(
  dist: string,
  functions: readonly string[],
  env: Record<string, string>,
  every: number,
): Promise<Watcher> {
  const runners = await Promise.all(functions.map((name) => startRunner(join(dist, `${name}.mjs`), env)))
  const results: RunResult[] = []
  const errors: string[] = []
  let stopped = false
  const loop = runners.map(async (runner) => {
    let next = Date.now()
    while (!stopped) {
      const { body, error } = await runner.run({ now: Date.now(), remaining: 50 * SECOND })
      if (body) results.push(body)
      if (error) errors.push(error)
      next = Math.max(next + every, Date.now())
      while (!stopped && Date.now() < next) await wait(Math.min(200, next - Date.now()))
    }
  })
  return {
    results,
    wrote: () => [...errors, ...runners.map((runner) => runner.wrote())].join('\n'),
    async stop() {
      stopped = true
      await Promise.all(loop)
      await Promise.all(runners.map((runner) => runner.close()))
    },
  }
}

function startInvoke(dist: string, env: Record<string, string>, every: number, cwd: string): Watcher {
  const args = ['invoke', 'all', '--every', `${every / SECOND}s`, '--json']
  const child: ChildProcess = spawn(process.execPath, [join(dist, 'queuebell.mjs'), ...args], { env, cwd })
  const results: RunResult[] = []
  let text = ''
  if (child.stdout)
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.startsWith('{')) results.push(JSON.parse(line))
      else text += `${line}\n`
    })
  child.stderr?.on('data', (chunk) => {
    text += chunk
  })
  const end = () => void child.kill('SIGTERM')
  process.once('exit', end)
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  return {
    results,
    wrote: () => text,
    async stop() {
      end()
      await exited
      process.removeListener('exit', end)
    },
  }
}

interface Receiver {
  url: string
  told: Told[]
  gone(): Promise<void>
  back(): Promise<void>
}

async function openReceiver(began: number): Promise<Receiver> {
  const told: Told[] = []
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { data } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { data: Omit<Told, 'after'> }
    told.push({ ...data, after: (Date.now() - began) / SECOND })
    response.writeHead(204).end()
  }
  const listener = (request: IncomingMessage, response: ServerResponse) =>
    void take(request, response).catch(() => response.destroy())
  let server: Loopback | undefined = await serveOnLoopback(listener)
  const { url, port } = server
  return {
    url,
    told,
    async gone() {
      await server?.close()
      server = undefined
    },
    async back() {
      server = await serveOnLoopback(listener, port)
    },
  }
}
