import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { Agent, get } from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'

const TOKEN = 'planted-token-4711'
const RATE = 1_000
const SECONDS = 30
const WORKERS = Array.from({ length: 50 }, (_, index) => `w${index}`)

test('1,000 beats a second for 30 s from 50 workers: none refused, a write per worker each 10 s, memory flat', {
  tags: 'long',
  timeout: 60_000,
}, async () => {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'queuebell-load-'))
  const receiver = await start(dir)
  try {
    const agent = new Agent({ keepAlive: true, maxSockets: 50 })
    await beatFor(2, receiver.url, agent) // warm up: code compiled, buffers at their size
    const before = await memoryOf(receiver.process)
    const { statuses, slowest } = await beatFor(SECONDS, receiver.url, agent)
    const after = await memoryOf(receiver.process)
    agent.destroy()
    console.log(`statuses ${JSON.stringify(statuses)}, slowest ${Math.round(slowest)} ms`)
    console.log(`writes ${receiver.writes()}, memory ${before} → ${after} MiB`)
    expect(statuses).toEqual({ 204: RATE * SECONDS })
    expect(receiver.writes()).toBeLessThanOrEqual(WORKERS.length * Math.ceil((SECONDS + 3) / 10))
    expect(after - before).toBeLessThan(30)
  } finally {
    receiver.process.kill('SIGTERM')
    await rm(dir, { recursive: true })
  }
})

async function start(dir: string): Promise<{ process: ChildProcess; url: string; writes(): number }> {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', 'src/cli/main.ts', 'invoke', 'heartbeat-receive', '--serve', '0'],
    {
      env: {
        ...process.env,
        HEARTBEAT_TOKEN: TOKEN,
        HEARTBEAT_WORKERS: WORKERS.map((name) => `${name}=60s+30s`).join(' '),
        STATE_DIR: dir,
        LOG_LEVEL: 'debug',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let output = ''
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text
      const found = /http:\/\/[\d.]+:\d+/.exec(output)?.[0]
      if (found) resolve(found)
    })
    child.once('exit', () => reject(new Error(`the receiver ended: ${output}`)))
  })
  return { process: child, url, writes: () => output.split('"stored a beat"').length - 1 }
}

/** Open loop: each request goes at its time, whether or not the ones before are answered. */
async function beatFor(seconds: number, url: string, agent: Agent) {
  const statuses: Record<number, number> = {}
  const start = performance.now()
  const pending: Promise<void>[] = []
  let slowest = 0
  for (let sent = 0; sent < RATE * seconds; ) {
    const due = Math.min(RATE * seconds, ((performance.now() - start) / 1_000) * RATE)
    for (; sent < due; sent += 1) {
      const at = performance.now()
      const beat = send(`${url}/${WORKERS[sent % WORKERS.length]}?token=${TOKEN}`, agent).then((status) => {
        statuses[status] = (statuses[status] ?? 0) + 1
        slowest = Math.max(slowest, performance.now() - at)
      })
      pending.push(beat)
    }
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await Promise.all(pending)
  return { statuses, slowest }
}

function send(url: string, agent: Agent): Promise<number> {
  return new Promise((resolve) => {
    get(url, { agent }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0))
    }).once('error', () => resolve(0))
  })
}

/** Resident set in MiB, where the system tells it. */
async function memoryOf(child: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '')
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024)
}
