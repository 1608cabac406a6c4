import { readFileSync } from 'node:fs'

/** Put in by the build, so that the one file knows it wherever it lies. */
declare const BUILT_VERSION: string | undefined

/** As in `package.json`: `0.1.0`. */
export function version(): string {
  if (typeof BUILT_VERSION === 'string') return BUILT_VERSION
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}

/** A command as it is typed here: in a clone, by npx, or by its own name. @param line `doctor vllm --push`. */
export function typed(line: string): string {
  if (typeof BUILT_VERSION === 'string') return `${process.env.npm_command === 'exec' ? 'npx ' : ''}queuebell ${line}`
  const [command = '', ...words] = line.split(' ')
  return words.length === 0 ? `npm run ${command}` : `npm run ${command} -- ${words.join(' ')}`
}
