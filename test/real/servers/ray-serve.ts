import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { answers } from '../answers.ts'
import { ask, MINUTE, until } from '../asking.ts'
import { installPython } from '../python.ts'
import { folder, freePort, type Program, start } from '../scratch.ts'

export interface RayServe {
  /** Of its users. */
  url: string
  /** Of its node's agent. */
  metrics: string
  program: Program
  /** The processes of the deployment. */
  replicas(): number[]
}

/** One node with one deployment, which waits instead of computing: requests queue as behind a slow model. */
export async function startRayServe(): Promise<RayServe> {
  const bin = installPython('ray-serve')
  const [port, metrics] = [await freePort(), await freePort()]
  const home = folder(`ray-${port}`)
  const program = start({
    name: 'ray-serve',
    command: join(bin, 'python'),
    args: [resolve('test/real/servers/ray_serve.py'), JSON.stringify({ port, metrics, home })],
    env: { PATH: `${bin}:${process.env.PATH}`, RAY_USAGE_STATS_ENABLED: '0' },
  })
  void program.exited.then(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
  const page = `http://127.0.0.1:${metrics}/metrics`
  await answers('Ray Serve', program, `http://127.0.0.1:${port}/-/healthz`, 2 * MINUTE)
  // Its processes tell the agent every ten seconds.
  await until('its numbers are published', async () =>
    /^ray_serve_deployment_replica_healthy/m.test((await ask(page)).text),
  )
  return { url: `http://127.0.0.1:${port}`, metrics: page, program, replicas: () => replicasOf(home) }
}

/** Its processes lead groups of their own and rename themselves; that from which all descend has the folder in its arguments. */
function replicasOf(home: string): number[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && read(pid, 'cmdline').startsWith('ray::ServeReplica') && isBelow(pid, home))
    .map(Number)
}

function isBelow(pid: string, home: string): boolean {
  const [, parent = '0'] = /^PPid:\s+(\d+)/m.exec(read(pid, 'status')) ?? []
  return Number(parent) > 1 && (read(parent, 'cmdline').includes(home) || isBelow(parent, home))
}

function read(pid: string, what: 'cmdline' | 'status'): string {
  try {
    return readFileSync(`/proc/${pid}/${what}`, 'utf8')
  } catch {
    return '' // It ended meanwhile.
  }
}
