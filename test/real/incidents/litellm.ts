import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ask, MINUTE, post, SECOND, wait } from '../asking.ts'
import type { Incident, Prepared } from '../incident.ts'
import { type Load, startLoad, told } from '../load.ts'
import { folder } from '../scratch.ts'
import { type LiteLlm, MASTER_KEY, startLiteLlm } from '../servers/litellm.ts'
import { type LlamaServer, startLlamaServer } from '../servers/llama-server.ts'
import { toldBy } from '../traffic.ts'
import { WAYS, type Watching } from '../watcher.ts'

const PEOPLE = ['alice.arden', 'bela.bako', 'chidi.cole', 'dana.dow']

/** Each person asks with a key of their own, and names a customer. */
function crowd({ url }: LiteLlm, model: string): { stop(): Promise<string> } {
  const loads: Load[] = PEOPLE.map((person) =>
    startLoad(
      {
        url: `${url}/v1/chat/completions`,
        body: { model, max_tokens: 16, messages: [{ role: 'user', content: 'Hi' }], user: `customer-of-${person}` },
        headers: { authorization: `Bearer sk-${person}` },
      },
      { clients: 1, pause: 2 * SECOND, most: 300 },
    ),
  )
  return {
    async stop() {
      const counted = await Promise.all(loads.map((load) => load.stop()))
      return counted.map(told).join(' / ')
    },
  }
}

const headers = { authorization: `Bearer ${MASTER_KEY}` }
const pageOf = async ({ url }: LiteLlm) => (await ask(`${url}/metrics/`, { headers })).text

function namesIn(text: string): string[] {
  return PEOPLE.filter((person) => text.includes(person))
}

/** A person stands on the page, and in nothing that left the watcher or that it keeps. */
function namedNowhere(page: () => string) {
  return async (watching: Watching) => [
    ...(namesIn(page()).length === PEOPLE.length ? [] : ['the page names nobody: this proves nothing']),
    ...WAYS.flatMap((way) => namesIn(watching.everything(way)).map((person) => `${way}: ${person} is told or kept`)),
  ]
}

function linesNaming(page: string): string {
  const lines = page.split('\n').filter((line) => namesIn(line).length > 0)
  const labels = new Set(
    lines.flatMap((line) => [...line.matchAll(/(\w+)="[^"]*(?:arden|bako|cole|dow)[^"]*"/g)].map(([, name]) => name)),
  )
  return `${lines.length} of its page's ${page.split('\n').length} lines name a person, in ${[...labels].sort().join(', ')}`
}

function one(
  name: string,
  rest: Omit<Prepared, 'functions' | 'env' | 'end' | 'happen' | 'check'> & {
    /** Asks as a user does, in place of reading the page. */
    canary?: true
    happen(proxy: LiteLlm, engines: [LlamaServer, LlamaServer], watching: Watching): Promise<string>
  },
): Incident {
  return {
    needs: ['litellm', 'llama-server'],
    name,
    async prepare() {
      const engines: [LlamaServer, LlamaServer] = [
        await startLlamaServer('quick', { alias: 'quick' }),
        await startLlamaServer('quick', { alias: 'quick' }),
      ]
      const proxy = await startLiteLlm([
        { name: 'chat', url: engines[0].url, model: 'quick' },
        { name: 'code', url: engines[1].url, model: 'quick' },
      ])
      let page = ''
      const { happen, canary, ...others } = rest
      return {
        ...(canary
          ? {
              functions: ['openai'],
              env: {
                OPENAI_ENDPOINTS: `front=${proxy.url}`,
                OPENAI_MODEL: 'chat',
                OPENAI_BEARER_TOKEN: 'sk-alice.arden',
              },
            }
          : {
              functions: ['litellm'],
              env: {
                LITELLM_ENDPOINTS: `front=${proxy.url}`,
                LITELLM_BEARER_TOKEN: MASTER_KEY,
                LITELLM_TIMEOUT: '20s',
              },
            }),
        async happen(watching) {
          const happened = await happen(proxy, engines, watching)
          page = await pageOf(proxy)
          writeFileSync(join(folder('pages'), 'litellm.prom'), page)
          return `${happened}; ${linesNaming(page)}`
        },
        check: namedNowhere(() => page),
        ...others,
        async end() {
          for (const { program } of [proxy, ...engines]) program.signal('SIGKILL')
          await Promise.all([proxy, ...engines].map(({ program }) => program.exited))
        },
      }
    },
  }
}

export const litellmIncidents: readonly Incident[] = [
  one('ordinary use by people with keys', {
    async happen(proxy) {
      const users = crowd(proxy, 'chat')
      await wait(MINUTE)
      return users.stop()
    },
    told: [],
  }),
  one('the only engine of a model is gone for 60 s', {
    async happen(proxy, engines, watching) {
      const users = crowd(proxy, 'chat')
      const others = crowd(proxy, 'code')
      await wait(30 * SECOND)
      engines[0].program.signal('SIGKILL')
      await engines[0].program.exited
      await wait(MINUTE)
      engines[0] = await startLlamaServer('quick', { alias: 'quick', port: engines[0].port })
      await toldBy(watching, 2)()
      return `chat: ${await users.stop()}; code: ${await others.stop()}`
    },
    told: ['fired errors', 'resolved errors'],
    says: /chat/,
  }),
  one('a canary asks for a model whose only engine is gone for 60 s', {
    canary: true,
    async happen(proxy, engines) {
      const users = crowd(proxy, 'chat')
      await wait(30 * SECOND)
      engines[0].program.signal('SIGKILL')
      await engines[0].program.exited
      await wait(15 * SECOND)
      const body = { model: 'chat', max_tokens: 1, messages: [{ role: 'user', content: 'Hi' }] }
      const { status, text } = await post(`${proxy.url}/v1/chat/completions`, body, headers)
      await wait(45 * SECOND)
      engines[0] = await startLlamaServer('quick', { alias: 'quick', port: engines[0].port })
      await wait(MINUTE)
      return `the proxy answers ${status} ${JSON.stringify(text.slice(0, 110))}; ${await users.stop()}`
    },
    told: ['fired down|busy', 'resolved down|busy'],
    never: /queue is full|overloaded|add a replica|sk-alice/i,
  }),
]
