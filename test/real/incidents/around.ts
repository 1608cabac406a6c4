import { ask, MINUTE, SECOND, wait } from '../asking.ts'
import type { Incident } from '../incident.ts'
import { told } from '../load.ts'
import type { Program } from '../scratch.ts'
import { startAlertmanager } from '../servers/alertmanager.ts'
import { startHaproxy, startNginx } from '../servers/balancers.ts'
import { type LlamaServer, startLlamaServer } from '../servers/llama-server.ts'
import { startRadosgw } from '../servers/radosgw.ts'
import { loadOn, overload } from '../traffic.ts'
import { llamaEngine } from './llama-server.ts'

async function kill(...programs: readonly Program[]): Promise<void> {
  for (const program of programs) program.signal('SIGKILL')
  await Promise.all(programs.map(({ exited }) => exited))
}

/** What stands beside an engine: balancers, and where state and pushes go. */
export const incidentsAround: readonly Incident[] = [
  {
    needs: ['haproxy', 'llama-server'],
    name: 'one of two replicas behind a balancer is gone for 90 s',
    async prepare() {
      const one = await startLlamaServer('quick', { alias: 'quick' })
      let other: LlamaServer = await startLlamaServer('quick', { alias: 'quick' })
      const balancer = await startHaproxy([one, other])
      return {
        functions: ['llamacpp', 'openai'],
        env: {
          LLAMACPP_ENDPOINTS: `chat/a=${one.url} chat/b=${other.url}`,
          OPENAI_ENDPOINTS: `front=${balancer.url}`,
          OPENAI_MODEL: 'quick',
        },
        async happen() {
          const users = loadOn(llamaEngine(balancer), { clients: 1, pause: SECOND })
          await wait(20 * SECOND)
          await kill(other.program)
          await wait(1.5 * MINUTE)
          other = await startLlamaServer('quick', { alias: 'quick', port: other.port })
          await wait(25 * SECOND)
          return `users through the balancer: ${told(await users.stop())}`
        },
        told: ['fired down', 'resolved down'],
        says: /chat\/b/,
        never: /front|chat\/a/,
        end: () => kill(balancer.program, one.program, other.program),
      }
    },
  },
  ...(['haproxy', 'nginx'] as const).map(
    (name): Incident => ({
      needs: [name, 'llama-server'],
      name: `the only engine behind ${name} is gone for 60 s, seen by the canary`,
      async prepare() {
        let engine = await startLlamaServer('quick', { alias: 'quick' })
        const balancer = await (name === 'nginx' ? startNginx(engine) : startHaproxy([engine]))
        return {
          functions: ['openai'],
          env: { OPENAI_ENDPOINTS: `front=${balancer.url}`, OPENAI_MODEL: 'quick' },
          async happen() {
            await wait(20 * SECOND)
            await kill(engine.program)
            await wait(3 * SECOND)
            const { status, text } = await ask(`${balancer.url}/v1/models`)
            await wait(57 * SECOND)
            engine = await startLlamaServer('quick', { alias: 'quick', port: engine.port })
            await wait(25 * SECOND)
            return `${name} answers ${status} ${JSON.stringify(
              text
                .replaceAll(/<[^>]+>|\s+/g, ' ')
                .trim()
                .slice(0, 60),
            )}`
          },
          told: ['fired down|busy', 'resolved down|busy'],
          never: /overloaded|not down|do not restart|inference may still work/i,
          end: () => kill(balancer.program, engine.program),
        }
      },
    }),
  ),
  {
    needs: ['alertmanager', 'llama-server'],
    name: 'overload, told to an Alertmanager as well',
    async prepare() {
      const engine = await startLlamaServer('medium')
      const alertmanager = await startAlertmanager()
      let during: string[] = []
      let after: string[] = []
      return {
        functions: ['llamacpp'],
        env: { LLAMACPP_ENDPOINTS: `chat=${engine.url}`, PUSH_AM: `alertmanager+${alertmanager.url}` },
        async happen() {
          const look = wait(60 * SECOND).then(async () => {
            during = await alertmanager.firing()
          })
          const happened = await overload(llamaEngine(engine))
          await look
          after = await alertmanager.firing()
          return `${happened}; Alertmanager holds ${during.join(', ') || 'nothing'} during, ${after.join(', ') || 'nothing'} after`
        },
        told: ['fired waiting|growth', 'resolved waiting|growth'],
        check: async () => [
          ...(during.some((name) => ['waiting', 'growth'].includes(name)) ? [] : ['Alertmanager did not hold it']),
          ...(after.length === 0 ? [] : ['Alertmanager still holds it']),
        ],
        end: () => kill(engine.program, alertmanager.program),
      }
    },
  },
  {
    needs: ['radosgw', 'llama-server'],
    name: 'overload, two watchers on one state in a bucket',
    async prepare() {
      const engine = await startLlamaServer('medium')
      const bucket = startRadosgw()
      return {
        functions: ['llamacpp'],
        env: { LLAMACPP_ENDPOINTS: `chat=${engine.url}`, STATE_DIR: '', ...bucket.env },
        shared: true,
        happen: () => overload(llamaEngine(engine)),
        told: ['fired waiting|growth', 'resolved waiting|growth'],
        async end() {
          bucket.stop()
          await kill(engine.program)
        },
      }
    },
  },
]
