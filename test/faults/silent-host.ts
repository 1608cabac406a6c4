import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'

export interface SilentHost {
  url: string
  close(): Promise<void>
}

/** Accepts connections, reads what comes, and never answers. */
export async function openDeafHost(): Promise<SilentHost> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    socket.resume()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const LISTENER = `
const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  process.stdout.write(server.address().port + '\\n')
})`

/**
 * Drops packets, as a network without a way out does: the listening process is stopped and its queue of connections is
 * full, so that the kernel lets the first packet of any other go unanswered.
 */
export async function openDroppingHost(): Promise<SilentHost> {
  const listener: ChildProcess = spawn(process.execPath, ['-e', LISTENER], { stdio: ['ignore', 'pipe', 'inherit'] })
  if (!listener.stdout) throw new Error('no output')
  const [port] = await once(createInterface({ input: listener.stdout }), 'line')
  listener.kill('SIGSTOP')
  const fillers = Array.from({ length: 8 }, () => connect(Number(port), '127.0.0.1').on('error', () => {}))
  await new Promise((resolve) => setTimeout(resolve, 100)) // until the queue is full
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      for (const filler of fillers) filler.destroy()
      listener.kill('SIGKILL')
    },
  }
}
