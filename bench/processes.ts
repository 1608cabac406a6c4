import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import { FOR_NODE, WITH_REQUIRE } from '../esbuild.options.mjs'
import { CREDENTIALS } from '../test/store/s3-server.ts'

/** A process of our own that answers each message with one of its own. */
export interface Peer {
  pid: number
  /** @param message `undefined` waits for what it says by itself. */
  ask<T>(message?: unknown): Promise<T>
  end(): void
}

/** Builds files of this folder as the product is built, so that no compiler runs inside a process that is measured. */
export async function buildHere(names: readonly string[]): Promise<string> {
  const outdir = mkdtempSync(join(tmpdir(), 'queuebell-bench-'))
  await build({
    ...FOR_NODE,
    entryPoints: names.map((name) => resolve(import.meta.dirname, `${name}.ts`)),
    outdir,
    outExtension: { '.js': '.mjs' },
    sourcemap: 'linked',
    banner: WITH_REQUIRE,
  })
  return outdir
}

export function startPeer(file: string, env: Record<string, string> = {}, execArgv: string[] = []): Peer {
  const child: ChildProcess = fork(file, {
    env: { PATH: process.env.PATH, AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true', ...CREDENTIALS, ...env },
    execArgv,
  })
  let fail: (reason: Error) => void = () => {}
  const kill = () => void child.kill()
  process.once('exit', kill)
  child.once('exit', (code) => {
    process.off('exit', kill)
    fail(new Error(`${file} ended with ${code}`))
  })
  const answer = <T>() =>
    new Promise<T>((resolve, reject) => {
      child.once('message', (message) => resolve(message as T))
      fail = reject
    })
  return {
    pid: child.pid ?? 0,
    ask<T>(message?: unknown) {
      const answered = answer<T>()
      if (message !== undefined) child.send(message as string)
      return answered
    },
    end: kill,
  }
}
