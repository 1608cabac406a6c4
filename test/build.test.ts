import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEngine } from '../tools/simulator/engine.ts'
import { type Inbox, openInbox } from '../tools/simulator/inbox.ts'
import { type Loopback, serveOnLoopback } from '../tools/simulator/loopback.ts'
import { vllmPage } from '../tools/simulator/page.ts'
import { type Bundles, buildBundles } from './bundles.ts'

let bundles: Bundles
beforeAll(() => {
  bundles = buildBundles()
}, 180_000)
afterAll(() => rmSync(bundles.root, { recursive: true, force: true }))

const NAMES = readdirSync('functions').map((file) => basename(file, '.ts'))

test('every file of functions/ has a bundle of at most 1 MiB, named in the size report', () => {
  expect(NAMES.length).toBeGreaterThanOrEqual(11)
  for (const name of NAMES) {
    expect([name, statSync(join(bundles.dist, `${name}.cjs`)).size <= 1024 * 1024]).toEqual([name, true])
    expect(bundles.report).toContain(`dist/${name}.cjs`)
  }
})

test('a bundle needs nothing but Node and what lies beside it', () => {
  for (const name of NAMES) {
    const text = readFileSync(join(bundles.dist, `${name}.cjs`), 'utf8')
    const required = [...text.matchAll(/\brequire\("([^"]+)"\)/g)].map(([, of]) => of ?? '')
    expect(required.length).toBeGreaterThan(5)
    expect([name, required.filter((of) => !isThere(of))]).toEqual([name, []])
  }
  const text = readFileSync(join(bundles.dist, 'queuebell.mjs'), 'utf8')
  const imports = [...text.matchAll(/(?:^|[;}])(?:import|export)[\s{*][^'"();]*from\s?["']([^"']+)["']/g)].map(
    ([, from]) => from ?? '',
  )
  expect(imports.filter((from) => !isThere(from))).toEqual([])
})

function isThere(module: string): boolean {
  return module.startsWith('node:') || BUILT_IN.has(module) || BESIDE.includes(module)
}
/** The last is asked for by AWS's client where a bucket spans regions, and is tried. */
const BESIDE = ['./credentials.cjs', './telemetry.cjs', '@aws-sdk/signature-v4-crt']
const BUILT_IN = new Set(process.getBuiltinModule?.('node:module').builtinModules ?? [])

describe('dist/vllm.mjs in a plain Node process with environment variables alone', () => {
  let inbox: Inbox
  let server: Loopback
  let dir: string
  beforeAll(async () => {
    inbox = await openInbox()
    const engine = createEngine(0, {}, { arrivals: 8 })
    engine.advance(120_000)
    server = await serveOnLoopback((_request, response) => response.end(vllmPage(engine)))
    dir = join(bundles.root, 'state')
  })
  afterAll(() => Promise.all([server.close(), inbox.close()]))

  test('it tells of a queue once, and is silent in a new process afterwards', async () => {
    const env = { VLLM_ENDPOINTS: `chat/a=${server.url}`, NOTIFLY_URL: inbox.url, NOTIFLY_TOKEN: 't', STATE_DIR: dir }
    const first = await invoke('vllm', env)
    expect(first).toMatchObject({
      statusCode: 200,
      body: { backend: 'vllm', outcome: 'completed', pushes: { delivered: 1 } },
    })
    expect(inbox.received).toHaveLength(1)
    const second = await invoke('vllm', env)
    expect(second).toMatchObject({ statusCode: 200, body: { outcome: 'completed', pushes: { delivered: 0 } } })
    expect(inbox.received).toHaveLength(1)
  })

  test('a wrong configuration is found at the call, not at the import, all at once and without a secret', async () => {
    const env = {
      VLLM_ENDPOINTS: 'chat',
      VLLM_WAITNG_LIMIT: '5',
      NOTIFLY_URL: 'nonsense',
      NOTIFLY_TOKEN: 'hunter2hunter2',
    }
    const { rejected } = await invoke('vllm', env)
    for (const variable of ['VLLM_ENDPOINTS', 'VLLM_WAITNG_LIMIT', 'NOTIFLY_URL']) expect(rejected).toContain(variable)
    expect(rejected).not.toContain('hunter2')
  })
})

interface Outcome {
  statusCode?: number
  body?: unknown
  rejected?: string
}

/** One invocation in a process of its own. */
function invoke(name: string, env: Record<string, string>): Promise<Outcome> {
  const url = JSON.stringify(`file://${join(bundles.dist, `${name}.mjs`)}`)
  const code = `const { handler } = await import(${url})
    const told = await handler({}, {}).then((a) => ({ ...a, body: JSON.parse(a.body) }), (e) => ({ rejected: String(e) }))
    console.log('\\n' + JSON.stringify(told))`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    env: { PATH: process.env.PATH, ...env },
  })
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', () => resolve(JSON.parse(output.trim().split('\n').at(-1) ?? '') as Outcome))
  })
}
