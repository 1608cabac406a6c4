import { vi } from 'vitest'

/*
 * Before each test file: the process as the first one found it. Files share a worker (vitest.config.ts), and some set
 * variables, read a `.env` or change the folder.
 */
interface Found {
  env: NodeJS.ProcessEnv
  folder: string
}
const shared = globalThis as { queuebellFound?: Found }
vi.unstubAllEnvs()
vi.restoreAllMocks()
vi.useRealTimers()
shared.queuebellFound ??= { env: { ...process.env }, folder: process.cwd() }
const { env, folder } = shared.queuebellFound
for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name]
Object.assign(process.env, env)
process.chdir(folder)
