import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { resolve } from 'node:path'
import { serveOnLoopback } from '../../tools/simulator/loopback.ts'

const CLIENT = resolve('test/runtime/node_modules/aws-lambda-ric/index.mjs')
/** That of the deployed functions. */
export const NODE = resolve('test/runtime/node_modules/node24/bin/node')

/** `npm ci --prefix test/runtime` was run. */
export const INSTALLED = existsSync(CLIENT) && existsSync(NODE)

export type Answer =
  | { kind: 'response'; value: { statusCode: number; body: string } }
  | { kind: 'error'; errorType: string; errorMessage: string }

/** One execution environment: AWS's own runtime client, on the Node version of Lambda, with one bundle. */
export interface Environment {
  /** @param limit milliseconds that the invocation may take; the client does not enforce it, so the caller must look. */
  invoke(event: unknown, limit?: number): Promise<{ answer: Answer; took: number }>
  /** What the platform does between invocations. */
  freeze(): void
  thaw(): void
  /** Milliseconds that all of its threads have computed; what the machine does beside it is not in it. */
  cpu(): number
  /** All that the function wrote. */
  output(): string
  close(): Promise<void>
}

/** @param dist the folder of the bundles. */
export async function startLambda(dist: string, name: string, variables: Record<string, string>): Promise<Environment> {
  let output = ''
  let asked: ServerResponse | undefined
  let waiting: { id: string; event: unknown; limit: number; resolve: (answer: Answer) => void } | undefined

  function hand(): void {
    if (!asked || !waiting) return
    asked.writeHead(200, {
      'content-type': 'application/json',
      // A frozen client must find nothing broken on this side when it is thawed.
      connection: 'close',
      'lambda-runtime-aws-request-id': waiting.id,
      'lambda-runtime-deadline-ms': String(Date.now() + waiting.limit),
      'lambda-runtime-invoked-function-arn': `arn:aws:lambda:eu-central-1:1:function:queuebell-${name}`,
    })
    asked.end(JSON.stringify(waiting.event))
    asked = undefined
  }

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').replace('/2018-06-01/runtime/', '')
    if (path === 'invocation/next') {
      asked = response
      return hand()
    }
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    response.writeHead(202, { 'content-type': 'application/json', connection: 'close' }).end('{}')
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    waiting?.resolve(path.endsWith('/response') ? { kind: 'response', value: body } : { kind: 'error', ...body })
  }

  const api = await serveOnLoopback((request, response) => void take(request, response).catch(() => response.destroy()))
  const child: ChildProcess = spawn(
    NODE,
    ['--require', resolve('test/runtime/preload.cjs'), CLIENT, `${name}.handler`],
    {
      cwd: dist,
      env: {
        PATH: process.env.PATH,
        AWS_LAMBDA_RUNTIME_API: api.url.replace('http://', ''),
        _HANDLER: `${name}.handler`,
        LAMBDA_TASK_ROOT: dist,
        AWS_LAMBDA_FUNCTION_NAME: `queuebell-${name}`,
        AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
        AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '256',
        AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/queuebell-${name}`,
        AWS_LAMBDA_LOG_STREAM_NAME: 'test',
        ...variables,
      },
    },
  )
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      output += chunk
    })
  }
  const ended = new Promise<never>((_resolve, reject) => {
    child.once('close', (code) => reject(new Error(`the runtime client ended with ${code}:\n${output}`)))
  })
  ended.catch(() => {})

  return {
    async invoke(event, limit = 50_000) {
      const from = performance.now()
      const answered = new Promise<Answer>((resolve) => {
        waiting = { id: randomUUID(), event, limit, resolve }
      })
      hand()
      const answer = await Promise.race([answered, ended])
      waiting = undefined
      return { answer, took: performance.now() - from }
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    cpu: () => cpuOf(child.pid ?? 0),
    output: () => output,
    async close() {
      child.kill('SIGKILL')
      await ended.catch(() => {})
      await api.close()
    },
  }
}

/** https://docs.kernel.org/scheduler/sched-stats.html: nanoseconds on the processor, by thread. */
function cpuOf(pid: number): number {
  const tasks = `/proc/${pid}/task`
  const times = readdirSync(tasks).map((id) => Number(readFileSync(`${tasks}/${id}/schedstat`, 'utf8').split(' ')[0]))
  return times.reduce((sum, time) => sum + time, 0) / 1e6
}
