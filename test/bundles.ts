import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
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
 * All bundles in a folder of their own, so that tests that run at once do not share `dist`. Without caches they are built once
 * in a test run, and copied.
 * @param nodes for which code caches are made; each takes half a second a function. @param only of these functions.
 */
export function buildBundles(nodes: readonly string[] = [], only: readonly string[] = []): Bundles {
  const caches = [...nodes.map((node) => `--node=${node}`), ...only.map((name) => `--cache=${name}`)]
  if (nodes.length > 0) return build(caches)
  const run = process.env.QUEUEBELL_TEST_RUN // run-folder.ts
  return run === undefined ? build() : copyOf(builtOnce(run))
}

/** Builds them anew, whatever has been built before. */
export function build(caches: readonly string[] = ['--no-cache'], within = tmpdir()): Bundles {
  const root = mkdtempSync(join(within, 'queuebell-bundles-'))
  const dist = join(root, 'dist')
  const report = execFileSync(process.execPath, ['esbuild.config.mjs', `--outdir=${dist}`, ...caches], {
    encoding: 'utf8',
  })
  return { root, dist, report }
}

/** Two workers may come at once: who makes the folder builds, and the other waits for what it built. */
function builtOnce(run: string): Bundles {
  const result = join(run, 'bundles.json')
  if (isFirst(join(run, 'building'))) {
    const bundles = build(undefined, run)
    writeFileSync(`${result}.new`, JSON.stringify(bundles))
    renameSync(`${result}.new`, result)
    return bundles
  }
  for (const end = Date.now() + 120_000; !existsSync(result); pause(100))
    if (Date.now() > end) throw new Error(`the bundles were not built: see the test file that came first in ${run}`)
  return JSON.parse(readFileSync(result, 'utf8')) as Bundles
}

function isFirst(folder: string): boolean {
  try {
    mkdirSync(folder)
    return true
  } catch {
    return false
  }
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

function copyOf({ dist, report }: Bundles): Bundles {
  const root = mkdtempSync(join(tmpdir(), 'queuebell-bundles-'))
  cpSync(dist, join(root, 'dist'), { recursive: true })
  return { root, dist: join(root, 'dist'), report: report.replaceAll(dist, join(root, 'dist')) }
}
