import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { runCommand } from '../../src/cli/commands.ts'
import { headOf } from '../../src/recordings/reader.ts'
import { serve } from '../scrape/loopback.ts'
import { vllm } from '../stories/pages.ts'
import { folder, readAll } from './folder.ts'
import { HAS_PROMETHEUS, startPrometheus } from './prometheus.ts'

const said: string[] = []
beforeEach(() => {
  vi.spyOn(console, 'log').mockImplementation((text) => said.push(String(text)))
  vi.spyOn(console, 'error').mockImplementation((text) => said.push(String(text)))
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  said.length = 0
})

const text = (page: Uint8Array | undefined) => page && Buffer.from(page).toString()
const START = 1_780_000_000

describe('an OpenMetrics dump', () => {
  async function imported(dump: string) {
    const to = await folder()
    await writeFile(join(to, 'dump.txt'), dump)
    const code = await runCommand(['import', 'openmetrics', join(to, 'dump.txt'), '--out', join(to, 'out.qb')])
    return { code, path: join(to, 'out.qb') }
  }
  const at = (minute: number) => START + minute * 60

  test('becomes a page for each time at which a target was scraped; gaps stay gaps, failures are failures', async () => {
    const on = 'instance="10.0.0.5:8000",job="chat",region="x"'
    const { code, path } = await imported(
      [
        '# TYPE up gauge',
        ...[0, 1, 5, 6].map((m) => `up{${on}} ${m === 5 ? 0 : 1} ${at(m)}.25`),
        ...[0, 1, 6].map((m) => `scrape_duration_seconds{${on}} 0.0${m + 1} ${at(m)}.25`),
        ...[0, 1, 6].map(
          (m) => `vllm:num_requests_waiting{engine="0",${on},model_name="m \\"x\\""} ${m * 10} ${at(m)}.25`,
        ),
        ...[0, 1, 6].map((m) => `vllm:e2e_bucket{${on},le="+Inf",user="anna"} ${m} ${at(m)}.25 # {trace_id="t"} 0.5`),
        '# EOF',
      ].join('\n'),
    )
    expect(code).toBe(0)
    const scrapes = await readAll(path)
    expect(scrapes.map(({ at: time, took, failure }) => [time / 1000 - START, took, failure?.kind])).toEqual([
      [0.25, 10, undefined],
      [60.25, 20, undefined],
      [300.25, 0, 'other'],
      [360.25, 70, undefined],
    ])
    expect(text(scrapes[1]?.page)).toBe(
      'vllm:e2e_bucket{le="+Inf",user="1"} 1\nvllm:num_requests_waiting{engine="0",model_name="m \\"x\\""} 10\n',
    )
    expect((await headOf(path))?.endpoints).toEqual([{ name: 'chat/10-0-0-5-8000', address: '10.0.0.5:8000' }])
  })

  test('without `up` has a page for each time of a sample; one that was cut is taken as far as it goes', async () => {
    const { code, path } = await imported(
      `a{job="j"} 1 ${START}\na{job="j"} 2 ${START + 15}\nb{job="j"} NaN ${START + 15}\n`,
    )
    expect(code).toBe(0)
    expect((await readAll(path)).map(({ page }) => text(page))).toEqual(['a 1\n', 'a 2\nb NaN\n'])
    expect(said[0]).toContain('it was cut')
  })

  test('that holds nothing with a time is refused', async () => {
    expect((await imported('a 1\n# EOF\n')).code).toBe(1)
    expect(said.at(-1)).toContain('no sample with a timestamp')
  })
})

describe('a Prometheus that is none', () => {
  test.each([
    ['a page', '<html>'],
    ['an error', '{"status":"error","error":"parse error"}'],
  ])('%s is told', async (_, body) => {
    const server = await serve((_, response) => response.end(body))
    expect(await runCommand(['import', 'prometheus', server.url, '--match', '{', '--from', '1h'])).toBe(1)
    expect(said.at(-1)).toContain(server.url)
  })

  test('asks with the credentials it was given and shows none', async () => {
    const server = await serve((_, response) => response.writeHead(401).end('no'))
    const url = server.url.replace('://', '://anna:s3cr3t@')
    expect(await runCommand(['import', 'prometheus', url, '--header', 'X-Scope-OrgID: 7'])).toBe(1)
    expect(server.requests[0]?.headers).toMatchObject({
      authorization: `Basic ${Buffer.from('anna:s3cr3t').toString('base64')}`,
      'x-scope-orgid': '7',
    })
    expect(said.join('\n')).not.toContain('s3cr3t')
  })

  test.each([
    ['http://anna:s3cr3t%@127.0.0.1:9090', 'has a % that begins no code in its user or password'],
    ['postgres://anna:s3cr3t@127.0.0.1', 'is no address; write http:// or https://'],
  ])('at %s is refused without a word of its password', async (place, why) => {
    expect(await runCommand(['import', 'prometheus', place])).toBe(1)
    expect(said.at(-1)).toContain(`the address of the Prometheus ${why}`)
    expect(said.join('\n')).not.toContain('s3cr3t')
  })
})

test.skipIf(!HAS_PROMETHEUS)(
  'what a real Prometheus scraped is imported as it was, a dead target among it (needs Debian’s prometheus)',
  { tags: ['long'] },
  async () => {
    let scraped = 0
    const pages: string[] = []
    const server = await serve((_, response) => {
      scraped += 1
      if (scraped === 4) return void response.writeHead(500).end()
      const page = vllm({ waiting: scraped, running: 2, finished: scraped * 7, tokens: scraped * 1_000 })
      pages.push(page)
      response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(page)
    })
    const place = await folder()
    const target = new URL(server.url).host
    const url = await startPrometheus(
      place,
      `global: {scrape_interval: 300ms, scrape_timeout: 300ms}\nscrape_configs:\n- job_name: chat\n  static_configs: [{targets: ['${target}'], labels: {region: x}}]\n`,
    )
    while (scraped < 9) await new Promise((resolve) => setTimeout(resolve, 50))
    const out = join(place, 'week.qb')
    const command = ['import', 'prometheus', url, '--match', '{job="chat"}', '--from', '1h', '--out', out]
    expect([await runCommand(command), said]).toEqual([0, [expect.stringContaining('scrapes of chat/127-0-0-1')]])
    const scrapes = await readAll(out)
    expect(scrapes[3]?.failure).toEqual({ kind: 'other', detail: 'Prometheus could not scrape it' })
    const numbers = (page: string | undefined) => page?.trim().split('\n').map(number).sort()
    // A database sorts labels by name.
    const number = (line: string) => {
      const [, name = '', labels = '', value = ''] = /^([\w:]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
      return `${name}{${labels.split(',').sort().join(',')}} ${Number(value)}`
    }
    const good = scrapes.filter(({ page }) => page !== undefined)
    expect(good.length).toBeGreaterThanOrEqual(7)
    expect(good.map(({ page }) => numbers(text(page)))).toEqual(pages.slice(0, good.length).map(numbers))
    // A configured endpoint at that address is recognised by it.
    vi.stubEnv('VLLM_ENDPOINTS', `chat/a=http://${target}`)
    expect(await runCommand(['replay', 'vllm', out, '--set', 'WAITING_LIMIT=5', '--json'])).toBe(0)
    expect(JSON.parse(said.at(-1) ?? '').settings[0].incidents[0]).toMatchObject({
      endpoint: 'chat/a',
      rules: ['waiting'],
    })
  },
)
