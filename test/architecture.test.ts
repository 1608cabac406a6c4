import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { BACKENDS } from '../src/model/backend.ts'

/** Code may import what stands below it, never what stands above. A part is a folder of `src`, or a file in it. */
const ORDER = [
  'functions',
  'scheduled',
  'metrics',
  'run',
  'run-log',
  'network',
  'deliver',
  'observe',
  'targets',
  'canary',
  'push',
  'heartbeats',
  'scrape',
  'messages',
  'rules',
  'verdict',
  'state',
  'config',
  'backends',
  'signals',
  // The table of rules is data that the configuration is read by: of the folder `rules`, but below it.
  'catalogue',
  'log',
  'secrets',
  'io',
  'result',
]
/** They use the run, and nothing of it knows them. */
const OUTSIDE = ['cli', 'simulator', 'deployment']

/** What a run judges with: the same input, the same output. */
const PURE = [
  /^src\/(config|backends|signals|rules|verdict|messages)\//,
  /^src\/state\/(state|outbox|notification|failure)\.ts$/,
  /^src\/push\/(notifly|message)\.ts$/,
  /^src\/scrape\/(exposition|read|line|wanted)\.ts$/,
  /^src\/simulator\/(engine|arrivals|machine|page|histogram|random|totals)\.ts$/,
  /^src\/deployment\/(functions|alarms|variables|settings|cost)\.ts$/,
]
const IMPURE =
  /\bfetch\(|globalThis\.fetch|\bDate\.now\b|new Date\(\)|process\.env|node:(fs|http|https|net|child_process|timers)\b|performance\.now|\bset(Timeout|Interval)\(|Math\.random/

const SOURCES = ['src', 'functions'].flatMap(filesBelow)
const TEXTS = [
  ...['src', 'functions', 'test', 'bench', 'docs', 'examples', '.ci'].flatMap(filesBelow),
  ...readdirSync('.').filter((name) => statSync(name).isFile() && name !== '.env' && !name.endsWith('.log')),
]

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((file) => !file.includes('node_modules') && statSync(file).isFile())
    .sort()
}

/** Files that a module imports when it runs: `import type` is gone by then. */
function importsOf(file: string, text: string): string[] {
  return [...text.matchAll(/^(?:import|export)\s+(type\s+)?([^'";]*?)\s*from\s*'(\.[^']+)'/gm)].flatMap(
    ([, type, names = '', path = '']) => {
      const inBraces = /^\{([\s\S]*)\}$/.exec(names.trim())?.[1]
      const onlyTypes = inBraces?.split(',').every((name) => name.trim() === '' || /^\s*type\s/.test(name))
      return type || onlyTypes ? [] : [join(dirname(file), path)]
    },
  )
}

function partOf(file: string): string {
  if (file === 'src/rules/catalogue.ts') return 'catalogue'
  const [top = '', next = ''] = file.split('/')
  return top === 'functions' ? top : basename(next, '.ts')
}

function wrongImports(file: string, text: string): string[] {
  const own = partOf(file)
  return importsOf(file, text).flatMap((imported) => {
    const part = partOf(imported)
    if (part === own || OUTSIDE.includes(own)) return []
    const below = ORDER.indexOf(part) > ORDER.indexOf(own) && ORDER.includes(own)
    return below ? [] : [`${file} imports ${imported}`]
  })
}

test('imports point one way', () => {
  expect(SOURCES.length).toBeGreaterThan(50)
  expect(SOURCES.flatMap((file) => wrongImports(file, readFileSync(file, 'utf8')))).toEqual([])
})

describe('the check of imports itself', () => {
  test.each([
    ['src/config/parse.ts', "import { run } from '../run.ts'", 1],
    ['src/run.ts', "import { main } from './cli/main.ts'", 1],
    ['src/state/schema.ts', "import {\n  type A,\n  evaluate,\n} from '../rules/evaluate.ts'", 1],
    ['src/nobody-knows.ts', "import { SIGNALS } from './signals/signals.ts'", 1],
    ['src/model/config.ts', "import type { run } from '../run.ts'", 0],
    ['src/model/config.ts', "import { type A, type B } from '../run.ts'", 0],
    ['src/cli/main.ts', "import { run } from '../run.ts'", 0],
    ['src/rules/step.ts', "import { RULES } from './catalogue.ts'", 0],
  ])('%s: %s → %i wrong', (file, text, wrong) => {
    expect(wrongImports(file, text)).toHaveLength(wrong)
  })
})

test('what judges asks neither the clock nor the network nor the environment nor the disk', () => {
  const pure = SOURCES.filter((file) => PURE.some((pattern) => pattern.test(file)))
  expect(pure.length).toBeGreaterThan(40)
  const impure = pure.flatMap((file) => {
    const code = withoutComments(readFileSync(file, 'utf8'))
    const found = IMPURE.exec(code)
    return found ? [`${file}: ${found[0]}`] : []
  })
  expect(impure).toEqual([])
})

test.each(['await fetch(url)', 'Date.now()', 'process.env.HOME', "import { readFile } from 'node:fs/promises'"])(
  'the check of purity finds %s',
  (code) => expect(IMPURE.test(code)).toBe(true),
)

test('every backend has a function that is one call', () => {
  for (const backend of BACKENDS) {
    const text = readFileSync(`functions/${backend}.ts`, 'utf8')
    expect(text).toBe(
      `import { scheduled } from '../src/scheduled.ts'\n\nexport const handler = scheduled('${backend}')\n`,
    )
  }
})

test('a file is one thing and named for it', () => {
  const vague = SOURCES.filter((file) => /(^|[/-])(utils?|helpers?|common|misc|types|index)\.ts$/.test(file))
  expect(vague).toEqual([])
  const long = SOURCES.map((file) => ({ file, lines: readFileSync(file, 'utf8').split('\n').length }))
  // Tables of data and catalogues of texts may be longer: they are read a row at a time.
  const tables = /^src\/(rules\/catalogue|messages\/|backends\/)/
  expect(long.filter(({ file, lines }) => lines > 340 && !tables.test(file))).toEqual([])
})

test('a class is an Error, or what a library asks for', () => {
  const classes = SOURCES.flatMap((file) =>
    [
      ...readFileSync(file, 'utf8').matchAll(/^(?:export )?class (\w+)\b(?! extends \w*(?:Error|Failed|Refused)\b)/gm),
    ].map(([, name]) => `${file}: ${name}`),
  ).filter((found) => !found.startsWith('src/secrets/ssm.ts: Sha256'))
  expect(classes).toEqual([])
})

test('nothing names a machine, a registry or a person at work here', () => {
  const traces = /(^|[\s"'`(=])\/(home|root|work|Users|srv)\/\w|registry\.npmjs|"resolved":|\blocalhost:4873/m
  const found = TEXTS.filter((file) => file !== 'test/architecture.test.ts').flatMap((file) => {
    const trace = traces.exec(readFileSync(file, 'utf8'))
    return trace ? [`${file}: ${trace[0].trim()}`] : []
  })
  expect(found).toEqual([])
})

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1')
}
