import { createServer, request } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'

export interface TestProxy {
  /** `http://127.0.0.1:port`. */
  url: string
  /** What it was asked for: `GET http://push.corp.example/message`, `CONNECT s3.corp.example:443`. */
  asked: string[]
  close(): Promise<void>
}

/**
 * A forward proxy as companies run them: it alone knows where names lead.
 * @param names host → `host:port` of the real server.
 * @param options.user it wants: `user:password`. @param options.refuse the status that it answers everything with.
 */
export async function openProxy(
  names: Readonly<Record<string, string>>,
  options: { user?: string; refuse?: number } = {},
): Promise<TestProxy> {
  const asked: string[] = []
  const expected = options.user && `Basic ${Buffer.from(options.user).toString('base64')}`
  const statusFor = (authorization: string | undefined) =>
    options.refuse ?? (expected && authorization !== expected ? 407 : undefined)
  const server = createServer((incoming, answer) => {
    asked.push(`${incoming.method} ${incoming.url}`)
    const refusal = statusFor(incoming.headers['proxy-authorization'])
    const target = new URL(incoming.url ?? '/', 'http://none.invalid')
    const real = names[target.host]
    if (refusal !== undefined || real === undefined) {
      answer.writeHead(refusal ?? 502, { 'content-type': 'text/html' })
      answer.end('<html><title>Squid: access denied</title></html>')
      return
    }
    const [host, port] = real.split(':')
    const { 'proxy-authorization': _, ...headers } = incoming.headers
    const onward = request(
      { host, port, path: target.pathname + target.search, method: incoming.method, headers },
      (response) => {
        answer.writeHead(response.statusCode ?? 500, response.headers)
        response.pipe(answer)
      },
    )
    incoming.pipe(onward)
  })
  const sockets = new Set<Socket>()
  server.on('connect', (incoming, socket: Socket) => {
    asked.push(`CONNECT ${incoming.url}`)
    const real = names[incoming.url ?? '']
    const refusal = statusFor(incoming.headers['proxy-authorization'])
    if (refusal !== undefined || real === undefined) {
      socket.end(`HTTP/1.1 ${refusal ?? 502} Refused\r\ncontent-length: 0\r\n\r\n`)
      return
    }
    const [host = '', port] = real.split(':')
    const onward = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      onward.pipe(socket).pipe(onward)
    })
    sockets.add(onward).add(socket)
    for (const one of [onward, socket]) one.on('error', () => socket.destroy())
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () =>
      new Promise((done) => {
        for (const socket of sockets) socket.destroy()
        server.closeAllConnections()
        server.close(() => done())
      }),
  }
}
