import { canaries } from '../../src/canary/canary.ts'
import { parseConfig } from '../../src/config/parse.ts'
import { openDispatcher } from '../../src/http/connections.ts'
import type { Backend } from '../../src/model/backend.ts'
import type { IO } from '../../src/model/io.ts'
import type { EndpointResult } from '../../src/model/result.ts'
import { NETWORK, type Network, run } from '../../src/run.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import type { Clock } from '../../tools/simulator/clock.ts'

export interface Looked {
  result: EndpointResult | undefined
  /** Titles and bodies that were told. */
  told: readonly string[]
}

/** Runs against a simulated server on its clock, by which the canary's stopwatch goes too: no time really passes. */
export function watcherOn(clock: Clock, backend: Backend, env: Record<string, string>): () => Promise<Looked> {
  const parsed = parseConfig(backend, { ...env, STATE_DIR: 'nowhere' }, { lambda: false })
  if ('problems' in parsed) throw new Error(parsed.problems.join('\n'))
  const quiet = () => {}
  const io: IO = {
    now: clock.now,
    sleep: async () => {},
    store: createMemoryStore(clock.now),
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    runId: () => `run-${clock.now()}`,
    print: quiet,
  }
  const { dispatcher } = openDispatcher()
  const signal = new AbortController().signal
  const observe: Network['observe'] = (config, _, { now, runId, memoryOf }) =>
    canaries(config.endpoints, {
      backend: backend as 'ollama' | 'openai',
      canary: config.canary,
      clock: clock.now,
      runId,
      dispatcher,
      signal,
      timeLeft: 60_000,
      now,
      ...(memoryOf && { memoryOf }),
    })
  return async () => {
    const network: Network = { ...NETWORK, observe }
    const { result, messages } = await run({ config: parsed.config, io, network, deadline: clock.now() + 180_000 })
    return { result: result.endpoints[0], told: messages.map(({ title, body }) => `${title}\n${body}`) }
  }
}
