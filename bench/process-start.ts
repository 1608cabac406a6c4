import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BACKENDS } from '../src/backends/backends.ts'
import { buildBundles } from '../test/bundles.ts'
import { INSTALLED, startLambda } from '../test/runtime/lambda.ts'
import { CREDENTIALS, startS3 } from '../test/store/s3-server.ts'
import { serveOnLoopback } from '../tools/simulator/loopback.ts'
import { vllmBody } from './body.ts'
import { buildHere } from './processes.ts'
import { median } from './whole-run.ts'

/** How long a fresh process takes to its first answer, in milliseconds and against an empty handler. */
export interface StartCost {
  name: string
  took: number
  ratio: number
}

/** The same packages with no product around them: `plain.ts`. */
export const PLAIN = 'plain'

export const hasRuntime = INSTALLED

const EMPTY = 'empty'

/** Under AWS's own runtime client, each bundle in turn in every round. */
export async function benchStart(rounds = 9, names: readonly string[] = [...BACKENDS]): Promise<StartCost[]> {
  const { dist } = buildBundles()
  writeFileSync(join(dist, `${EMPTY}.mjs`), 'export const handler = async () => ({ statusCode: 200, body: "" })')
  const body = vllmBody()
  const server = await serveOnLoopback((_, response) => response.end(body))
  const s3 = await startS3()
  const push = await serveOnLoopback((_, response) => response.end('{}'))
  const folders = new Map([[PLAIN, await buildHere([PLAIN])]])
  const measured = [...names, PLAIN]
  const all = [EMPTY, ...measured]
  const times = new Map(all.map((name) => [name, [] as number[]]))
  for (let round = 0; round < rounds; round++) {
    for (const name of all) {
      const from = performance.now()
      const lambda = await startLambda(folders.get(name) ?? dist, name, {
        ...CREDENTIALS,
        NOTIFLY_URL: push.url,
        NOTIFLY_TOKEN: 't',
        STATE_BUCKET: s3.bucket,
        S3_ENDPOINT: s3.endpoint,
        S3_FORCE_PATH_STYLE: 'yes',
        HEARTBEAT_WORKERS: 'indexer=60s+30s',
        ...Object.fromEntries(names.map((one) => [`${one.toUpperCase()}_ENDPOINTS`, `a=${server.url}`])),
        OLLAMA_MODEL: 'm',
        OPENAI_MODEL: 'm',
      })
      const { answer } = await lambda.invoke({ time: new Date(Date.UTC(2026, 10, 30, 12, round)).toISOString() })
      times.get(name)?.push(performance.now() - from)
      await lambda.close()
      if (answer.kind === 'error') throw new Error(`${name}: ${answer.errorMessage}`)
    }
  }
  await Promise.all([server.close(), s3.close(), push.close()])
  const empty = median(times.get(EMPTY) ?? [])
  return measured.map((name) => {
    const took = median(times.get(name) ?? [])
    return { name, took, ratio: took / empty }
  })
}
