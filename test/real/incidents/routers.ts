import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ask, MINUTE, SECOND, wait } from '../asking.ts'
import type { Incident, Prepared } from '../incident.ts'
import { told } from '../load.ts'
import { folder } from '../scratch.ts'
import { type LlamaServer, startLlamaServer } from '../servers/llama-server.ts'
import { type RayServe, startRayServe } from '../servers/ray-serve.ts'
import { startVllmRouter, type VllmRouter } from '../servers/vllm-router.ts'
import { type Engine, loadOn, overload, toldBy } from '../traffic.ts'
import type { Watching } from '../watcher.ts'

type Rest = Omit<Prepared, 'functions' | 'env' | 'end' | 'happen'>

async function keepPage(name: string, url: string): Promise<void> {
  writeFileSync(join(folder('pages'), `${name}.prom`), (await ask(url)).text)
}

const startEngine = (port?: number) => startLlamaServer('quick', { alias: 'quick', ...(port && { port }) })

function routed(
  name: string,
  {
    happen,
    ...rest
  }: Rest & {
    happen(
      at: { router: VllmRouter; kill(index: number): Promise<void>; again(index: number): Promise<void> },
      watching: Watching,
    ): Promise<string>
  },
): Incident {
  return {
    needs: ['vllm-router', 'llama-server'],
    name,
    async prepare() {
      const engines: LlamaServer[] = [await startEngine(), await startEngine()]
      const router = await startVllmRouter(engines)
      const kill = async (index: number) => {
        engines[index]?.program.signal('SIGKILL')
        await engines[index]?.program.exited
      }
      const again = async (index: number) => {
        engines[index] = await startEngine(engines[index]?.port)
      }
      return {
        functions: ['router'],
        env: { ROUTER_ENDPOINTS: `front=${router.metrics}` },
        async happen(watching) {
          const happened = await happen({ router, kill, again }, watching)
          await keepPage('vllm-router', router.metrics)
          return happened
        },
        ...rest,
        async end() {
          router.program.signal('SIGKILL')
          await Promise.all([router.program.exited, kill(0), kill(1)])
        },
      }
    },
  }
}

const usersOf = ({ url }: VllmRouter): Engine => ({
  asking: { url: `${url}/v1/completions`, body: { model: 'quick', prompt: 'Hi', max_tokens: 8 } },
  page: { url: `${url}/health`, waiting: '' },
})

const requestsOf = ({ url, metrics }: RayServe, body: Record<string, unknown>): Engine => ({
  asking: { url, body },
  page: { url: metrics, waiting: 'ray_serve_deployment_queued_queries' },
})

function served(
  name: string,
  { happen, ...rest }: Rest & { happen(server: RayServe, watching: Watching): Promise<string> },
): Incident {
  return {
    needs: ['ray-serve'],
    name,
    async prepare() {
      const server = await startRayServe()
      return {
        functions: ['ray-serve'],
        env: { RAY_SERVE_ENDPOINTS: `front=${server.metrics}` },
        async happen(watching) {
          const happened = await happen(server, watching)
          await keepPage('ray-serve', server.metrics)
          return happened
        },
        ...rest,
        async end() {
          server.program.signal('SIGTERM') // Its processes have groups of their own.
          await server.program.exited
        },
      }
    },
  }
}

/** What routes requests to engines and counts for itself. */
export const routerIncidents: readonly Incident[] = [
  routed('one of two engines behind it is gone for 60 s', {
    async happen({ router, kill, again }) {
      const users = loadOn(usersOf(router), { clients: 2, pause: SECOND })
      await wait(20 * SECOND)
      await kill(1)
      await wait(MINUTE)
      await again(1)
      await wait(40 * SECOND)
      return `users: ${told(await users.stop())}`
    },
    told: ['fired upstream', 'resolved upstream'],
  }),
  routed('both engines behind it are gone for 60 s', {
    async happen({ router, kill, again }, watching) {
      const users = loadOn(usersOf(router), { clients: 4, pause: SECOND / 2 })
      await wait(30 * SECOND)
      await Promise.all([kill(0), kill(1)])
      await wait(MINUTE)
      await Promise.all([again(0), again(1)])
      await toldBy(watching, 6)()
      return `users: ${told(await users.stop())}`
    },
    told: [
      ...['fired errors|upstream', 'fired errors|upstream', 'fired errors|upstream'],
      ...['resolved upstream', 'resolved upstream', 'resolved errors'],
    ],
  }),
  served('overload from calm and back', {
    happen: (server, watching) => overload(requestsOf(server, { seconds: 2 }), { end: toldBy(watching, 2) }),
    told: ['fired waiting|growth', 'resolved waiting|growth'],
  }),
  served('a replica is killed, and started again by Ray', {
    async happen(server) {
      const users = loadOn(requestsOf(server, { seconds: 0.2 }), { clients: 2, pause: SECOND })
      await wait(30 * SECOND)
      const [one] = server.replicas()
      if (one === undefined) throw new Error('there is no process of a replica')
      process.kill(one, 'SIGKILL')
      await wait(MINUTE)
      return `users: ${told(await users.stop())}; ${server.replicas().length} replicas after`
    },
    // Until Ray has replaced it, which is soon, it calls the deployment itself unhealthy; it publishes every ten seconds.
    told: ['fired upstream', 'resolved upstream'],
    maybeUnseen: true,
  }),
  served('requests fail for 60 s', {
    async happen(server, watching) {
      const users = loadOn(requestsOf(server, { seconds: 0.2 }), { clients: 2, pause: SECOND })
      await wait(30 * SECOND)
      const failing = loadOn(requestsOf(server, { fail: true }), { clients: 1, pause: SECOND / 2 })
      await wait(MINUTE)
      const failed = await failing.stop()
      await toldBy(watching, 2)()
      return `those that fail: ${told(failed)}; the others: ${told(await users.stop())}`
    },
    told: ['fired errors', 'resolved errors'],
  }),
]
