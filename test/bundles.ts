import { execFileSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Bundles {
  /** The folder above `dist`; nobody else's. */
  root: string
  /** `dist` in it: `<function>.mjs` with its `<function>.cjs`, `queuebell.mjs`, `serverless.cjs`. */
  dist: string
  /** The size report. */
  report: string
}

/**
 * Builds all bundles into a folder of their own, so that tests that run at once do not share `dist`.
 * @param nodes for which code caches are made; each takes half a second a function. @param only of these functions.
 */
export function buildBundles(nodes: readonly string[] = [], only: readonly string[] = []): Bundles {
  const root = mkdtempSync(join(tmpdir(), 'queuebell-bundles-'))
  const dist = join(root, 'dist')
  const caches =
    nodes.length === 0
      ? ['--no-cache']
      : [...nodes.map((node) => `--node=${node}`), ...only.map((name) => `--cache=${name}`)]
  const report = execFileSync(process.execPath, ['esbuild.config.mjs', `--outdir=${dist}`, ...caches], {
    encoding: 'utf8',
  })
  return { root, dist, report }
}
