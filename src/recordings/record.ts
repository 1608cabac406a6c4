import { join } from 'node:path'
import { createMask } from '../log.ts'
import type { Config, Endpoint } from '../model/config.ts'
import { defined } from '../model/defined.ts'
import type { IO } from '../model/io.ts'
import type { Observation } from '../model/observation.ts'
import { observe } from '../observe.ts'
import { type Network, type RunReport, run } from '../run.ts'
import { createMemoryStore } from '../store/memory.ts'
import { RECORDING_VERSION, type RecordingHead, type Scrape } from './entry.ts'
import { createScrub, type Scrub } from './personal.ts'
import { openWriter, type RecordingWriter } from './writer.ts'

export interface Recorder {
  /** One run that watches and remembers as any, tells nobody, and writes down what it saw. */
  once(deadline: number): Promise<RunReport>
  close(): Promise<void>
}

interface Body {
  server: Uint8Array[]
  gpu: Uint8Array[]
}

interface Open {
  day: string
  writer: RecordingWriter
}

/**
 * Records the endpoints of one function, those that its sources name too: a file an endpoint and day (UTC).
 * @param options.folder where the files go.
 * @param options.io the state is kept in memory and nothing is pushed, whatever it holds.
 */
export function createRecorder(options: { config: Config; io: IO; folder: string }): Recorder {
  const { folder } = options
  const config: Config = { ...options.config, channels: [], pingUrl: undefined }
  const store = createMemoryStore(options.io.now)
  // Workers' beats lie in the real store; everything that a run writes goes into memory.
  const io: IO = { ...options.io, store, print() {} }
  const hide = createMask(config.secrets)
  const scrubs = new Map<string, Scrub>()
  const open = new Map<string, Open>()

  const network: Network = {
    async observe(asked, given, asking) {
      const bodies = new Map<string, Body>()
      const onChunk = (endpoint: Endpoint, source: keyof Body, chunk: Uint8Array) => {
        const body = bodies.get(endpoint.name) ?? { server: [], gpu: [] }
        bodies.set(endpoint.name, body)
        body[source].push(Uint8Array.from(chunk))
      }
      const observations = await observe(asked, given, { ...asking, onChunk })
      await Promise.all(observations.map((one) => keep(one, bodies.get(one.endpoint.name), asking.now)))
      return observations
    },
    push: () => Promise.reject(new Error('a recorder pushes nothing')),
    ping: async () => {},
  }

  async function keep(observation: Observation, body: Body | undefined, at: number): Promise<void> {
    const { endpoint } = observation
    const scrub = scrubs.get(endpoint.name) ?? createScrub(hide, config.secrets)
    scrubs.set(endpoint.name, scrub)
    const writer = await writerOf(endpoint, at)
    await writer.write(scrapeOf(observation, body, at, scrub))
  }

  async function writerOf(endpoint: Endpoint, at: number): Promise<RecordingWriter> {
    const day = new Date(at).toISOString().slice(0, 10)
    const current = open.get(endpoint.name)
    if (current?.day === day) return current.writer
    await current?.writer.close()
    const path = join(folder, `${config.backend}.${endpoint.name.replaceAll('/', '.')}.${day}.qb`)
    const writer = await openWriter(path, headFor(config, endpoint))
    open.set(endpoint.name, { day, writer })
    return writer
  }

  return {
    once: (deadline) => run({ config, io, deadline, network }),
    async close() {
      await Promise.all([...open.values()].map(({ writer }) => writer.close()))
      open.clear()
    },
  }
}

function headFor({ backend }: Config, { name, model }: Endpoint): RecordingHead {
  return { version: RECORDING_VERSION, backend, endpoints: [{ name, ...defined({ model }) }] }
}

/** Of an answer that counts, the pages; of a failure its kind and words; of a canary, what it met. */
function scrapeOf(observation: Observation, body: Body | undefined, at: number, scrub: Scrub): Scrape {
  const { endpoint, took, up } = observation
  const head = { at, endpoint: endpoint.name, took: Number(took.toFixed(1)) }
  const gpu = observation.gpu && body && body.gpu.length > 0 ? { gpu: scrub(Buffer.concat(body.gpu)) } : {}
  const failure = up === false ? { failure: observation.failure } : {}
  if (observation.canary) {
    const { up, canary } = observation
    const readings = up ? { readings: observation.readings } : {}
    return { ...head, ...failure, answer: { up, canary, ...readings } }
  }
  if (up !== true) return { ...head, ...failure, ...gpu }
  return { ...head, page: scrub(Buffer.concat(body?.server ?? [])), ...gpu }
}
