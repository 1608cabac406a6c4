import { canaries } from '../../src/canary/canary.ts'
import { openDispatcher } from '../../src/http/connections.ts'
import type { Clock } from './clock.ts'
import { type OllamaServer, openOllama } from './ollama.ts'
import { bar, type Story } from './story.ts'

const MODEL = 'llama3.1:8b'
const OTHER = 'codellama:7b'
/** Milliseconds of loading the model from disk. */
const LOAD = 38_000
/** A request of a script: a long document, milliseconds. */
const DOCUMENT = 6_000
/** Longer than the rule's limit: this load would fire, were it taken for waiting. Seconds. */
const COLD_FROM = 30

/** What happens at a minute, and what a person would say about it. */
const TURNS: Readonly<Record<number, string>> = {
  0: 'an ordinary day: a chat now and then, the model is in memory',
  3: `somebody asks for ${OTHER}: our model is pushed out and has to be loaded again`,
  6: 'a script sends long documents, 6 s each, faster than they can be computed',
  9: 'it is over: chats again',
}

/** Requests that are in front of the canary: `times` of them, milliseconds each. */
function inFront(minute: number): [ms: number, times: number] {
  if (minute >= 6 && minute < 9) return [DOCUMENT, minute - 4]
  return [200 + ((minute * 137) % 300), 1]
}

/** An Ollama whose model is pushed out of memory and loaded again, which is no queue; then there is one. */
export function ollamaStory(): Story {
  let server: OllamaServer | undefined
  let stopwatch: Clock['now'] = () => 0
  return {
    backend: 'ollama',
    introduction: [
      `A simulated Ollama (one request at once), asked for one token of ${MODEL} once a minute: the canary.`,
      'Its time is split by what the server says of itself: what is neither loading nor computing was waiting.',
    ],
    async open(clock) {
      stopwatch = clock.now
      const model = { loadMs: LOAD, prefillMs: 120, tokenMs: 30 }
      server = await openOllama({ models: { [MODEL]: model, [OTHER]: model } }, clock)
      server.load(MODEL)
      return server
    },
    minutes: 20,
    turn: (minute) => TURNS[minute],
    arrive(minute) {
      if (minute === 3) return server?.load(OTHER)
      server?.occupy(MODEL, ...inFront(minute))
    },
    async observe(config, io, { now, deadline, runId }) {
      const connections = openDispatcher()
      const timeLeft = deadline - io.now()
      const signal = new AbortController().signal
      const { dispatcher } = connections
      try {
        const options = { backend: 'ollama', canary: config.canary, clock: stopwatch, runId, dispatcher } as const
        return await canaries(config.endpoints, { ...options, signal, timeLeft, now })
      } finally {
        await connections.close()
      }
    },
    environment: (url) => ({
      OLLAMA_URL: url,
      OLLAMA_MODEL: MODEL,
      CANARY_LOAD: 'yes',
      // It has to fit into the minute between two runs, or the load is not begun.
      CANARY_LOAD_TIMEOUT: '50s',
    }),
    lacks(results) {
      const cold = results.filter(({ signals }) => (signals.canary_load ?? 0) >= COLD_FROM)
      if (cold.length === 0) return 'a cold load'
      if (cold.some(({ alerts }) => Object.keys(alerts).length > 0)) return 'a cold load without an alert'
      return results.some(({ alerts }) => alerts.canary === 'firing') ? undefined : 'a queue that alerts'
    },
    columns: [
      { title: 'total', width: 8, cell: ({ signals }) => seconds(signals.canary_total) },
      { title: 'loading', width: 8, cell: ({ signals }) => seconds(signals.canary_load) },
      {
        title: 'computing',
        width: 9,
        cell: ({ signals }) => seconds(sum(signals.canary_prefill, signals.canary_decode)),
      },
      { title: 'waiting', width: 8, cell: ({ signals }) => seconds(signals.canary_wait) },
      { title: 'alert', width: 8, cell: ({ alerts }) => alerts.canary ?? Object.values(alerts)[0] ?? 'ok' },
      { title: 'waiting', width: 0, cell: ({ signals }) => bar(signals.canary_wait, 2) },
    ],
  }
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : a + b
}

function seconds(value: number | undefined): string {
  return value === undefined ? '–' : `${value.toFixed(1)} s`
}
