import type { IncomingMessage, ServerResponse } from 'node:http'
import { wholeModelName } from '../../src/canary/address.ts'
import { type Asked, answerJson, type CanaryFault, readAsked, sendStream } from './asked-server.ts'
import type { Clock } from './clock.ts'
import { type Loopback, serveOnLoopback } from './loopback.ts'
import { createSlots, type Slots } from './slots.ts'

/** One model on the server's disk. Milliseconds. */
export interface OllamaModel {
  loadMs: number
  prefillMs: number
  tokenMs: number
  /** Share of it that fits into GPU memory. */
  vramShare?: number
  /** What it answers (a greeting). */
  says?: string
  /** Its first tokens are thoughts, not text. */
  thinks?: boolean
  /** It, or an old server, refuses the `think` setting. */
  refusesThink?: boolean
}

export interface OllamaSettings {
  models: Record<string, OllamaModel>
  /** `OLLAMA_NUM_PARALLEL` (1). */
  parallel?: number
  /** `OLLAMA_MAX_QUEUE` (512): limits what waits for a load, not what waits for a loaded model. */
  maxQueue?: number
  /** `OLLAMA_KEEP_ALIVE`, milliseconds (5 min). */
  keepAlive?: number
  /** `OLLAMA_MAX_LOADED_MODELS` (1). */
  maxLoaded?: number
  /** `OLLAMA_CONTEXT_LENGTH`: what a request asks for that names none (4096). */
  contextLength?: number
}

export interface OllamaServer extends Loopback {
  /** Every request so far, oldest first. */
  asked: readonly Asked[]
  /** Requests of users: `times` of them, each computing for `ms`; the model is loaded at once if it is not. */
  occupy(model: string, ms: number, times?: number): void
  /** Loaded by somebody, at once, with a context of their own. */
  load(model: string, contextLength?: number): void
  /** Something became of a model on the disk: it answers otherwise, or at another speed, from the next request on. */
  change(model: string, to: Partial<OllamaModel>): void
  unload(model: string): void
  loaded(): string[]
  /** The next `times` generations meet this fault; once, when it is not said. */
  meet(fault: CanaryFault, times?: number): void
}

interface Loaded {
  slots: Slots
  contextLength: number
  /** When the last of its requests ends or ended. */
  lastUsed: number
}

const GIB = 1024 ** 3

/**
 * An Ollama on loopback as a canary sees it: models that are loaded, unloaded when idle and pushed out by others, a
 * queue in front of each, and the durations that the server tells of them. On a clock of the demo's or a test's, no
 * time really passes.
 */
