import { expect, test } from 'vitest'
import { TABLES } from '../../src/backends/backends.ts'
import { parseConfig } from '../../src/config/parse.ts'
import { group } from '../../src/messages/group.ts'
import type { ScrapedBackend } from '../../src/model/backend.ts'
import type { Endpoint } from '../../src/model/config.ts'
import type { Observation } from '../../src/model/observation.ts'
import { evaluate } from '../../src/rules/evaluate.ts'
import { createPageReader } from '../../src/scrape/page-reader.ts'
import { readPage } from '../../src/scrape/read.ts'
import { settle } from '../../src/state/outbox.ts'
import { emptyState, readState, writeState } from '../../src/state/schema.ts'
import { EDGE_STORIES } from './edges.ts'
import { HARDWARE_STORIES } from './hardware.ts'
import { OTHER_STORIES } from './others.ts'
import type { Served, Story } from './story.ts'
import { VLLM_STORIES } from './vllm.ts'

const START = Date.UTC(2026, 5, 1)

for (const story of [...VLLM_STORIES, ...OTHER_STORIES, ...HARDWARE_STORIES, ...EDGE_STORIES]) {
  test(`${story.backend}: ${story.name}`, () => {
    expect(play(story)).toEqual(story.pushes)
  })
}

/** Plays a story on the pure part alone: pages → readings → decisions; every push is accepted at once. */
function play(story: Story): [number, string, string][] {
  const names = story.endpoints ?? ['a']
  const endpoints = names.map((name) => `${name}=http://127.0.0.1:9009/${name}`).join(' ')
  const env = { [`${story.backend.toUpperCase()}_ENDPOINTS`]: endpoints, ...story.env }
  const parsed = parseConfig(story.backend, env, { lambda: false })
  if ('problems' in parsed) throw new Error(parsed.problems.join('\n'))
  const { config } = parsed
  let state = emptyState()
  const pushes: [number, string, string][] = []
  for (const { minute, served } of story.runs) {
    const now = START + minute * 60_000
    const observations = config.endpoints.map((endpoint) =>
      observationOf(endpoint, story, servedTo(endpoint, served), now),
    )
    const evaluation = evaluate(state, observations, config, now)
    for (const facts of group(evaluation.state.outbox.map((o) => o.notification))) {
      const first = [...facts].sort((a, b) => b.priority - a.priority)[0]
      if (first) pushes.push([minute, first.reason, first.rule])
    }
    const delivered = evaluation.state.outbox.map((o) => ({ id: o.notification.id, kind: 'delivered' as const }))
    const read = readState(writeState(settle(evaluation.state, delivered, now, 'run')))
    if (read.kind !== 'state') throw new Error(`minute ${minute}: ${JSON.stringify(read)}`)
    state = read.state
  }
  return pushes
}

function servedTo(endpoint: Endpoint, served: Story['runs'][number]['served']): Served {
  if (typeof served === 'string' || 'status' in served) return served as Served
  return served[endpoint.name] ?? 'refused'
}

function observationOf(endpoint: Endpoint, story: Story, served: Served, now: number): Observation {
  if (served === 'refused') return { endpoint, took: 1, up: false, failure: { kind: 'refused', code: 'ECONNREFUSED' } }
  if (typeof served !== 'string')
    return { endpoint, took: 1, up: false, failure: { kind: 'http', status: served.status } }
  const table = TABLES[story.backend as ScrapedBackend]
  const reader = createPageReader(table)
  reader.push(new TextEncoder().encode(served))
  return { endpoint, took: 1, up: true, readings: readPage(reader.end(), table, { model: endpoint.model, now }) }
}
