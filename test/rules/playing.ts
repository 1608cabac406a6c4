import { TABLES } from '../../src/backends/backends.ts'
import { parseConfig } from '../../src/config/parse.ts'
import { compose } from '../../src/messages/compose.ts'
import { group } from '../../src/messages/group.ts'
import type { ScrapedBackend } from '../../src/model/backend.ts'
import type { Message } from '../../src/model/message.ts'
import type { Notification } from '../../src/model/notification.ts'
import type { EndpointResult } from '../../src/model/result.ts'
import { evaluate } from '../../src/rules/evaluate.ts'
import { createPageReader } from '../../src/scrape/page-reader.ts'
import { readPage } from '../../src/scrape/read.ts'
import { settle } from '../../src/state/outbox.ts'
import { emptyState } from '../../src/state/schema.ts'

const START = Date.UTC(2026, 5, 1)

export interface Played {
  /** All that was told, in its order. */
  told: Notification[]
  messages: Message[]
  /** The endpoint as the last run's result has it. */
  last: EndpointResult | undefined
}

/** Lets one endpoint answer a page a minute (or each `gap`, milliseconds); every push is accepted at once. */
export function play(
  backend: ScrapedBackend,
  pages: readonly string[],
  env: Record<string, string> = {},
  gap = 60_000,
): Played {
  const address = { [`${backend.toUpperCase()}_ENDPOINTS`]: 'a=http://127.0.0.1:9009/a' }
  const parsed = parseConfig(backend, { ...address, ...env }, { lambda: false })
  if ('problems' in parsed) throw new Error(parsed.problems.join('\n'))
  const { config } = parsed
  const played: Played = { told: [], messages: [], last: undefined }
  let state = emptyState()
  for (const [index, page] of pages.entries()) {
    const now = START + index * gap
    const reader = createPageReader(TABLES[backend])
    reader.push(new TextEncoder().encode(page))
    const readings = readPage(reader.end(), TABLES[backend], { model: undefined, now })
    const observations = config.endpoints.map((endpoint) => ({ endpoint, took: 1, up: true as const, readings }))
    const evaluation = evaluate(state, observations, config, now)
    const outbox = evaluation.state.outbox.map(({ notification }) => notification)
    played.told.push(...outbox)
    for (const facts of group(outbox))
      played.messages.push(compose(facts, 'en', { markdown: false, link: () => undefined, now }))
    played.last = evaluation.endpoints[0]
    const delivered = outbox.map(({ id }) => ({ id, kind: 'delivered' as const }))
    state = settle(evaluation.state, delivered, now, 'run')
  }
  return played
}
