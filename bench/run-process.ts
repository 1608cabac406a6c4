import { parseConfig } from '../src/config/parse.ts'
import { createConcurrencyLimit } from '../src/http/concurrency-limit.ts'
import { openDispatcher } from '../src/http/connections.ts'
import { get } from '../src/http/get.ts'
import type { Endpoint } from '../src/model/config.ts'
import { run } from '../src/run.ts'
import { realIO } from '../src/scheduled.ts'
import type { Listening } from './servers.ts'

/** What one process is to do: runs of the vLLM function over some endpoints, one a message. */
export interface Fleet extends Listening {
  endpoints: number
  hanging: number
}

/** A whole run, or only asking: each page is got as in a run and thrown away. */
export type Work = 'run' | 'ask'

/** One run: milliseconds of CPU and of the wall clock, the most memory until then in bytes, endpoints that answered. */
export interface RunCost {
  cpu: number
  wall: number
  memory: number
  up: number
}

const MINUTE = 60_000
const fleet: Fleet = JSON.parse(process.env.FLEET ?? '{}')
const parsed = parseConfig('vllm', environmentOf(fleet), { lambda: false })
if ('problems' in parsed) throw new Error(parsed.problems.join('\n'))
const { config } = parsed
let rounds = 0

process.on('message', async (work: Work) => {
  const before = process.cpuUsage()
  const from = performance.now()
  const up = work === 'ask' ? await askAll() : await runOnce(rounds++ * MINUTE)
  const { user, system } = process.cpuUsage(before)
  const cost: RunCost = {
    cpu: (user + system) / 1_000,
    wall: performance.now() - from,
    memory: process.resourceUsage().maxRSS * 1_024,
    up,
  }
  process.send?.(cost)
})

/** @param later milliseconds that the clock is ahead. */
async function runOnce(later: number): Promise<number> {
  const now = () => Date.now() + later
  const { result } = await run({ config, io: { ...realIO(config), now, log: silent }, deadline: now() + 50_000 })
  return result.endpoints.filter((endpoint) => endpoint.up).length
}

async function askAll(): Promise<number> {
  const { dispatcher, close } = openDispatcher()
  const enter = createConcurrencyLimit()
  const ask = ({ url, timeout }: Endpoint) => enter(() => get(url, { timeout, dispatcher, onChunk() {} }))
  const answers = await Promise.all(config.endpoints.map(ask))
  await close()
  return answers.filter(({ ok }) => ok).length
}

/** All rules judge, with limits that these pages do not reach: a quiet day. */
function environmentOf({ endpoints, hanging, port, s3, bucket }: Fleet): Record<string, string> {
  const pairs = Array.from({ length: endpoints }, (_, i) => {
    const path = i < hanging ? '/hang/metrics' : '/metrics'
    return `fleet/r${i}=http://127.${1 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}:${port}${path}`
  })
  return {
    VLLM_ENDPOINTS: pairs.join(' '),
    STATE_BUCKET: bucket,
    S3_ENDPOINT: s3,
    S3_FORCE_PATH_STYLE: 'yes',
    WAITING_LIMIT: '1000',
    QUEUE_WAIT_LIMIT: '1000s',
    ERRORS_LIMIT: '90%',
    PREEMPTIONS_LIMIT: '1000000',
    DOWN_LIMIT: '1000',
  }
}

const silent = { debug() {}, info() {}, warn() {}, error() {} }
