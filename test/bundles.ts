import { execFileSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Bundles {
  /** The folder above `dist`; nobody else's. */
  root: string
  /** `dist` in it: `<function>.mjs`, `queuebell.mjs`, `serverless.cjs`. */
  dist: string
  /** The size report. */
  report: string
}

/** Builds all bundles into a folder of their own, so that tests that run at once do not share `dist`. Takes about a second. */
export function buildBundles(): Bundles {
  const root = mkdtempSync(join(tmpdir(), 'queuebell-bundles-'))
  const dist = join(root, 'dist')
  const report = execFileSync(process.execPath, ['esbuild.config.mjs', `--outdir=${dist}`], { encoding: 'utf8' })
  return { root, dist, report }
}
