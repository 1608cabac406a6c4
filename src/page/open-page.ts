import { type PageConfig, parsePage } from '../config/page.ts'
import { createLog } from '../log.ts'
import type { Backend } from '../model/backend.ts'
import { ConfigError } from '../model/config.ts'
import { openStore } from '../store/open.ts'
import type { PageAnswer, PageRequest } from './exchange.ts'
import { settingsBy } from './limits.ts'
import { answer } from './routes.ts'

type Variables = Readonly<Record<string, string | undefined>>

export interface OpenPage {
  config: PageConfig
  /** Answers one request; nothing it does is thrown. */
  answer(request: PageRequest): Promise<PageAnswer>
}

/** The page with its real parts: environment, clock, store and log. @throws {ConfigError} at once. */
export function openPage(env: Variables, place: { lambda: boolean }): OpenPage {
  const parsed = parsePage(env, place)
  if (!parsed.ok) throw new ConfigError(parsed.problems)
  const { config } = parsed
  const log = createLog(config.logLevel, config.masked, (line) => console.log(line), Date.now)
  const store = openStore(config.state)
  const settingsOf = (backend: Backend) => settingsBy(env, backend)
  return {
    config,
    async answer(request) {
      const now = Date.now()
      try {
        const found = await answer(request, { config, store, now, settingsOf })
        // Neither address nor body: the path of a link is a secret.
        log.debug('page', { method: request.method, status: found.status, ms: Date.now() - now })
        return found
      } catch (error) {
        log.error('the page could not answer', { error })
        return { status: 503, headers: { 'cache-control': 'no-store' }, body: '' }
      }
    },
  }
}
