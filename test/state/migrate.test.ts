import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseConfig } from '../../src/config/parse.ts'
import { createLog } from '../../src/log.ts'
import { run } from '../../src/run.ts'
import { readState } from '../../src/state/schema.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { openInbox } from '../../tools/simulator/inbox.ts'
import { openWatched } from '../faults/watched.ts'

/** Written by version 0.1.0: `chat/a` was told as firing, `chat/b` fires and its notification still waits. */
const OLD = readFileSync('test/state/state-v1.json', 'utf8')
const { ranAt, endpoints } = JSON.parse(OLD)
const MINUTE = 60_000

test('an alert of an older state is as it was, under its new names', () => {
  const read = readState(OLD)
  if (read.kind !== 'state') throw new Error(JSON.stringify(read))
  const { told, since, clears, ...same } = endpoints['chat/a'].alerts.waiting
  expect(read.state.endpoints['chat/a']?.alerts.waiting).toEqual({
    ...same,
    activeAt: since,
    lastSentAt: told,
    clearRuns: clears,
  })
  expect(read.state.outbox[0]?.notification.context?.numbers.waiting).toBe(55)
})

test('what an older state told is not told again, what waited in its outbox is, and both ends are told', async () => {
  const inbox = await openInbox()
  const watched = await openWatched()
  const store = createMemoryStore()
  await store.save('vllm.json', OLD, undefined)
  const env = {
    VLLM_ENDPOINTS: `chat/a=${watched.url} chat/b=${watched.url}`,
    NOTIFLY_URL: inbox.url,
    NOTIFLY_TOKEN: 'token',
  }
  const parsed = parseConfig('vllm', env, { lambda: false })
  if ('problems' in parsed) throw new Error(parsed.problems.join('\n'))
  const { config } = parsed
  const waiting = [50, 3, 3]
  for (const [minute, value] of waiting.entries()) {
    const now = ranAt + (minute + 1) * MINUTE
    watched.waiting = value
    watched.seconds = 10_000 + minute * 60
    const io = {
      now: () => now,
      sleep: async () => {},
      store,
      log: createLog(
        'silent',
        [],
        () => {},
        () => now,
      ),
      runId: () => `run-${minute}`,
      print: () => {},
    }
    await run({ config, io, tick: now, deadline: now + 50_000 })
  }
  expect(inbox.received.map(({ title }) => title.replace(/ \(.*/, ''))).toEqual([
    expect.stringContaining('chat/b'),
    expect.stringContaining('chat/a'),
    expect.stringContaining('chat/b'),
  ])
  await inbox.close()
  await watched.close()
})
