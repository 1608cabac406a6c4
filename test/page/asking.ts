import type { PageAnswer, PageRequest } from '../../src/page/exchange.ts'
import { settingsBy } from '../../src/page/limits.ts'
import { answer } from '../../src/page/routes.ts'
import { type State, writeState } from '../../src/state/schema.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { NOW } from './states.ts'

export const SECRET = 'a-secret-of-the-tests-that-is-long-enough'
export const BASE = { url: 'https://page.example', secret: SECRET }

/** A page over these states; `ask` takes a path or an address. */
export async function openTestPage(
  states: Readonly<Record<string, State | string>>,
  options: {
    env?: Record<string, string>
    language?: 'en' | 'ru'
    timezone?: string
    secrets?: string[]
    token?: string
  } = {},
) {
  const store = createMemoryStore(() => NOW)
  for (const [name, state] of Object.entries(states)) {
    await store.put(`${name}.json`, typeof state === 'string' ? state : writeState(state))
  }
  const { env = {}, language = 'en', timezone = 'UTC', secrets = [SECRET], token = 'machine-token' } = options
  const config = {
    secrets,
    url: BASE.url,
    token,
    language,
    timezone,
    state: { kind: 'file', dir: '' } as const,
    logLevel: 'info' as const,
    masked: [],
  }
  const ask = (path: string, request: Partial<PageRequest> & { now?: number } = {}): Promise<PageAnswer> => {
    const { now = NOW, ...given } = request
    return answer(
      {
        method: 'GET',
        path: path.replace(BASE.url, ''),
        headers: { host: 'page.example' },
        body: '',
        bodyTooLarge: false,
        ...given,
      },
      { config, store, now, settingsOf: (backend) => settingsBy(env, backend) },
    )
  }
  return { store, ask }
}
