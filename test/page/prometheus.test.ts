import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { serveHttp } from '../../src/cli/http-server.ts'
import { MOST_BODY } from '../../src/page/exchange.ts'
import { openTestPage } from './asking.ts'
import { many, stateOf } from './states.ts'

interface Sample {
  metric: Record<string, string>
  value: [number, string]
}

const hasPrometheus = spawnSync('prometheus', ['--version']).status === 0

test.skipIf(!hasPrometheus)(
  'Prometheus scrapes it (skipped where it is not installed)',
  { timeout: 60_000, tags: ['long'] },
  async () => {
    const { ask } = await openTestPage({ vllm: stateOf(many(20, 4)) })
    const page = await serveHttp(0, ({ path, ...request }) => ask(path, request), { mostBody: MOST_BODY })
    const folder = mkdtempSync(join(tmpdir(), 'queuebell-prometheus-'))
    const config = join(folder, 'prometheus.yml')
    writeFileSync(
      config,
      `scrape_configs:\n  - job_name: queuebell\n    scrape_interval: 1s\n    scrape_timeout: 1s\n    authorization: { credentials: machine-token }\n    static_configs: [{ targets: ['127.0.0.1:${page.port}'] }]\n`,
    )
    const port = await freePort()
    const prometheus = spawn(
      'prometheus',
      [`--config.file=${config}`, `--storage.tsdb.path=${folder}/data`, `--web.listen-address=127.0.0.1:${port}`],
      { stdio: 'ignore' },
    )
    try {
      const query = async (text: string): Promise<Sample[]> => {
        const answer = await fetch(`http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(text)}`).catch(
          () => undefined,
        )
        if (!answer?.ok) return []
        const { data } = (await answer.json()) as { data: { result: Sample[] } }
        return data.result
      }
      for (let tries = 0; tries < 100 && (await query('up == 1')).length === 0; tries++) await pause(300)
      expect((await query('up{job="queuebell"}'))[0]?.value[1]).toBe('1')
      expect(await query('queuebell_alert_firing == 1')).toHaveLength(4)
      expect((await query('queuebell_signal{endpoint="chat/a",signal="waiting"}'))[0]?.value[1]).toBe('42')
      expect((await query('count(queuebell_endpoint_up)'))[0]?.value[1]).toBe('20')
    } finally {
      prometheus.kill()
      await page.close()
      await pause(300)
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    }
  },
)

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
