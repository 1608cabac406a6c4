import { has, runOnce } from './scratch.ts'

/** @param program what the package brings. @returns its version as Debian counts. @throws with what apt said. */
export function installDebian(pack: string, program: string): string {
  if (!has(program)) {
    const env = { DEBIAN_FRONTEND: 'noninteractive' }
    runOnce('apt-get', ['update', '-qq'], 300, env)
    runOnce('apt-get', ['install', '-y', '-qq', '--no-install-recommends', pack], 600, env)
  }
  const [, version = ''] = /^Version: (.*)$/m.exec(runOnce('dpkg-query', ['-s', pack])) ?? []
  return version
}
