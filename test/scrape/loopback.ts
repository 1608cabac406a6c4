import http from 'node:http'
import net from 'node:net'
import { afterEach } from 'vitest'

/** A real server on a free port of 127.0.0.1, for what a connection does. Closed after the test. */
export interface Loopback {
  /** Without a trailing slash. */
  url: string
  port: number
  /** Requests as they came, in order. */
  requests: http.IncomingMessage[]
  /** Connections that were opened so far, and those that are open now. */
  opened(): number
  open(): number
}

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

export async function serve(handler: http.RequestListener): Promise<Loopback> {
  const requests: http.IncomingMessage[] = []
  const server = http.createServer((request, response) => {
    requests.push(request)
    handler(request, response)
  })
  return { ...(await listen(server)), requests }
}

/** Below HTTP: each connection is handed over as it is. */
export async function serveRaw(handler: (socket: net.Socket) => void): Promise<Omit<Loopback, 'requests'>> {
  return listen(net.createServer(handler))
}

/** The address of a port where nothing listens any more. */
export async function deafUrl(): Promise<string> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as net.AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}`
}

async function listen(server: net.Server): Promise<Omit<Loopback, 'requests'>> {
  const open = new Set<net.Socket>()
  let opened = 0
  server.on('connection', (socket) => {
    opened += 1
    open.add(socket)
    socket.on('error', () => {}).on('close', () => open.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  closers.push(async () => {
    for (const socket of open) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as net.AddressInfo
  return { url: `http://127.0.0.1:${port}`, port, opened: () => opened, open: () => open.size }
}
