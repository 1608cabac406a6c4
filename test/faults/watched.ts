import { serveOnLoopback } from '../../tools/simulator/loopback.ts'
import { vllm } from '../stories/pages.ts'

/** A vLLM server whose queue is as long as the test says; its counters go on with every look at it. */
export interface Watched {
  url: string
  /** Requests waiting; `hang`: it accepts and never answers. */
  waiting: number | 'hang'
  /** Seconds that it has been running, as its counters show. */
  seconds: number
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
    const text = vllm({ waiting, running: 4, finished: watched.seconds + looks, tokens: watched.seconds * 100 + looks })
    setTimeout(() => {
      response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' })
      response.end(text)
    }, watched.delay())
  })
  const watched: Watched = {
    url: server.url,
    waiting: 1,
    seconds: 0,
    delay: () => 0,
    looks: () => looks,
    close: server.close,
  }
  return watched
}
