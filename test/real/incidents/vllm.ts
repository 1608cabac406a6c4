import { readdirSync, readFileSync } from 'node:fs'
import { ask, MINUTE, post, SECOND, sumOf, until, wait } from '../asking.ts'
import type { Incident, Prepared } from '../incident.ts'
import { startLoad, told } from '../load.ts'
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

/** @param more further arguments; the last of two that say the same counts. */
async function again({ program, port }: Vllm, more: readonly string[] = []): Promise<Vllm> {
  program.signal('SIGKILL')
  await program.exited
  kept = await startVllm({ port, more: [...CAP, ...more] })
  return kept
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
  functions?: readonly string[]
  env?: (server: Vllm) => Record<string, string>
  happen(server: Vllm, watching: Parameters<Prepared['happen']>[0]): Promise<string>
}

function one(name: string, { happen, functions = ['vllm'], env, ...rest }: Happening): Incident {
  return {
    needs: ['vllm'],
    name,
    async prepare() {
      const server = await theVllm()
      return {
        functions,
        env: env?.(server) ?? { VLLM_ENDPOINTS: `chat=${server.url}` },
        happen: (watching) => happen(server, watching),
        ...rest,
        end: async () => {},
      }
    },
  }
}

/** Its key guards paths of inference alone: who reads the page needs none, and a canary notices. */
const canary = (server: Vllm) => ({
  OPENAI_ENDPOINTS: `chat=${server.url}`,
  OPENAI_MODEL: VLLM_MODEL,
})

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
  one('SIGSTOP of all its processes for 60 s', {
    async happen(server) {
      const few = loadOn(vllmEngine(server), { clients: 1, pause: SECOND })
      await wait(20 * SECOND)
      server.program.signal('SIGSTOP')
      await wait(MINUTE)
      server.program.signal('SIGCONT')
      await wait(25 * SECOND)
      return `stopped for 60 s, the same processes after; clients: ${told(await few.stop())}`
    },
    told: ['fired down', 'resolved down'],
    never: /restart|watcher did not run/i,
  }),
  one('long prompts on a slow model', {
    // As who runs it on one core would set them: a first token after half a minute is usual there.
    env: (server) => ({ VLLM_ENDPOINTS: `chat=${server.url}`, TTFT_LIMIT: '60s', QUEUE_WAIT_LIMIT: '60s' }),
    async happen(server) {
      const prompt = 'one two three four five '.repeat(200).slice(0, 3_900)
      const body = { ...REQUEST, prompt, max_tokens: 16 }
      const load = startLoad({ url: `${server.url}/v1/completions`, body }, { clients: 4, most: 24 })
      const began = Date.now()
      await until('all were read', () => load.counted.answered >= 24, 8 * MINUTE)
      const took = Math.round((Date.now() - began) / SECOND)
      await wait(15 * SECOND)
      return `24 prompts of 3,900 tokens in ${took} s: ${told(await load.stop())}`
    },
    told: [],
  }),
  one('another model is started', {
    functions: ['openai'],
    env: canary,
    async happen(server, watching) {
      await wait(20 * SECOND)
      const other = await again(server, ['--served-model-name', 'other'])
      const { text } = await ask(`${server.url}/v1/models`)
      await wait(30 * SECOND)
      await again(other)
      await toldBy(watching, 6, 2 * MINUTE)()
      return `/v1/models: ${/"id":"([^"]+)"/.exec(text)?.[1]}; the first is back after 30 s`
    },
    told: ['fired down', 'resolved down', 'fired blind', 'fired down', 'resolved down', 'resolved blind'],
    says: /other/,
  }),
  one('the API key is changed', {
    functions: ['openai'],
    env: (server) => ({ ...canary(server), OPENAI_BEARER_TOKEN: 'first-key' }),
    async happen(server) {
      await wait(20 * SECOND)
      const other = await again(server, ['--api-key', 'second-key'])
      const { status } = await ask(`${server.url}/v1/models`, { headers: { authorization: 'Bearer first-key' } })
      await wait(30 * SECOND)
      await again(other)
      await wait(25 * SECOND)
      return `with the old key it answers ${status}; no key is asked for after 30 s`
    },
    told: ['fired down', 'repeated down', 'resolved down'],
    says: /OPENAI_(CHAT_)?BEARER_TOKEN/,
    never: /first-key|second-key/,
  }),
]
