import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { serve } from './scrape/loopback.ts'

const run = promisify(execFile)
const PAGE = 'vllm:num_requests_waiting{model_name="llama"} 30\nvllm:kv_cache_usage_perc{model_name="llama"} 0.1\n'

test('the packed file alone runs by npx in an empty folder, and brings nothing else along', {
  timeout: 120_000,
  tags: ['long'],
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'queuebell-pack-'))
  await run('npm', ['pack', '--pack-destination', folder])
  const [file = ''] = await readdir(folder)
  expect((await stat(join(folder, file))).size).toBeLessThan(700_000)
  const empty = await mkdtemp(join(tmpdir(), 'queuebell-empty-'))
  const { url } = await serve((request, response) =>
    response.writeHead(request.url === '/metrics' ? 200 : 404).end(PAGE),
  )
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    TGI_ENDPOINTS: `a=${url}`,
    VLLM_ENDPOINTS: `chat=${url}`,
  }
  const npx = (...words: string[]) =>
    run('npx', ['--yes', '--offline', `--package=${join(folder, file)}`, 'queuebell', ...words], { cwd: empty, env })
  const { version } = JSON.parse(
    (await run('npm', ['pkg', 'get', 'version', '--json'])).stdout.replace(/^"(.*)"\s*$/, '{"version":"$1"}'),
  ) as { version: string }
  expect((await npx('--version')).stdout.trim()).toBe(version)
  const seen = await npx('doctor', url)
  expect(seen.stdout).toContain(`VLLM_ENDPOINTS=chat=${url}`)
  expect(seen.stdout).toContain('Then: npx queuebell doctor vllm --push')
  expect((await npx('invoke', 'all', '--dry-run')).stdout).toMatch(
    /tgi .*completed[\s\S]*vllm|vllm .*completed[\s\S]*tgi/,
  )
  await rm(folder, { recursive: true })
  await rm(empty, { recursive: true })
})
