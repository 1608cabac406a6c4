/**
 * Plays a story against one bundle, as a plain Node process with environment variables alone: servers that answer
 * what the story says, a push inbox, a clock that the story sets and that scripted servers move on. Reads
 * `{ bundle, receiver, variable, endpoints, env, runs, start, remaining }` as JSON from standard input and writes
 * `{ pushes, results, asked }`.
 */
import { readdirSync, statSync, utimesSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as realTime } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

const story = JSON.parse(await text(process.stdin))
const pushes = []
const asked = []
let minute = 0

const inbox = createServer(async (request, response) => {
  const { title, message, priority } = JSON.parse(await text(request))
  pushes.push({ minute, title, message, priority })
  response.setHeader('content-type', 'application/json')
  response.end('{"id":1}')
})
const inboxPort = await listen(inbox, 0)

const servers = new Map()
for (const name of story.endpoints) {
  const endpoint = {
    served: '',
    port: 0,
    server: createServer((request, response) => serve(endpoint.served, request, response)),
  }
  endpoint.port = await listen(endpoint.server, 0)
  servers.set(name, endpoint)
}

if (servers.size > 0)
  process.env[story.variable] = [...servers].map(([name, { port }]) => `${name}=http://127.0.0.1:${port}`).join(' ')
process.env.NOTIFLY_URL = `http://127.0.0.1:${inboxPort}`
process.env.NOTIFLY_TOKEN = 'token'
process.env.LOG_LEVEL = 'silent'
Object.assign(process.env, story.env)

let now = 0
let stopwatch = 1_000
Date.now = () => now
performance.now = () => stopwatch
const { handler } = await import(pathToFileURL(story.bundle).href)
const receiver = story.receiver && (await import(pathToFileURL(story.receiver).href))
const context = story.remaining === undefined ? undefined : { getRemainingTimeInMillis: () => story.remaining }
const results = []
for (const run of story.runs) {
  minute = run.minute
  now = story.start + minute * 60_000
  for (const [name, endpoint] of servers) await set(endpoint, run.served[name])
  for (const beat of run.beats ?? []) await send(beat)
  try {
    const { body } = await handler({ time: new Date(now).toISOString() }, context)
    results.push({ minute, ...JSON.parse(body) })
  } catch (error) {
    results.push({ minute, error: String(error) })
  }
}
console.log(JSON.stringify({ pushes, results, asked }))
process.exit(0)

function serve(served, request, response) {
  if (served.routes) {
    play(served.routes, request, response).catch(() => response.destroy())
    return
  }
  if (typeof served === 'string') {
    response.setHeader('content-type', 'text/plain; version=0.0.4')
    response.end(served)
    return
  }
  response.statusCode = served.status
  response.setHeader('content-type', served.type ?? 'application/json')
  response.end(served.body ?? '')
}

async function play(routes, request, response) {
  const route = `${request.method} ${request.url}`
  const seen = { minute, route, id: request.headers['x-request-id'], body: await text(request), left: false }
  asked.push(seen)
  response.once('close', () => {
    seen.left = !response.writableFinished
  })
  const reply = routes[route] ?? { status: 404, type: 'text/plain', body: '404 page not found' }
  now += reply.ms ?? 0
  stopwatch += reply.ms ?? 0
  if (reply.realMs) await realTime(reply.realMs)
  if (reply.instead === 'hang') return
  response.writeHead(reply.status ?? 200, { 'content-type': reply.type ?? 'application/json' })
  if (reply.instead === 'park') {
    const timer = setInterval(() => response.write(': keep-alive\n\n'), 20)
    response.once('close', () => clearInterval(timer))
    return
  }
  response.end(reply.body ?? '')
}

/** A beat through the receiver's bundle. The folder stamps it with the machine's time: what it wrote is set to the story's. */
async function send({ path, body }) {
  const answer = await receiver.handler({
    requestContext: { http: { method: 'POST' } },
    rawPath: path,
    rawQueryString: '',
    headers: { authorization: `Bearer ${process.env.HEARTBEAT_TOKEN}` },
    body: body ?? '',
    isBase64Encoded: false,
  })
  if (answer.statusCode !== 204) throw new Error(`${path}: ${answer.statusCode} ${answer.body}`)
  const folder = join(process.env.STATE_DIR, 'beats')
  for (const name of readdirSync(folder)) {
    const file = join(folder, name)
    // The story's years lie well before the machine's, unless the machine's clock is wrong.
    if (statSync(file).mtimeMs > story.start + 86_400_000) utimesSync(file, now / 1_000, now / 1_000)
  }
}

/** A server that is to refuse connections does not listen; it listens again on its old port. */
async function set(endpoint, served) {
  endpoint.served = served
  const { server } = endpoint
  if (served === 'refused' && server.listening) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  if (served !== 'refused' && !server.listening) await listen(server, endpoint.port)
}

async function listen(server, port) {
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve))
  return server.address().port
}
