import type { IncomingMessage } from 'node:http'
import { serveOnLoopback } from '../../tools/simulator/loopback.ts'

export interface Asked {
  path: string
  headers: IncomingMessage['headers']
  body: string
}

/** How a server answers; each repeats all that it was asked with. */
export type Way = 'json' | 'html' | 'text' | 'page' | 'elsewhere' | 'cut' | 'ok'

/** A server that repeats address, headers and body of each request in what it says. */
export async function openEcho(status: number, way: Way) {
  const asked: Asked[] = []
  const server = await serveOnLoopback(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const one = { path: request.url ?? '', headers: request.headers, body }
    asked.push(one)
    const echo = `asked ${one.path} with ${Object.values(one.headers).join(' ')} ${body}`
    const location = `http://127.0.0.1:9${one.path}`
    if (way === 'cut') {
      response.writeHead(200, { 'content-length': 99_999 })
      response.write(echo)
      return void setTimeout(() => response.destroy(), 20)
    }
    const type = { json: 'application/json', html: 'text/html', ok: 'application/json' }[way as string] ?? 'text/plain'
    response.writeHead(status, { 'content-type': type, ...(way === 'elsewhere' ? { location } : {}) })
    response.end(textOf(way, echo))
  })
  return { ...server, asked }
}

function textOf(way: Way, echo: string): string {
  switch (way) {
    case 'json':
      return JSON.stringify({ error: { message: echo } })
    case 'html':
      return `<html><title>${echo}</title></html>`
    case 'page': // good metrics, whose labels repeat what was asked
      return `vllm:num_requests_waiting{model_name=${JSON.stringify(echo)}} 42\nvllm:num_requests_running{model_name="m"} 4\nvllm:kv_cache_usage_perc{model_name="m"} 0.1\n`
    case 'ok':
      return '{"id":1}'
    case 'text':
    case 'elsewhere':
    case 'cut':
      return echo
    default:
      return way satisfies never
  }
}
