import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { TABLES } from '../src/backends/backends.ts'
import { planOf } from '../src/scrape/wanted.ts'
import { startS3 } from '../test/store/s3-server.ts'
import { vllmBody, vllmBodyOf } from './body.ts'

/** What the process of the servers says when it listens. */
export interface Listening {
  port: number
  s3: string
  bucket: string
}

/** Asked to serve the next minute, to count, or to begin anew: with another page, and nothing in S3. */
export type Order = 'next' | 'count' | { kilobytes: number | undefined }

/** What it says to each: how many requests S3 saw since it was last asked to count, and the size of the state. */
export interface Counted {
  requests: number
  stateBytes: number
}

/**
 * A process of its own, so that its work counts for nobody: it answers on every loopback address, so that a thousand
 * endpoints are a thousand origins, and plays S3. `/hang/…` is never answered. All counters rise from round to round.
 */
let first = vllmBody()
const s3 = await startS3()
let round = 0
let body = Buffer.from(first)

const server = http.createServer((request, response) => {
  if (request.url?.startsWith('/hang')) return
  response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4', 'content-length': body.length }).end(body)
})
server.listen({ port: 0, host: '0.0.0.0', backlog: 4096 }, () => {
  const { port } = server.address() as AddressInfo
  const listening: Listening = { port, s3: s3.endpoint, bucket: s3.bucket }
  process.send?.(listening)
})

process.on('message', (order: Order) => {
  if (order === 'next') body = Buffer.from(atRound(first, ++round))
  if (typeof order === 'object') {
    const { kilobytes } = order
    first = kilobytes === undefined ? vllmBody() : vllmBodyOf(kilobytes, (name) => planOf(TABLES.vllm).names.has(name))
    s3.objects.clear()
  }
  const { GET, HEAD, PUT, LIST } = s3.requests
  const state = s3.objects.get('queuebell/vllm.json')?.text ?? ''
  const counted: Counted = { requests: GET + HEAD + PUT + LIST, stateBytes: Buffer.byteLength(state) }
  if (order === 'count') Object.assign(s3.requests, { GET: 0, HEAD: 0, PUT: 0, LIST: 0 })
  process.send?.(counted)
})

/** The page some rounds later: a thousand more of everything in each, all of it quick; gauges as they were. */
function atRound(body: string, n: number): string {
  return body.replace(/^(vllm:\S+_(total|bucket|count|sum)\{.*\}) (\S+)$/gm, (_, series, kind, value) => {
    return `${series} ${Number(value) + n * (kind === 'sum' ? 0.5 : 1_000)}`
  })
}
