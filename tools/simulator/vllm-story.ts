import type { Clock } from './clock.ts'
import { createEngine, type Engine } from './engine.ts'
import { serveOnLoopback } from './loopback.ts'
import { vllmPage } from './page.ts'
import { bar, type SimulatedServer, type Story } from './story.ts'

/** Requests a second from this minute on, and what a person would say about it. */
const LOAD: readonly (readonly [minute: number, arrivals: number, words: string])[] = [
  [0, 2, 'an ordinary day: 2 requests a second'],
  [11, 4.4, 'a campaign goes out: 4.4 requests a second, more than this GPU can do'],
  [14, 1.2, 'it is over: 1.2 requests a second'],
]

/** A vLLM server whose load rises above what its GPU can do, and falls again. */
export function vllmStory(seed = 7): Story {
  let engine: Engine | undefined
  return {
    backend: 'vllm',
    introduction: [
      'A simulated vLLM server (16 sequences at once, about 3.5 requests a second at most), watched once a minute.',
      'Each line is one run of the real function: scrape, judge, save, push. One second here is about a minute there.',
      'It has been watched for an hour already, so that it knows what is usual.',
    ],
    async open(clock) {
      engine = createEngine(clock.now(), { seed })
      return serveVllm(engine, clock)
    },
    past: 70,
    minutes: 40,
    turn(minute) {
      const change = LOAD.find(([at]) => at === minute)
      if (!change) return undefined
      engine?.change({ arrivals: change[1] })
      return change[2]
    },
    environment: (url) => ({
      VLLM_ENDPOINTS: `chat/a=${url}`,
      // Of a minute's few prompts the share of hits is chance.
      VLLM_PREFIX_HITS_LIMIT: 'off',
    }),
    columns: [
      { title: 'waiting', width: 7, cell: ({ signals }) => whole(signals.waiting) },
      { title: 'running', width: 7, cell: ({ signals }) => whole(signals.running) },
      { title: 'KV', width: 5, cell: ({ signals }) => percent(signals.kv_cache) },
      { title: 'p99 TTFT', width: 8, cell: ({ signals }) => seconds(signals.ttft_p99) },
      { title: 'tokens/s', width: 8, cell: ({ signals }) => whole(signals.tokens_per_second) },
      { title: 'alert', width: 8, cell: ({ alerts }) => alerts.waiting ?? 'ok' },
      { title: 'queue', width: 0, cell: ({ signals }) => bar(signals.waiting, 10) },
    ],
  }
}

/** The engine's page on loopback, played on to the clock's time at each request. */
export function serveVllm(engine: Engine, clock: Clock, port = 0): Promise<SimulatedServer> {
  return serveOnLoopback((request, response) => {
    engine.advance(clock.now())
    if (!engine.listening()) return void request.socket.destroy()
    if (request.url !== '/metrics') return void response.writeHead(404).end('{"detail":"Not Found"}')
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(vllmPage(engine))
  }, port)
}

const UNKNOWN = '–'

function whole(value: number | undefined): string {
  return value === undefined ? UNKNOWN : value.toFixed(0)
}

function percent(value: number | undefined): string {
  return value === undefined ? UNKNOWN : `${(value * 100).toFixed(0)} %`
}

function seconds(value: number | undefined): string {
  return value === undefined ? UNKNOWN : `${value.toFixed(1)} s`
}
