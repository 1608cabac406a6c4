import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { folder, runOnce, SCRATCH } from './scratch.ts'

/**
 * An environment of its own for one server, from `requirements/<name>.txt`: every package with its version, nothing
 * else is looked for.
 * @returns where its programs lie. @throws with what pip said.
 */
export function installPython(name: string): string {
  const requirements = resolve('test/real/requirements', `${name}.txt`)
  const hash = createHash('sha256').update(readFileSync(requirements)).digest('hex')
  const home = join(SCRATCH, `python-${name}`)
  const mark = join(home, 'installed')
  if (existsSync(mark) && readFileSync(mark, 'utf8') === hash) return join(home, 'bin')
  rmSync(home, { recursive: true, force: true })
  folder()
  runOnce('python3', ['-m', 'venv', home])
  const pip = ['install', '--quiet', '--no-deps', '--only-binary=:all:', '--no-compile', '--disable-pip-version-check']
  runOnce(join(home, 'bin', 'pip'), [...pip, '-r', requirements], 900)
  writeFileSync(mark, hash)
  return join(home, 'bin')
}
