import { type ChildProcess, spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { RunResult } from '../../src/model/result.ts'

/** How one run of a process ended; `gone`: the process died in it. */
export interface Ended {
  body?: RunResult
  error?: string
  gone?: true
  /** Milliseconds. */
  took?: number
  /** File operations so far, where they are counted. */
  operations?: number
}

export interface Command {
  /** Epoch milliseconds of the process's clock at the start of the run; it goes on from there. */
  now: number
  /** The schedule's own time, as EventBridge sends it. */
  time?: number | undefined
  /** Milliseconds that Lambda gives. */
  remaining?: number
}

/** A built function in a process of its own: `runner.mjs`. */
export interface Runner {
  pid: number
  run(command: Command): Promise<Ended>
  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void
  /** All it wrote to standard output and standard error beside its answers. */
  wrote(): string
  close(): Promise<void>
}

const RUNNER = resolve('test/faults/runner.mjs')

export async function startRunner(bundle: string, env: Record<string, string | undefined>): Promise<Runner> {
  const child = spawn(process.execPath, [RUNNER], {
    env: { PATH: process.env.PATH, AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true', ...env, BUNDLE: bundle },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const waiting: ((ended: Ended) => void)[] = []
  let text = ''
  let over = false
  const next = () =>
    new Promise<Ended>((done) => {
      if (over) done({ gone: true })
      else waiting.push(done)
    })
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.startsWith('@')) waiting.shift()?.(JSON.parse(line.slice(1)))
    else text += `${line}\n`
  })
  child.stderr.on('data', (chunk) => {
    text += chunk
  })
  const exited = new Promise<void>((done) => {
    child.once('exit', () => {
      over = true
      for (const give of waiting.splice(0)) give({ gone: true })
      done()
    })
  })
  child.stdin.on('error', () => {}) // it was killed
  if ((await next()).gone) throw new Error(`the process did not start:\n${text}`)
  return {
    pid: pidOf(child),
    run(command) {
      const ended = next()
      child.stdin.write(`${JSON.stringify(command)}\n`)
      return ended
    },
    signal: (signal) => void child.kill(signal),
    wrote: () => text,
    async close() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

function pidOf({ pid }: ChildProcess): number {
  if (pid === undefined) throw new Error('the process could not be started')
  return pid
}
