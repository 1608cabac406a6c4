import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BACKENDS } from '../src/backends/backends.ts'
import { type Backend, prefixOf } from '../src/model/backend.ts'
import { buildBundles } from '../test/bundles.ts'
import { INSTALLED, NODE, startLambda } from '../test/runtime/lambda.ts'
import { CREDENTIALS, startS3 } from '../test/store/s3-server.ts'
import { serveOnLoopback } from '../tools/simulator/loopback.ts'
import { vllmBody } from './body.ts'
import { buildHere } from './processes.ts'
import { median } from './whole-run.ts'

/** What a fresh process computes to its first answer, in milliseconds and against an empty handler, with and without a code cache. */
export interface StartCost {
  name: string
  took: number
  ratio: number
  /** The same where V8 is another than that of the cache; absent for `plain.ts`, which has none. */
  uncached?: number
}

/** The same packages with no product around them: `plain.ts`. */
export const PLAIN = 'plain'

export const hasRuntime = INSTALLED

const EMPTY = 'empty'

/** Under AWS's own runtime client, each bundle in turn in every round; processor time, since the machine may be busy. */
export async function benchStart(rounds = 9, names: readonly Backend[] = BACKENDS): Promise<StartCost[]> {
  const [{ dist }, uncached] = [buildBundles([NODE]), buildBundles()]
  writeFileSync(join(dist, `${EMPTY}.mjs`), 'export const handler = async () => ({ statusCode: 200, body: "" })')
  const body = vllmBody()
  const server = await serveOnLoopback((_, response) => response.end(body))
  const s3 = await startS3()
  const push = await serveOnLoopback((_, response) => response.end('{}'))
  const plain = await buildHere([PLAIN])
  const all: Variant[] = [
    { name: EMPTY, folder: dist },
    { name: PLAIN, folder: plain },
    ...names.flatMap((name) => [
      { name, folder: dist },
      { name, folder: uncached.dist, bare: true as const },
    ]),
  ]
  const variables = {
    ...CREDENTIALS,
    NOTIFLY_URL: push.url,
    NOTIFLY_TOKEN: 't',
    STATE_BUCKET: s3.bucket,
    S3_ENDPOINT: s3.endpoint,
    S3_FORCE_PATH_STYLE: 'yes',
    HEARTBEAT_WORKERS: 'indexer=60s+30s',
    ...Object.fromEntries(
      names.map((one) => [
        one === 'heartbeat-check' ? 'TZ' : `${prefixOf(one)}_ENDPOINTS`,
        one === 'heartbeat-check' ? 'UTC' : `a=${server.url}`,
      ]),
    ),
    OLLAMA_MODEL: 'm',
    OPENAI_MODEL: 'm',
  }
  const times = new Map(all.map((variant) => [variant, [] as number[]]))
  for (let round = 0; round < rounds; round++) {
    for (const variant of all) {
      // A state of its own: a tick that is in the state already would be a duplicate, and cost next to nothing.
      const prefix = `${variant.name}${variant.bare ? '-bare' : ''}/`
      const lambda = await startLambda(variant.folder, variant.name, { ...variables, STATE_PREFIX: prefix })
      const { answer } = await lambda.invoke({ time: new Date(Date.UTC(2026, 10, 30, 12, round)).toISOString() })
      times.get(variant)?.push(lambda.cpu())
      await lambda.close()
      if (answer.kind === 'error') throw new Error(`${variant.name}: ${answer.errorMessage}`)
    }
  }
  await Promise.all([server.close(), s3.close(), push.close()])
  const took = (name: string, bare?: true) =>
    median(times.get(all.find((one) => one.name === name && one.bare === bare) as Variant) ?? [])
  const empty = took(EMPTY)
  return [...names, PLAIN].map((name) => ({
    name,
    took: took(name),
    ratio: took(name) / empty,
    ...(name === PLAIN ? {} : { uncached: took(name, true) / empty }),
  }))
}

interface Variant {
  name: string
  folder: string
  /** Without code caches. */
  bare?: true
}