export async function openOllama(settings: OllamaSettings, clock: Clock): Promise<OllamaServer> {
  const asked: Asked[] = []
  const faults: CanaryFault[] = []
  const memory = createMemory(settings, clock)

  async function generate(request: Asked, response: ServerResponse): Promise<void> {
    const fault = faults.shift()
    if (fault?.kind === 'status') return answerJson(response, fault.status, fault.body ?? '', fault.headers)
    if (fault?.kind === 'hang') return
    const name = wholeModelName(String(request.body.model))
    const model = memory.find(name)
    if (!model) return answerJson(response, 404, { error: `model '${String(request.body.model)}' not found` })
    if (model.refusesThink && 'think' in request.body) {
      return answerJson(response, 400, { error: `"${name}" does not support thinking` })
    }
    if (memory.isFull(name)) {
      return answerJson(response, 503, { error: 'server busy, please try again.  maximum pending requests exceeded' })
    }
    const { num_ctx: context, num_predict: tokens } = (request.body.options ?? {}) as Record<string, number | undefined>
    const phases = memory.compute(name, context, tokens ?? 1)
    await clock.sleep(phases.total)
    await stream(response, name, model, phases, fault)
  }

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readAsked(incoming)
    asked.push(request)
    switch (`${request.method} ${request.path}`) {
      case 'GET /':
        response.end('Ollama is running')
        return
      case 'GET /api/version':
        return answerJson(response, 200, { version: '0.12.6' })
      case 'GET /api/ps':
        return answerJson(response, 200, { models: memory.ps() })
      case 'GET /api/tags':
        return answerJson(response, 200, { models: memory.tags() })
      case 'POST /api/generate':
        return generate(request, response)
      default:
        response.writeHead(404, { 'content-type': 'text/plain' })
        response.end('404 page not found')
    }
  }

  const server = await serveOnLoopback((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  return {
    ...server,
    asked,
    occupy: (model, ms, times = 1) => memory.occupy(wholeModelName(model), ms, times),
    load: (model, contextLength) => memory.load(wholeModelName(model), contextLength),
    change: (model, to) => memory.change(wholeModelName(model), to),
    unload: (model) => memory.unload(wholeModelName(model)),
    loaded: () => memory.ps().map(({ name }) => name),
    meet(fault, times = 1) {
      for (let time = 0; time < times; time += 1) faults.push(fault)
    },
  }
}

/** Milliseconds of one generation, as the server books them: the wait for a place is in none of its durations. */
interface Computed {
  total: number
  load: number
  prefill: number
  decode: number
  tokens: number
}

async function stream(
  response: ServerResponse,
  name: string,
  model: OllamaModel,
  phases: Computed,
  fault: CanaryFault | undefined,
): Promise<void> {
  const part =
    model.says !== undefined
      ? { response: model.says }
      : model.thinks
        ? { response: '', thinking: 'Hm — é' }
        : { response: 'Grüß' }
  const frame = { model: name, created_at: new Date(0).toISOString() }
  const nanoseconds = (ms: number) => Math.round(ms * 1e6)
  const final = {
    ...frame,
    response: '',
    done: true,
    done_reason: 'length',
    total_duration: nanoseconds(phases.total),
    // What is zero is left out, as Go's omitempty does.
    ...(phases.load > 0 ? { load_duration: nanoseconds(phases.load) } : {}),
    prompt_eval_count: 10,
    ...(phases.prefill > 0 ? { prompt_eval_duration: nanoseconds(phases.prefill) } : {}),
    eval_count: phases.tokens,
    ...(phases.decode > 0 ? { eval_duration: nanoseconds(phases.decode) } : {}),
  }
  const first = `${JSON.stringify({ ...frame, ...part, done: false })}\n`
  if (fault?.kind === 'stall') {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    response.flushHeaders()
    return
  }
  const last = fault?.kind === 'error' ? { error: fault.words } : fault?.kind === 'unfinished' ? undefined : final
  const text = `${first}${last === undefined ? '' : `${JSON.stringify(last)}\n`}`
  await sendStream(response, 'application/x-ndjson', text, fault?.kind === 'cut' ? 'cut' : 'whole')
}

/** Which models are loaded, and what a request to one of them costs. */
function createMemory(settings: OllamaSettings, clock: Clock) {
  const { parallel = 1, maxQueue = 512, keepAlive = 300_000, maxLoaded = 1, contextLength = 4_096 } = settings
  const models = new Map(Object.entries(settings.models).map(([name, model]) => [wholeModelName(name), model]))
  const loaded = new Map<string, Loaded>()

  function sweep(): void {
    for (const [name, { lastUsed }] of loaded) if (clock.now() - lastUsed >= keepAlive) loaded.delete(name)
  }

  function load(name: string, context: number = contextLength): Loaded {
    loaded.delete(name)
    while (loaded.size >= maxLoaded) loaded.delete([...loaded.keys()][0] ?? '')
    const entry = { slots: createSlots(parallel), contextLength: context, lastUsed: clock.now() }
    loaded.set(name, entry)
    return entry
  }

  /** When the memory is free for a model that is not loaded: what runs in it is not interrupted. */
  function freeFrom(name: string, now: number): number {
    const inTheWay = loaded.has(name) || loaded.size >= maxLoaded ? [...loaded.values()] : []
    return Math.max(now, ...inTheWay.map(({ slots }) => slots.idleFrom(now)))
  }

  return {
    find: (name: string) => models.get(name),
    load: (name: string, context?: number) => void load(name, context),
    change(name: string, to: Partial<OllamaModel>): void {
      const model = models.get(name)
      if (model) models.set(name, { ...model, ...to })
    },
    unload: (name: string) => void loaded.delete(name),
    occupy(name: string, ms: number, times: number): void {
      sweep()
      const entry = loaded.get(name) ?? load(name)
      for (let time = 0; time < times; time += 1) {
        entry.lastUsed = Math.max(entry.lastUsed, entry.slots.enter(clock.now(), ms).ended)
      }
    },
    /** The scheduler's queue is full: it holds what waits for a load, while others compute. */
    isFull(name: string): boolean {
      sweep()
      const waiting = [...loaded.values()].reduce((sum, { slots }) => sum + slots.waiting(clock.now()), 0)
      return !loaded.has(name) && waiting >= maxQueue
    },
    compute(name: string, context: number | undefined, tokens: number): Computed {
      sweep()
      const now = clock.now()
      const model = models.get(name) ?? { loadMs: 0, prefillMs: 0, tokenMs: 0 }
      const prefill = model.prefillMs
      const decode = model.tokenMs * tokens
      const present = loaded.get(name)
      // Asking for another context than the loaded one makes the server load the model anew.
      const fits = present !== undefined && present.contextLength === (context ?? contextLength)
      const readyAt = fits ? now : freeFrom(name, now) + model.loadMs
      const entry = fits ? present : load(name, context)
      const job = entry.slots.enter(now, prefill + decode, readyAt)
      entry.lastUsed = Math.max(entry.lastUsed, job.ended)
      return { total: job.ended - now, load: readyAt - now, prefill, decode, tokens }
    },
    tags: () => [...models].map(([name]) => ({ name, model: name, size: 4 * GIB })),
    ps() {
      sweep()
      return [...loaded].map(([name, entry]) => ({
        name,
        model: name,
        size: 4 * GIB,
        size_vram: Math.round(4 * GIB * (models.get(name)?.vramShare ?? 1)),
        expires_at: new Date(entry.lastUsed + keepAlive).toISOString(),
        context_length: entry.contextLength,
      }))
    },
  }
}
