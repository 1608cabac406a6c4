import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Loopback, serveOnLoopback } from '../../tools/simulator/loopback.ts'
import { factOf } from './pushing.ts'
import { createTelling } from './telling.ts'

const PROGRAM = 'prometheus-alertmanager'
const isThere = spawnSync(PROGRAM, ['--version']).status === 0
if (!isThere) console.warn(`${PROGRAM} is not installed: what a real Alertmanager makes of our alerts is not tested`)

interface Shown {
  labels: Record<string, string>
  annotations: Record<string, string>
  status: { state: string; silencedBy: string[] }
  fingerprint: string
  startsAt: string
  endsAt: string
}

describe.skipIf(!isThere)('a real Alertmanager', { timeout: 60_000 }, () => {
  const SECOND = 1_000
  const WAIT = { timeout: 15_000, interval: 100 }
  const told: { status: string; alerts: { status: string; labels: Record<string, string> }[] }[] = []
  let url: string
  let receiver: Loopback
  let dir: string
  let process: ChildProcess

  beforeAll(async () => {
    receiver = await serveOnLoopback((request, response) => {
      let text = ''
      request.on('data', (chunk) => {
        text += chunk
      })
      request.on('end', () => {
        told.push(JSON.parse(text))
        response.end()
      })
    })
    dir = mkdtempSync(join(tmpdir(), 'queuebell-alertmanager-'))
    writeFileSync(
      join(dir, 'config.yml'),
      `route: { receiver: own, group_by: [endpoint], group_wait: 100ms, group_interval: 500ms }
receivers: [{ name: own, webhook_configs: [{ url: '${receiver.url}', send_resolved: true }] }]
`,
    )
    const port = await freePort()
    url = `http://127.0.0.1:${port}/prefix`
    process = spawn(
      PROGRAM,
      [
        `--config.file=${join(dir, 'config.yml')}`,
        `--storage.path=${join(dir, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--web.route-prefix=/prefix',
        '--cluster.listen-address=',
      ],
      { stdio: 'ignore' },
    )
    await vi.waitFor(async () => expect((await fetch(`${url}/-/ready`)).status).toBe(200), WAIT)
  }, 30_000)
  afterAll(async () => {
    process?.kill()
    await receiver?.close()
    if (dir) rmSync(dir, { recursive: true, force: true, maxRetries: 10 })
  })

  const shown = async (): Promise<Shown[]> => (await fetch(`${url}/api/v2/alerts`)).json() as Promise<Shown[]>
  const watcher = () => {
    const start = Date.now()
    const telling = createTelling({ PUSH_AM: `alertmanager+${url}` }, { start, interval: SECOND })
    const minute = () => (Date.now() - start) / 60_000
    return {
      start,
      state: telling.state,
      run: (...facts: ReturnType<typeof factOf>[]) => telling.run(minute(), ...facts),
    }
  }
  const fact = (reason: 'fired' | 'resolved', start: number, more = {}) =>
    factOf(reason, {
      incident: `chat/a|waiting|@${start}`,
      at: Date.now(),
      firedAt: start,
      subject: 'a "subject"\\ with {marks}',
      ...more,
    })

  test('takes, groups, silences and ends our alerts', async () => {
    const { start, run, state } = watcher()
    const beside = { incident: `chat/a|ttft|@${start}`, rule: 'ttft' }
    const first = await run(fact('fired', start), fact('fired', start, beside))
    expect([first.problems, first.delivered]).toEqual([[], 1])
    await vi.waitFor(async () => expect(await shown()).toHaveLength(2), WAIT)
    const [before] = await shown()
    expect(before).toMatchObject({
      labels: { alertname: 'ttft', endpoint: 'chat/a', group: 'chat', function: 'vllm', severity: 'error' },
      annotations: { summary: expect.any(String), description: expect.any(String), value: '42', limit: '20' },
      status: { state: 'active' },
    })
    // Both in one message of its own: grouped by endpoint.
    await vi.waitFor(() => expect(told.at(-1)?.alerts.map(({ status }) => status)).toEqual(['firing', 'firing']), WAIT)

    await new Promise((resolve) => setTimeout(resolve, 2 * SECOND))
    await run()
    await new Promise((resolve) => setTimeout(resolve, 2 * SECOND))
    const again = await shown()
    expect(again.map(({ fingerprint }) => fingerprint)).toContain(before?.fingerprint)
    expect(Date.parse(again[0]?.endsAt ?? '')).toBeGreaterThan(Date.parse(before?.endsAt ?? ''))

    await run()
    const silence = await fetch(`${url}/api/v2/silences`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        matchers: [{ name: 'alertname', value: 'ttft', isRegex: false }],
        startsAt: new Date().toISOString(),
        endsAt: new Date(Date.now() + 60 * SECOND).toISOString(),
        createdBy: 'on call',
        comment: 'known',
      }),
    })
    expect(silence.status).toBe(200)
    await vi.waitFor(
      async () => expect((await shown()).map(({ status }) => status.state).sort()).toEqual(['active', 'suppressed']),
      WAIT,
    )

    await run(fact('resolved', start), fact('resolved', start, beside))
    await vi.waitFor(async () => expect(await shown()).toEqual([]), WAIT)
    await vi.waitFor(() => expect(told.at(-1)?.status).toBe('resolved'), WAIT)
    expect(Object.values(state().threads ?? {}).map((channels) => channels.am?.left)).toEqual([2, 2])
    await run()
    await run()
    expect([state().threads, await shown()]).toEqual([undefined, []])
  })

  test('shows an alert that fires again while its last end is still repeated', async () => {
    const { run } = watcher()
    const again = () => {
      const at = Date.now()
      return fact('fired', at, { endpoint: 'chat/c', incident: `chat/c|waiting|@${at}` })
    }
    const over = ({ incident, firedAt }: ReturnType<typeof factOf>) =>
      fact('resolved', firedAt, { endpoint: 'chat/c', incident, endedAt: Date.now() })
    const first = again()
    await run(first)
    await vi.waitFor(async () => expect(await shown()).toHaveLength(1), WAIT)
    await run(over(first))
    await vi.waitFor(async () => expect(await shown()).toEqual([]), WAIT)
    const second = again()
    await run(second)
    expect(await shown()).toMatchObject([{ startsAt: new Date(second.firedAt).toISOString() }])
    // The end of the one and the beginning of the next in one request.
    const end = over(second)
    await new Promise((resolve) => setTimeout(resolve, 10))
    const third = again()
    await run(third, end)
    expect(await shown()).toMatchObject([{ startsAt: new Date(third.firedAt).toISOString() }])
    await run(over(third))
    await vi.waitFor(async () => expect(await shown()).toEqual([]), WAIT)
  })

  test('lets an alert go stale by itself when the watcher dies', { tags: ['long'] }, async () => {
    const { start, run } = watcher()
    await run(fact('fired', start, { endpoint: 'chat/b', incident: `chat/b|waiting|@${start}` }))
    await vi.waitFor(async () => expect(await shown()).toHaveLength(1), WAIT)
    const died = Date.now()
    await vi.waitFor(async () => expect(await shown()).toEqual([]), WAIT)
    expect(Date.now() - died).toBeLessThan(6 * SECOND)
    await vi.waitFor(
      () => expect(told.at(-1)?.alerts[0]).toMatchObject({ status: 'resolved', labels: { endpoint: 'chat/b' } }),
      WAIT,
    )
  })
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
