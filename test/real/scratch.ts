import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createWriteStream, mkdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where servers are installed and write; what is installed stays for the next time. */
export const SCRATCH = process.env.QUEUEBELL_REAL_DIR ?? join(tmpdir(), 'queuebell-real')

export function folder(...names: string[]): string {
  const path = join(SCRATCH, ...names)
  mkdirSync(path, { recursive: true })
  return path
}

/** One program of a server, the leader of its own group of processes. */
export interface Program {
  pid: number
  /** All that it wrote so far. */
  log(): string
  /** Of the whole group: engines are often children of the process that listens. */
  signal(signal: NodeJS.Signals): void
  isOver(): boolean
  exited: Promise<void>
}

export interface Command {
  name: string
  command: string
  args: readonly string[]
  env?: Record<string, string>
  cwd?: string
}

const running = new Set<ChildProcess>()
const CORES = availableParallelism()
let serial = 0

/** Starts it on one core and behind everything else, so that the machine stays usable and the watcher is not what is slow. */
export function start({ name, command, args, env = {}, cwd }: Command): Program {
  serial += 1
  const file = join(folder('logs'), `${process.pid}-${serial}-${name}.log`)
  const child = spawn('nice', ['-n', '10', 'taskset', '-c', String(serial % CORES), command, ...args], {
    env: { ...process.env, ...LEAN, ...env },
    cwd: cwd ?? folder('cwd'),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  const written = createWriteStream(file)
  child.stdout.pipe(written, { end: false })
  child.stderr.pipe(written, { end: false })
  let over = false
  const exited = new Promise<void>((resolve) => {
    const ended = () => {
      over = true
      running.delete(child)
      resolve()
    }
    child.once('error', ended)
    child.once('exit', ended)
  })
  return {
    pid: child.pid ?? 0,
    log: () => readFileSync(file, 'utf8'),
    signal: (signal) => signalGroup(child, signal),
    isOver: () => over,
    exited,
  }
}

// Without its compiled files a large package takes half a minute to load, in each of its processes.
const LEAN = {
  PYTHONDONTWRITEBYTECODE: '',
  OMP_NUM_THREADS: '1',
  OPENBLAS_NUM_THREADS: '1',
  MKL_NUM_THREADS: '1',
  RAYON_NUM_THREADS: '1',
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // It is gone.
  }
}

/** Ends what is still there; a stopped process takes no other signal. */
export function endAll(): void {
  for (const child of running) signalGroup(child, 'SIGKILL')
}

/** @throws with the end of what it wrote, when it fails or takes too long. */
export function runOnce(
  command: string,
  args: readonly string[],
  seconds = 900,
  env: Record<string, string> = {},
): string {
  const ended = spawnSync('nice', ['-n', '10', command, ...args], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
    timeout: seconds * 1_000,
    maxBuffer: 64 * 1024 * 1024,
  })
  if (ended.status === 0) return ended.stdout
  const why = ended.error?.message ?? `exit code ${ended.status}`
  throw new Error(`${command} ${args.join(' ')}: ${why}\n${`${ended.stdout}${ended.stderr}`.slice(-1_500)}`)
}

export function has(command: string): boolean {
  return spawnSync('which', [command]).status === 0
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address ? address.port : 0
}
