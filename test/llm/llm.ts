import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { tinyModel } from './model.ts'

const PACKAGE = resolve('test/llm/node_modules/node-llama-cpp/dist/index.js')
const CONTEXT = 2_048

/** Why the model cannot be run here; `undefined` when it can. */
export function whyNot(): string | undefined {
  if (process.env.QUEUEBELL_LLM !== '1') return 'QUEUEBELL_LLM=1 is not set'
  return existsSync(PACKAGE) ? undefined : 'its package is not installed: npm ci in test/llm (730 MB)'
}

/** What one request cost, in milliseconds: as the engine itself saw it. */
export interface Work {
  wait: number
  load: number
  prefill: number
  decode: number
  promptTokens: number
  tokens: number
}

/** A model in process that computes one request at a time, in the order in which they came. */
export interface LanguageModel {
  loaded(): boolean
  load(): Promise<void>
  unload(): Promise<void>
  /** @param onToken text of each token as it comes. @returns the text and what it cost. It loads the model if it must. */
  generate(prompt: string, limit: number, onToken?: (text: string) => void): Promise<{ text: string; work: Work }>
  /** Of every request so far. */
  done: readonly Work[]
  close(): Promise<void>
}

/** The part of node-llama-cpp's interface that is used here; the package is not there where types are checked. */
interface LlamaPackage {
  getLlama(options: object): Promise<{
    loadModel(options: { modelPath: string }): Promise<Model>
    dispose(): Promise<void>
  }>
}
interface Model {
  tokens: { bos: number }
  tokenize(text: string): number[]
  detokenize(tokens: readonly number[]): string
  createContext(options: object): Promise<{ getSequence(): Sequence }>
  dispose(): Promise<void>
}
interface Sequence {
  clearHistory(): Promise<void>
  evaluate(tokens: number[], options: object): AsyncIterable<number>
}

export async function openLanguageModel(): Promise<LanguageModel> {
  const { getLlama } = (await import(/* @vite-ignore */ pathToFileURL(PACKAGE).href)) as LlamaPackage
  // One thread: with more on a small machine the engine waits for itself.
  const llama = await getLlama({ gpu: false, maxThreads: 1, logLevel: 'error', build: 'never', skipDownload: true })
  const folder = mkdtempSync(join(tmpdir(), 'queuebell-llm-'))
  const modelPath = join(folder, 'tiny.gguf')
  writeFileSync(modelPath, tinyModel())
  const done: Work[] = []
  let present: { model: Model; sequence: Sequence } | undefined
  let turn: Promise<unknown> = Promise.resolve()

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = turn.then(work)
    turn = mine.catch(() => {})
    return mine
  }

  async function ready(): Promise<{ model: Model; sequence: Sequence }> {
    if (present) return present
    const model = await llama.loadModel({ modelPath })
    const context = await model.createContext({ contextSize: CONTEXT, threads: 1 })
    present = { model, sequence: context.getSequence() }
    return present
  }

  async function compute(prompt: string, limit: number, arrived: number, onToken: (text: string) => void) {
    const started = performance.now()
    const { model, sequence } = await ready()
    const loaded = performance.now()
    const asked = [model.tokens.bos, ...model.tokenize(prompt)]
    await sequence.clearHistory()
    const answered: number[] = []
    let first: number | undefined
    for await (const token of sequence.evaluate(asked, { temperature: 0 })) {
      first ??= performance.now()
      answered.push(token)
      onToken(model.detokenize([token]))
      if (answered.length >= limit) break
    }
    const ended = performance.now()
    const work: Work = {
      wait: started - arrived,
      load: loaded - started,
      prefill: (first ?? ended) - loaded,
      decode: ended - (first ?? ended),
      promptTokens: asked.length,
      tokens: answered.length,
    }
    done.push(work)
    return { text: model.detokenize(answered), work }
  }

  return {
    done,
    loaded: () => present !== undefined,
    load: () => inTurn(ready).then(() => {}),
    unload: () =>
      inTurn(async () => {
        await present?.model.dispose()
        present = undefined
      }),
    generate(prompt, limit, onToken = () => {}) {
      const arrived = performance.now()
      return inTurn(() => compute(prompt, limit, arrived, onToken))
    },
    async close() {
      await inTurn(() => llama.dispose())
      rmSync(folder, { recursive: true })
    },
  }
}
