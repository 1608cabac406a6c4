import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'

/** Adds the variables of a file to the environment; what the environment has already is kept. A missing file is none. */
export function loadEnvFile(path: string): void {
  if (!existsSync(path)) return
  for (const [name, value] of Object.entries(parseEnv(readFileSync(path, 'utf8')))) {
    if (process.env[name] === undefined && value !== undefined) process.env[name] = value
  }
}
