import { readdirSync, readFileSync } from 'node:fs'
import { ask, MINUTE, post, SECOND, sumOf, until, wait } from '../asking.ts'
import type { Incident, Prepared } from '../incident.ts'
import { told } from '../load.ts'
import { startVllm, VLLM_MODEL, type Vllm } from '../servers/vllm.ts'
import { type Engine, loadOn, overload, toldBy } from '../traffic.ts'

const REQUEST = { model: VLLM_MODEL, prompt: 'Tell me a story', max_tokens: 48, ignore_eos: true }

export function vllmEngine({ url }: { url: string }): Engine {
  return {
    asking: { url: `${url}/v1/completions`, body: REQUEST },
    page: { url: `${url}/metrics`, waiting: 'vllm:num_requests_waiting' },
  }
}

/** One takes minutes to start: it stays for the next incident. */
let kept: Vllm | undefined

/** More than the thirty clients of an overload, so that it is felt where it is meant. */
const CAP = ['--max-num-queued-reqs', '60']

export async function theVllm(): Promise<Vllm> {
  if (!kept || kept.program.isOver()) kept = await startVllm({ more: CAP })
  return kept
}

async function again({ program, port }: Vllm): Promise<void> {
  program.signal('SIGKILL')
  await program.exited
  kept = await startVllm({ port, more: CAP })
}

/** The process of the engine is a child of the one that listens, and named for what it is. */
function engineOf(server: Vllm): number {
  const mine = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && isEngine(pid, server.program.pid))
  if (mine[0] === undefined) throw new Error('there is no process of an engine')
  return Number(mine[0])
}

function isEngine(pid: string, group: number): boolean {
  try {
    const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
    return Number(fields.split(' ')[2]) === group && /EngineCore/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
  } catch {
    return false // It ended meanwhile.
  }
}

type Happening = Omit<Prepared, 'functions' | 'env' | 'end' | 'happen'> & {
  happen(server: Vllm, watching: Parameters<Prepared['happen']>[0]): Promise<string>
}

function one(name: string, { happen, ...rest }: Happening): Incident {
  return {
    needs: ['vllm'],
    name,
    async prepare() {
      const server = await theVllm()
      return {
        functions: ['vllm'],
        env: { VLLM_ENDPOINTS: `chat=${server.url}` },
        happen: (watching) => happen(server, watching),
        ...rest,
        end: async () => {},
      }
    },
  }
}

const pageOf = async ({ url }: Vllm) => (await ask(`${url}/metrics`)).text

export const vllmIncidents: readonly Incident[] = [
  one('overload from calm and back', {
    happen: (server, watching) => overload(vllmEngine(server), { end: toldBy(watching, 2) }),
    told: ['fired waiting|growth|queue_wait|ttft', 'resolved waiting|growth|queue_wait|ttft'],
    says: /waiting \(limit 20\)/,
    never: /broke|hangs|restart/i,
  }),
  one('clients go away', {
    async happen(server) {
      const load = loadOn(vllmEngine(server), { clients: 8, patience: 400, most: 300 })
      await wait(MINUTE)
      const counted = await load.stop()
      await wait(15 * SECOND)
      const [, aborted = 'no'] = /finished_reason="abort"[^}]*} (\S+)/.exec(await pageOf(server)) ?? []
      return `clients: ${told(counted)}; ${aborted} aborts by its own page`
    },
    told: [],
  }),
  one('the engine is put to sleep for 60 s and woken', {
    async happen(server) {
      await wait(15 * SECOND)
      const slept = await post(`${server.url}/sleep?level=1`, {})
      await wait(MINUTE)
      const woken = await post(`${server.url}/wake_up`, {})
      await wait(20 * SECOND)
      return `POST /sleep answers ${slept.status}, /wake_up ${woken.status}`
    },
    told: [],
  }),
  one('the engine hangs for 100 s beneath its API server', {
    async happen(server) {
      const load = loadOn(vllmEngine(server), { clients: 3, most: 300 })
      await wait(30 * SECOND)
      const engine = engineOf(server)
      process.kill(engine, 'SIGSTOP')
      await wait(100 * SECOND)
      const { status } = await ask(`${server.url}/health`)
      process.kill(engine, 'SIGCONT')
      await wait(30 * SECOND)
      const counted = await load.stop()
      await wait(10 * SECOND)
      return `its /health answers ${status || 'nothing'} meanwhile; clients: ${told(counted)}`
    },
    told: ['fired stalled', 'resolved stalled'],
  }),
  one('more than may queue is refused', {
    async happen(server, watching) {
      const happened = await overload(vllmEngine(server), { clients: 90, end: toldBy(watching, 4) })
      return `${happened}; ${sumOf(await pageOf(server), 'vllm:admission_rejections_total')} refused by its own page`
    },
    told: [
      'fired waiting|growth|queue_wait|ttft',
      'fired rejected',
      'resolved rejected',
      'resolved waiting|growth|queue_wait|ttft',
    ],
  }),
  one('the engine dies beneath its API server, and is back in 2 min or so', {
    async happen(server) {
      const load = loadOn(vllmEngine(server), { clients: 2, pause: SECOND, most: 100 })
      await wait(20 * SECOND)
      process.kill(engineOf(server), 'SIGKILL')
      await wait(5 * SECOND)
      const { status } = await ask(`${server.url}/metrics`)
      await wait(25 * SECOND)
      const began = Date.now()
      await again(server)
      const took = Math.round((Date.now() - began) / SECOND)
      await until('users are answered', async () => load.counted.answered > 0)
      await wait(25 * SECOND)
      return `its page answers ${status || 'nothing'} after 5 s; started again in ${took} s; clients: ${told(await load.stop())}`
    },
    told: ['fired down', 'resolved down'],
  }),
]
