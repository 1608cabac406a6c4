import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const README = readFileSync('README.md', 'utf8')
const { dependencies, devDependencies, scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as Record<
  'dependencies' | 'devDependencies' | 'scripts',
  Record<string, string>
>

/** The rows of the table of dependencies: package → why. */
function reasons(): Map<string, string> {
  const [, table = ''] = /\n\| package \| why \|\n\| --- \| --- \|\n([\s\S]*?)\n\n/.exec(README) ?? []
  return new Map(
    table.split('\n').flatMap((row) => {
      const [, names = '', why = ''] = row.split('|')
      return [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => [name, why.trim()] as const)
    }),
  )
}

test('the README has a reason for every dependency, and names none that there is not', () => {
  const found = reasons()
  const names = Object.keys({ ...dependencies, ...devDependencies })
  expect([...found.keys()].sort()).toEqual(names.sort())
  expect([...found].filter(([, why]) => why.length < 10)).toEqual([])
})

test('every npm script that the README and the pages name is there', () => {
  const texts = ['README.md', 'docs/operating.md', 'docs/troubleshooting.md', 'docs/logs.md'].map((file) =>
    readFileSync(file, 'utf8'),
  )
  const named = texts.flatMap((text) => [...text.matchAll(/npm run ([a-z:]+)/g)].map(([, name = '']) => name))
  expect(named.filter((name) => !(name in scripts))).toEqual([])
  expect(Object.keys(scripts).filter((name) => !named.includes(name) && !['test', 'prepack'].includes(name))).toEqual(
    [],
  )
})

test('every page that the README links to is there', () => {
  const paths = [...README.matchAll(/\]\(([\w./-]+)[^)]*\)/g)].map(([, path = '']) => path)
  expect(paths.length).toBeGreaterThan(5)
  expect(paths.filter((path) => !existsSync(path))).toEqual([])
})

test('the README stays below 300 lines', () => {
  expect(README.split('\n').length).toBeLessThanOrEqual(300)
})
