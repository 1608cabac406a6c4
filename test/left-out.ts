import type { Reporter, TestCase, TestModule } from 'vitest/node'
import { AMOUNTS, LONG } from './long.ts'

/** Says at the end what did not run, so that green is not taken for everything. */
export const leftOut: Reporter = {
  onTestRunEnd(modules) {
    const lines = linesOf(modules)
    if (lines.length > 0) console.log(`\n${lines.join('\n')}\n`)
  },
}

function linesOf(modules: readonly TestModule[]): string[] {
  const skipped = modules.flatMap((module) => [...module.children.allTests('skipped')])
  const long = skipped.filter(({ tags }) => tags.includes('long'))
  const others = skipped.length - long.length
  const shorter = LONG ? [] : shorterIn(modules)
  return [
    ...(long.length > 0 ? [`Left out, since they take minutes: ${byFile(long)}`] : []),
    ...(shorter.length > 0 ? [`Only a part of: ${shorter.join(', ')}`] : []),
    ...(long.length + shorter.length > 0 ? ['Everything, as in CI: npm run test:long'] : []),
    ...(others > 0
      ? [`Not possible here: ${count(others)}; its name says what is absent (npx vitest run --reporter=verbose)`]
      : []),
  ]
}

function byFile(tests: readonly TestCase[]): string {
  const files = tests.map(({ module }) => module.relativeModuleId)
  return [...new Set(files)].map((file) => `${count(files.filter((one) => one === file).length)} of ${file}`).join(', ')
}

function shorterIn(modules: readonly TestModule[]): string[] {
  const ran = new Set(modules.map(({ relativeModuleId }) => relativeModuleId))
  return Object.values(AMOUNTS)
    .filter(({ file }) => ran.has(file))
    .map(({ of, short, long }) => `${of} (${short} of ${long.toLocaleString('en')})`)
}

const count = (tests: number) => `${tests} test${tests === 1 ? '' : 's'}`
