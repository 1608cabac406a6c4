import { existsSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type ModelSize, tinyModel } from '../../llm/model.ts'
import { answers } from '../answers.ts'
import { installPython } from '../python.ts'
import { folder, freePort, type Program, start } from '../scratch.ts'

/** llama.cpp's own server. Its packages hold a library (this one) or a program for GPUs and newer processors. */
export function installLlamaServer(): string {
  return join(installPython('llama-server'), 'python')
}

/** Some 100 and 400 MB: a request takes about a second, a long prompt a minute. */
const MODELS: Record<'quick' | 'medium' | 'slow', ModelSize> = {
  quick: { width: 64, feedForward: 160, layers: 2, context: 4_096 },
  medium: { width: 512, feedForward: 1_408, layers: 8, context: 8_192 },
  slow: { width: 1_024, feedForward: 2_816, layers: 8, context: 16_384 },
}
export type ModelName = keyof typeof MODELS

export function modelFile(name: ModelName): string {
  const file = join(folder('models'), `${name}.gguf`)
  if (!existsSync(file)) writeFileSync(file, tinyModel(1, MODELS[name]))
  return file
}

export interface LlamaServer {
  url: string
  port: number
  program: Program
}

export interface LlamaOptions {
  port?: number
  key?: string
  alias?: string
  slots?: number
  /** Reads the whole model once more before it serves. */
  checks?: boolean
  /** false: does not wait until it has loaded. */
  ready?: boolean
}

export async function startLlamaServer(model: ModelName, options: LlamaOptions = {}): Promise<LlamaServer> {
  const { port = await freePort(), key, alias = null, slots = 2, checks = false, ready = true } = options
  const context = MODELS[model].context
  const wanted = { model: modelFile(model), port, slots, context, keys: key ? [key] : [], checks, alias }
  const program = start({
    name: 'llama-server',
    command: installLlamaServer(),
    args: [resolve('test/real/servers/llama_server.py'), JSON.stringify(wanted)],
  })
  const url = `http://127.0.0.1:${port}`
  if (ready) await answers('llama-server', program, `${url}/health`)
  return { url, port, program }
}
