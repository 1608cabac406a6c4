import http from 'node:http'
import type { AddressInfo } from 'node:net'

/** One request on its way through a gate. */
export interface Passing {
  /** How many came before it through this gate, to any server. */
  n: number
  to: string
  method: string
  /** `asked`: it has come and is not passed on. `done`: the server has answered, and nobody knows. `answered`: it has the answer. */
  moment: 'asked' | 'done' | 'answered'
}

export interface Gate {
  /** Addresses by the names of the servers behind. */
  urls: Record<string, string>
  /** Called at each moment of each request; the request waits for it. */
  watch(watcher: (passing: Passing) => unknown): void
  /** Requests so far. */
  count(): number
  close(): Promise<void>
}

/**
 * Stands between one process and the servers it asks, so that a test can hold a request, kill or freeze the process
 * at an exact moment, or cut a connection, whatever the servers are. A request whose asker is gone is not passed on.
 */
export async function openGate(servers: Record<string, string>): Promise<Gate> {
  let watcher: (passing: Passing) => unknown = () => {}
  let count = 0
  const opened: http.Server[] = []
  const urls: Record<string, string> = {}
  for (const [to, target] of Object.entries(servers)) {
    const server = http.createServer((request, response) => {
      const n = count++
      const tell = (moment: Passing['moment']) => watcher({ n, to, method: request.method ?? '', moment })
      pass(target, request, response, tell).catch(() => response.destroy())
    })
    opened.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    urls[to] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  return {
    urls,
    watch(next) {
      watcher = next
    },
    count: () => count,
    async close() {
      for (const server of opened) {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
      }
    },
  }
}

async function pass(
  target: string,
  request: http.IncomingMessage,
  response: http.ServerResponse,
  tell: (moment: Passing['moment']) => unknown,
): Promise<void> {
  const body = await bytes(request)
  await tell('asked')
  if (response.destroyed || request.socket.destroyed) return
  const answer = await forward(target, request, body)
  const text = await bytes(answer)
  await tell('done')
  response.writeHead(answer.statusCode ?? 500, answer.headers)
  await new Promise<void>((resolve) => {
    response.once('close', resolve)
    response.end(text, resolve)
  })
  await tell('answered')
}

/** With the headers as they came: the Host is part of what S3 clients sign. */
function forward(target: string, request: http.IncomingMessage, body: Buffer): Promise<http.IncomingMessage> {
  const { hostname, port } = new URL(target)
  const { method, url, headers } = request
  return new Promise((resolve, reject) => {
    const onward = http.request({ hostname, port, method, path: url, headers, agent: false }, resolve)
    onward.once('error', reject)
    onward.end(body)
  })
}

async function bytes(stream: http.IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
