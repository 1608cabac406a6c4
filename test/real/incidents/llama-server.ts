import { ask, MINUTE, SECOND, sumOf, until, wait } from '../asking.ts'
import type { Incident, Prepared } from '../incident.ts'
import { startLoad, told } from '../load.ts'
import { type LlamaOptions, type LlamaServer, type ModelName, startLlamaServer } from '../servers/llama-server.ts'
import { type Engine, loadOn, overload, watchQueue } from '../traffic.ts'

/** Half a second of work on the medium model. */
const REQUEST = { prompt: 'Tell me a story', n_predict: 48, ignore_eos: true, cache_prompt: false }

export function llamaEngine({ url }: { url: string }): Engine {
  return {
    asking: { url: `${url}/completion`, body: REQUEST },
    page: { url: `${url}/metrics`, waiting: 'llamacpp:requests_deferred' },
  }
}

type Happening = Omit<Prepared, 'functions' | 'env' | 'end' | 'happen'> & {
  model?: ModelName
  start?: LlamaOptions
  functions?: readonly string[]
  env?: (server: LlamaServer) => Record<string, string>
  happen(
    at: { server: LlamaServer; again(more?: LlamaOptions, model?: ModelName): Promise<LlamaServer> },
    watching: Parameters<Prepared['happen']>[0],
  ): Promise<string>
}

/** An incident of one server. `again` starts it anew on the same port. */
function one(
  name: string,
  { model = 'medium', start, functions = ['llamacpp'], env, happen, ...rest }: Happening,
): Incident {
  return {
    needs: ['llama-server'],
    name,
    async prepare() {
      let server = await startLlamaServer(model, start)
      const again = async (more: LlamaOptions = {}, other: ModelName = model) => {
        server.program.signal('SIGKILL')
        await server.program.exited
        server = await startLlamaServer(other, { ...start, ...more, port: server.port })
        return server
      }
      return {
        functions,
        env: { LLAMACPP_ENDPOINTS: `chat=${server.url}`, ...env?.(server) },
        happen: (watching) =>
          happen(
            {
              get server() {
                return server
              },
              again,
            },
            watching,
          ),
        ...rest,
        async end() {
          server.program.signal('SIGKILL')
          await server.program.exited
        },
      }
    },
  }
}

const kill = async ({ program }: LlamaServer) => {
  program.signal('SIGKILL')
  await program.exited
}

/** Lets it run a tenth of the time, as on a machine that is shared by many. @returns what ends this. */
function slowDown({ signal }: LlamaServer['program']): () => void {
  let tick = 0
  const timer = setInterval(() => signal(tick++ % 10 === 0 ? 'SIGCONT' : 'SIGSTOP'), 20)
  return () => {
    clearInterval(timer)
    signal('SIGCONT')
  }
}

const canaryOf = (name: string) => (server: LlamaServer) => ({
  OPENAI_ENDPOINTS: `chat=${server.url}`,
  OPENAI_MODEL: name,
})

