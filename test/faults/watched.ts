import { serveOnLoopback } from '../../src/simulator/loopback.ts'
import { vllm } from '../stories/pages.ts'

/** A vLLM server whose queue is as long as the test says; its counters go on with every look at it. */
export interface Watched {
  url: string
  /** Requests waiting; `hang`: it accepts and never answers. */
  waiting: number | 'hang'
  /** Milliseconds before each answer. */
  delay: () => number
  looks(): number
  close(): Promise<void>
}

export async function openWatched(): Promise<Watched> {
  let looks = 0
  const server = await serveOnLoopback((_, response) => {
    looks += 1
    const { waiting } = watched
    if (waiting === 'hang') return
    const text = vllm({ waiting, running: 4, finished: looks * 10, tokens: looks * 1_000 })
    setTimeout(() => {
      response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' })
      response.end(text)
    }, watched.delay())
  })
  const watched: Watched = { url: server.url, waiting: 1, delay: () => 0, looks: () => looks, close: server.close }
  return watched
}
