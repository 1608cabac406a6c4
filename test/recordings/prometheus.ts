import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import net from 'node:net'
import { join } from 'node:path'
import { afterEach } from 'vitest'

/** Debian's packages have both; where they are not installed, the tests that need them are skipped and say so. */
export const HAS_PROMETHEUS = ['prometheus', 'promtool'].every((name) => spawnSync(name, ['--version']).status === 0)

const running: ReturnType<typeof spawn>[] = []
afterEach(async () => {
  for (const one of running.splice(0)) {
    const ended = new Promise((resolve) => one.once('exit', resolve))
    one.kill()
    await ended
  }
})

/** A Prometheus of its own on a folder. @returns its address. */
export async function startPrometheus(folder: string, config = 'scrape_configs: []\n'): Promise<string> {
  const file = join(folder, 'prometheus.yml')
  writeFileSync(file, config)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const options = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    '--storage.tsdb.retention.time=10y',
  ]
  running.push(spawn('prometheus', [...options, `--web.listen-address=127.0.0.1:${port}`], { stdio: 'ignore' }))
  for (let tries = 0; tries < 200; tries += 1) {
    const ready = await fetch(`${url}/-/ready`).catch(() => undefined)
    if (ready?.ok) return url
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('Prometheus did not start')
}

/** Makes a database of a text with timestamps. */
export function backfill(folder: string, openMetrics: string): void {
  const file = join(folder, 'in.txt')
  writeFileSync(file, openMetrics)
  execFileSync('promtool', [
    'tsdb',
    'create-blocks-from',
    'openmetrics',
    '--max-block-duration=168h',
    file,
    join(folder, 'data'),
  ])
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as net.AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