export const llamaServerIncidents: readonly Incident[] = [
  one('overload from calm and back', {
    happen: ({ server }) => overload(llamaEngine(server)),
    told: ['fired waiting|growth', 'resolved waiting|growth'],
    says: /waiting \(limit 20\)/,
    never: /broke|hangs|restart/i,
  }),
  one('a long prompt on a slow model', {
    model: 'slow',
    start: { slots: 1 },
    async happen({ server }) {
      const few = loadOn(llamaEngine(server), { clients: 1, most: 3 })
      await wait(15 * SECOND)
      await few.stop()
      const prompt = Array.from({ length: 2_000 }, (_, index) => index % 10).join(' ')
      const long = startLoad(
        { url: `${server.url}/completion`, body: { ...REQUEST, prompt, n_predict: 8 } },
        { clients: 1, most: 1 },
      )
      await until('the prompt was read', () => long.counted.answered + (long.counted.failed[0] ?? 0) > 0, 5 * MINUTE)
      const { text } = await ask(`${server.url}/metrics`)
      await wait(10 * SECOND)
      return `${told(long.counted)}, ${sumOf(text, 'llamacpp:prompt_tokens_total')} prompt tokens read`
    },
    told: [],
  }),
  one('kill -9, back in 5 s', {
    async happen({ server, again }) {
      const few = loadOn(llamaEngine(server), { clients: 1, pause: SECOND })
      await wait(20 * SECOND)
      await kill(server)
      await wait(4 * SECOND)
      await again()
      await wait(30 * SECOND)
      return `gone for 5 s; clients: ${told(await few.stop())}`
    },
    told: [],
  }),
  one('kill -9, back in 2 min', {
    async happen({ server, again }) {
      const few = loadOn(llamaEngine(server), { clients: 1, pause: SECOND })
      await wait(20 * SECOND)
      await kill(server)
      await wait(2 * MINUTE)
      await again()
      await wait(25 * SECOND)
      return `gone for 2 min; clients: ${told(await few.stop())}`
    },
    told: ['fired down', 'resolved down'],
    says: /refus|does not answer|not listen/i,
  }),
  one('crash loop: six kills under load', {
    async happen({ server: first, again }) {
      const load = loadOn(llamaEngine(first), { clients: 6 })
      await wait(15 * SECOND)
      for (let time = 0; time < 6; time += 1) {
        await again()
        await wait(14 * SECOND)
      }
      return `six processes killed and started; clients: ${told(await load.stop())}`
    },
    told: ['fired restarts'],
    never: /queue is short|recovered/i,
  }),
  one('SIGSTOP for 60 s', {
    async happen({ server }) {
      const few = loadOn(llamaEngine(server), { clients: 1, pause: SECOND })
      await wait(20 * SECOND)
      server.program.signal('SIGSTOP')
      await wait(MINUTE)
      server.program.signal('SIGCONT')
      await wait(25 * SECOND)
      return `stopped for 60 s, the same process after; clients: ${told(await few.stop())}`
    },
    told: ['fired down', 'resolved down'],
    says: /(no answer|time)/i,
    never: /restart|watcher did not run/i,
  }),
  one('SIGSTOP for 60 s, seen by the canary alone', {
    functions: ['openai'],
    env: (server) => ({ LLAMACPP_ENDPOINTS: '', ...canaryOf('medium.gguf')(server), OPENAI_TIMEOUT: '15s' }),
    start: { alias: 'medium.gguf' },
    async happen({ server }) {
      await wait(20 * SECOND)
      server.program.signal('SIGSTOP')
      await wait(MINUTE)
      server.program.signal('SIGCONT')
      await wait(30 * SECOND)
      return 'stopped for 60 s'
    },
    told: ['fired down', 'resolved down'],
    never: /watcher did not run/i,
  }),
  one('the API key is changed', {
    start: { key: 'first-key' },
    env: () => ({ LLAMACPP_BEARER_TOKEN: 'first-key' }),
    async happen({ server, again }) {
      await wait(20 * SECOND)
      await again({ key: 'second-key' })
      const { status } = await ask(`${server.url}/metrics`, { headers: { authorization: 'Bearer first-key' } })
      await wait(30 * SECOND)
      await again({ key: 'first-key' })
      await wait(25 * SECOND)
      return `with the old key its page answers ${status}; the old key is back after 30 s`
    },
    told: ['fired down', 'resolved down'],
    says: /LLAMACPP_(CHAT_)?BEARER_TOKEN/,
    never: /first-key|second-key/,
  }),
  one('the model is still loading', {
    model: 'slow',
    every: SECOND,
    async happen({ server, again }) {
      await wait(10 * SECOND)
      const { program } = await again({ checks: true, ready: false })
      const began = Date.now()
      const quick = slowDown(program)
      const seen = new Set<string>()
      await until('it has loaded', async () => {
        const { status, text } = await ask(`${server.url}/health`)
        seen.add(`${status} ${text.slice(0, 90)}`)
        return status === 200
      })
      quick()
      const took = (Date.now() - began) / SECOND
      await wait(10 * SECOND)
      return `loaded for ${took.toFixed(1)} s with a tenth of a core; /health: ${[...seen].join(' → ')}`
    },
    told: ['fired down', 'resolved down'],
    says: /load/i,
    never: /not listen|refused/i,
  }),
  one('another model is started', {
    model: 'quick',
    functions: ['openai', 'llamacpp'],
    env: canaryOf('quick.gguf'),
    async happen({ server, again }) {
      await wait(20 * SECOND)
      await again({}, 'medium')
      const { text } = await ask(`${server.url}/v1/models`)
      await wait(30 * SECOND)
      await again({}, 'quick')
      await wait(25 * SECOND)
      return `/v1/models: ${/"id":"([^"]+)"/.exec(text)?.[1]}; the first is back after 30 s`
    },
    told: ['fired blind', 'resolved blind'],
    says: /medium/,
  }),
  one('the push server is away when it begins', {
    async happen({ server }, watching) {
      const few = loadOn(llamaEngine(server), { clients: 1, pause: SECOND })
      await wait(15 * SECOND)
      await watching.receiverGone()
      const queue = watchQueue(llamaEngine(server))
      const many = loadOn(llamaEngine(server), { clients: 30 })
      await wait(30 * SECOND)
      await watching.receiverBack()
      await wait(15 * SECOND)
      const crowd = await many.stop()
      await wait(25 * SECOND)
      await few.stop()
      return `push server gone for the first 30 s of 45; ${queue.stop()}; ${told(crowd)}`
    },
    told: ['fired waiting|growth', 'resolved waiting|growth'],
  }),
  one('the push server is away from beginning to end', {
    async happen({ server }, watching) {
      const few = loadOn(llamaEngine(server), { clients: 1, pause: SECOND })
      await wait(15 * SECOND)
      await watching.receiverGone()
      const queue = watchQueue(llamaEngine(server))
      const many = loadOn(llamaEngine(server), { clients: 30 })
      await wait(25 * SECOND)
      const crowd = await many.stop()
      await wait(25 * SECOND)
      await watching.receiverBack()
      await wait(15 * SECOND)
      await few.stop()
      return `push server gone for the whole of it; ${queue.stop()}; ${told(crowd)}`
    },
    told: ['late waiting|growth'],
  }),
  one('two watchers on one state', {
    shared: true,
    happen: ({ server }) => overload(llamaEngine(server)),
    told: ['fired waiting|growth', 'resolved waiting|growth'],
  }),
  one('clients go away', {
    async happen({ server }) {
      const load = loadOn(llamaEngine(server), { clients: 8, patience: 400, most: 400 })
      await wait(MINUTE)
      const counted = await load.stop()
      await wait(3 * SECOND)
      const { text } = await ask(`${server.url}/metrics`)
      const busy = sumOf(text, 'llamacpp:requests_processing')
      await wait(12 * SECOND)
      return `clients: ${told(counted)}; ${busy} slots busy three seconds after the last`
    },
    told: [],
  }),
]
