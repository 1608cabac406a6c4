import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { serveOnLoopback } from '../tools/simulator/loopback.ts'
import { buildHere, startPeer } from './processes.ts'
import type { Listening } from './servers.ts'

const TARGETS = 1_000
/** Seconds between two scrapes of a target. */
const INTERVAL = 15
const ROUNDS = 4
/** Of the queue, its mean time, the cache and the p99 of the first token: what the seed alerted on. */
const RULES = `groups: [{ name: four, interval: ${INTERVAL}s, rules: [
  { alert: Waiting, expr: 'sum by (instance) (vllm:num_requests_waiting) > 1000' },
  { alert: Cache, expr: 'max by (instance) (vllm:kv_cache_usage_perc) > 0.9', for: 5m },
  { alert: QueueWait, expr: 'rate(vllm:request_queue_time_seconds_sum[5m]) / rate(vllm:request_queue_time_seconds_count[5m]) > 1000' },
  { alert: Ttft, expr: 'histogram_quantile(0.99, sum by (instance, le) (rate(vllm:time_to_first_token_seconds_bucket[5m]))) > 1000' } ] }]`

export function hasPrometheus(): boolean {
  return spawnSync('prometheus', ['--version']).status === 0
}

/** Milliseconds of CPU that Prometheus spends on one scrape of the same pages, storing them and judging four rules. Linux. */
export async function benchPrometheus(): Promise<number> {
  const bundles = await buildHere(['servers'])
  const servers = startPeer(join(bundles, 'servers.mjs'))
  const { port } = await servers.ask<Listening>()
  const dir = mkdtempSync(join(tmpdir(), 'queuebell-prometheus-'))
  const targets = Array.from({ length: TARGETS }, (_, i) => `127.1.${i >> 8}.${i & 255}:${port}`)
  writeFileSync(join(dir, 'rules.yml'), RULES)
  const scrape = { job_name: 'vllm', static_configs: [{ targets }] }
  const config = { global: { scrape_interval: `${INTERVAL}s` }, rule_files: ['rules.yml'], scrape_configs: [scrape] }
  writeFileSync(join(dir, 'prometheus.yml'), JSON.stringify(config))
  const listen = await freePort()
  const child = spawn('prometheus', [
    `--config.file=${join(dir, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(dir, 'data')}`,
    `--web.listen-address=127.0.0.1:${listen}`,
    '--log.level=error',
  ])
  try {
    // The first two scrapes make the series.
    await pause(2.4 * INTERVAL * 1_000)
    const before = { cpu: cpuOf(child.pid ?? 0), scrapes: await scrapesOf(listen) }
    for (let round = 0; round < ROUNDS; round++) {
      await servers.ask('next')
      await pause(INTERVAL * 1_000)
    }
    const scrapes = (await scrapesOf(listen)) - before.scrapes
    return (cpuOf(child.pid ?? 0) - before.cpu) / scrapes
  } finally {
    child.kill('SIGKILL')
    servers.end()
    await pause(200)
    rmSync(dir, { recursive: true, force: true })
  }
}

async function freePort(): Promise<number> {
  const server = await serveOnLoopback((_, response) => response.end())
  await server.close()
  return Number(new URL(server.url).port)
}

/** Milliseconds: user and system, in hundredths of a second. https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

async function scrapesOf(port: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  return Number(/^prometheus_target_interval_length_seconds_count\{.*\} (\d+)/m.exec(text)?.[1] ?? Number.NaN)
}
