import { MINUTE, SECOND, wait } from '../asking.ts'
import type { Incident } from '../incident.ts'
import { told } from '../load.ts'
import { startLlamaServer } from '../servers/llama-server.ts'
import { loadOn } from '../traffic.ts'
import { llamaEngine } from './llama-server.ts'

/** `QUEUEBELL_REAL_CALM`: minutes. */
const CALM = Number(process.env.QUEUEBELL_REAL_CALM ?? 120)

export const calmHours: Incident = {
  needs: ['llama-server', 'calm'],
  name: `${CALM} calm minutes with ordinary traffic`,
  async prepare() {
    const server = await startLlamaServer('medium', { alias: 'medium' })
    return {
      functions: ['llamacpp', 'openai'],
      env: {
        LLAMACPP_ENDPOINTS: `chat=${server.url}`,
        OPENAI_ENDPOINTS: `chat=${server.url}`,
        OPENAI_MODEL: 'medium',
      },
      every: 15 * SECOND,
      async happen() {
        const steady = loadOn(llamaEngine(server), { clients: 1, pause: 2 * SECOND, most: 10_000 })
        const bursts: string[] = []
        for (let minute = 0; minute < CALM; minute += 10) {
          await wait(9 * MINUTE)
          // A handful at once, as at the top of an hour: more than fit at a time, and below any limit.
          const burst = loadOn(llamaEngine(server), { clients: 8, most: 24 })
          await wait(MINUTE)
          bursts.push(told(await burst.stop()))
        }
        return `${told(await steady.stop())}; every ten minutes eight at once (${bursts.at(-1)})`
      },
      told: [],
      async end() {
        server.program.signal('SIGKILL')
        await server.program.exited
      },
    }
  },
}
