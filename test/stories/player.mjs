/**
 * Plays a story against one bundle, as a plain Node process with environment variables alone: servers that answer
 * what the story says, a push inbox, a clock that the story sets. Reads `{ bundle, variable, endpoints, env, runs }`
 * as JSON from standard input and writes `{ pushes, results }`.
 */
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'

const story = JSON.parse(await text(process.stdin))
const pushes = []
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

process.env[story.variable] = [...servers].map(([name, { port }]) => `${name}=http://127.0.0.1:${port}`).join(' ')
process.env.NOTIFLY_URL = `http://127.0.0.1:${inboxPort}`
process.env.NOTIFLY_TOKEN = 'token'
process.env.LOG_LEVEL = 'silent'
Object.assign(process.env, story.env)

let now = 0
Date.now = () => now
const { handler } = await import(pathToFileURL(story.bundle).href)
const results = []
for (const run of story.runs) {
  minute = run.minute
  now = story.start + minute * 60_000
  for (const [name, endpoint] of servers) await set(endpoint, run.served[name])
  try {
    const { body } = await handler({ time: new Date(now).toISOString() })
    results.push(JSON.parse(body))
  } catch (error) {
    results.push({ error: String(error) })
  }
}
console.log(JSON.stringify({ pushes, results }))
process.exit(0)

function serve(served, _request, response) {
  if (typeof served === 'string') {
    response.setHeader('content-type', 'text/plain; version=0.0.4')
    response.end(served)
    return
  }
  response.statusCode = served.status
  response.setHeader('content-type', served.type ?? 'application/json')
  response.end(served.body ?? '')
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
