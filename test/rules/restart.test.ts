import { expect, test } from 'vitest'
import { TABLES } from '../../src/backends/backends.ts'
import { parseConfig } from '../../src/config/parse.ts'
import { evaluate } from '../../src/rules/evaluate.ts'
import { createPageReader } from '../../src/scrape/exposition.ts'
import { readPage } from '../../src/scrape/read.ts'
import { settle } from '../../src/state/outbox.ts'
import { emptyState } from '../../src/state/state.ts'
import { vllm } from '../stories/pages.ts'

const START = Date.UTC(2026, 5, 1)

test('a queue that is gone with the process that held it is told as restarted', () => {
  expect(endOf([vllm({ waiting: 40, started: 1_760_000_000 }), emptied(1), emptied(2)])).toBe('restarted')
})

test('a queue that outlived a restart ended by itself', () => {
  const again = [1, 2].map((m) => vllm({ waiting: 40, running: 4, tokens: 100 * m, started: 1_760_000_500 }))
  expect(endOf([vllm({ waiting: 40, started: 1_760_000_000 }), ...again, emptied(3), emptied(4)])).toBe('clear')
})

function emptied(minute: number): string {
  return vllm({ waiting: 0, running: 4, tokens: 100 * minute, started: 1_760_000_500 })
}

/** How the last alert ended that was told as over, a page a minute. */
function endOf(pages: readonly string[]): string | undefined {
  const parsed = parseConfig('vllm', { VLLM_ENDPOINTS: 'a=http://127.0.0.1:9009/a' }, { lambda: false })
  if ('problems' in parsed) throw new Error(parsed.problems.join('\n'))
  const { config } = parsed
  let state = emptyState()
  let ended: string | undefined
  for (const [minute, page] of pages.entries()) {
    const now = START + minute * 60_000
    const reader = createPageReader(TABLES.vllm)
    reader.push(new TextEncoder().encode(page))
    const readings = readPage(reader.end(), TABLES.vllm, { model: undefined, now })
    const observations = config.endpoints.map((endpoint) => ({ endpoint, took: 1, up: true as const, readings }))
    const evaluation = evaluate(state, observations, config, now)
    ended = evaluation.notifications.find(({ reason }) => reason === 'resolved')?.ended ?? ended
    const delivered = evaluation.state.outbox.map((o) => ({ id: o.notification.id, kind: 'delivered' as const }))
    state = settle(evaluation.state, delivered, now, 'run')
  }
  return ended
}
