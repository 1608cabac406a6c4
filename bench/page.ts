import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { statusLink } from '../src/page/links.ts'
import { writeState } from '../src/state/schema.ts'
import { buildBundles } from '../test/bundles.ts'
import { many, stateOf } from '../test/page/states.ts'

const PAGE = { url: 'https://page.example', secret: 'a-secret-of-the-bench-that-is-long-enough' }
const REQUESTS = 10

/** Asks the built function in a process of its own, as a warm one is asked: prints the milliseconds of each answer. */
const ASKS = `
  const { handler } = await import(process.argv[1])
  const event = { rawPath: process.argv[2], headers: { host: 'page.example' }, requestContext: { http: { method: 'GET' } } }
  for (let i = 0; i < ${REQUESTS}; i++) {
    const start = performance.now()
    const { statusCode } = await handler(event)
    if (statusCode !== 200) throw new Error('the page answered ' + statusCode)
    console.log(performance.now() - start)
  }`

/** @returns milliseconds of the quickest status page over 1,000 endpoints, 30 of them in trouble, from a state on the disk. */
export function benchPage(): number {
  const { root, dist } = buildBundles()
  const dir = join(root, 'state')
  mkdirSync(dir)
  writeFileSync(join(dir, 'vllm.json'), writeState(stateOf(many(1_000, 30))))
  const output = execFileSync(
    process.execPath,
    ['--input-type=module', '-e', ASKS, join(dist, 'page.mjs'), statusLink(PAGE).slice(PAGE.url.length)],
    {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, STATE_DIR: dir, PAGE_URL: PAGE.url, PAGE_SECRET: PAGE.secret },
    },
  )
  rmSync(root, { recursive: true, force: true })
  return Math.min(...output.trim().split('\n').map(Number))
}
