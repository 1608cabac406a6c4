import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { BACKENDS } from '../src/backends/backends.ts'
import { SERVICES } from '../src/model/config.ts'

/** Rooms from the top of the house to its foundation. A room is a folder of `src`, or a file in it; arrows point down. */
const HOUSE = [
  'tools',
  'functions',
  'cli',
  'recordings',
  'export',
  'scheduled',
  'run',
  'report',
  'telemetry',
  'deliver',
  'observe',
  'targets',
  'canary',
  'push',
  'page',
  'heartbeats',
  'scrape',
  'messages',
  'config',
  'rules',
  'verdict',
  'state',
  'store',
  'span',
  'http',
  'log',
  'secrets',
  'backends',
  'signals',
  'model',
]

/** What a run judges with: the same input, the same output. */
const PURE = [
  /^src\/(model|config|backends|signals|rules|verdict|messages)\//,
  /^src\/page\/(?!open-page)/,
  new RegExp(`^src/push/(channel|services|text|stranger|write|forms|${SERVICES.join('|')})\\.ts$`),
  /^src\/state\/(schema|migrate|outbox|enqueue|legs|threads|recipients|alert-key|canary-memory|asked-and-heard|silence-schema|silences|hold-back|maintenance)\.ts$/,
  /^src\/scrape\/(page|page-reader|kept-series|sample-line|wanted|select|read|alias-reading|longest-line|gauges|counters|histograms|subjects)\.ts$/,
  /^tools\/simulator\/(engine|arrivals|machine|page|histogram|random|totals)\.ts$/,
  /^tools\/deploy\/(functions|alarms|reach|variables|settings|cost)\.ts$/,
]
const IMPURE =
  /\bfetch\(|globalThis\.fetch|\bDate\.now\b|new Date\(\)|process\.env|node:(fs|http|https|net|child_process|timers)\b|performance\.now|\bset(Timeout|Interval)\(|Math\.random/

const SOURCES = ['src', 'functions', 'tools'].flatMap(filesBelow)
const TEXTS = [
  ...['src', 'functions', 'tools', 'test', 'bench', 'docs', 'examples', '.ci'].flatMap(filesBelow),
  ...readdirSync('.').filter(
    (name) => statSync(name).isFile() && !['.env', '.git'].includes(name) && !name.endsWith('.log'),
  ),
]

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((file) => !file.includes('node_modules') && statSync(file).isFile())
    .sort()
}

/** Files that a module imports, for their types alone too: to read it, one has to know them. */
function importsOf(file: string, text: string): string[] {
  return [...text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, path = '']) => join(dirname(file), path))
}

function roomOf(file: string): string {
  const [top = '', next = ''] = file.split('/')
  return top === 'src' ? basename(next, '.ts') : top
}

function arrowsUp(file: string, text: string): string[] {
  const own = HOUSE.indexOf(roomOf(file))
  return importsOf(file, text).flatMap((imported) => {
    const room = HOUSE.indexOf(roomOf(imported))
    return own >= 0 && room >= own ? [] : [`${file} imports ${imported}`]
  })
}

/** The files of one circle of imports; empty where there is none. */
function circleIn(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>()
  const walk = (file: string, way: readonly string[]): string[] => {
    const at = way.indexOf(file)
    if (at >= 0) return [...way.slice(at), file]
    if (done.has(file)) return []
    for (const next of imports.get(file) ?? []) {
      const circle = walk(next, [...way, file])
      if (circle.length > 0) return circle
    }
    done.add(file)
    return []
  }
  for (const file of imports.keys()) {
    const circle = walk(file, [])
    if (circle.length > 0) return circle
  }
  return []
}

test('arrows point down', () => {
  expect(SOURCES.length).toBeGreaterThan(50)
  expect(SOURCES.flatMap((file) => arrowsUp(file, readFileSync(file, 'utf8')))).toEqual([])
})

test('every file lies in a room of the house', () => {
  expect(SOURCES.filter((file) => !HOUSE.includes(roomOf(file)))).toEqual([])
})

test('the page of the architecture shows every room', () => {
  const page = readFileSync('docs/architecture.md', 'utf8')
  const table = page.slice(page.indexOf('## The rooms'), page.indexOf('## The life'))
  const missing = HOUSE.filter((room) => !new RegExp(`[\\s\`/]${room}(/|\\.ts)`).test(table))
  expect(missing).toEqual([])
})

/** What an example of `CONTRIBUTING.md` adds. */
const IMAGINED = ['src/backends/newserver.ts', 'src/push/newchat.ts', 'functions/newserver.ts']

test.each(['CONTRIBUTING.md', 'docs/architecture.md'])('every path that %s names is there', (page) => {
  const text = readFileSync(page, 'utf8')
  const paths = text.match(/(?<![\w/.])(src|functions|test|tools|docs|bench|\.ci)\/[\w./-]*\w/g) ?? []
  expect(paths.length).toBeGreaterThan(20)
  expect(paths.filter((path) => !existsSync(path) && !IMAGINED.includes(path))).toEqual([])
})

test('no file imports itself by way of others', () => {
  const imports = new Map(SOURCES.map((file) => [file, importsOf(file, readFileSync(file, 'utf8'))]))
  expect(circleIn(imports)).toEqual([])
})

describe('the check of arrows itself', () => {
  test.each([
    ['src/config/parse.ts', "import { run } from '../run.ts'", 1],
    ['src/run.ts', "import { main } from './cli/main.ts'", 1],
    ['src/state/schema.ts', "import {\n  type A,\n  evaluate,\n} from '../rules/evaluate.ts'", 1],
    ['src/nobody-knows.ts', "import { SIGNALS } from './model/signals.ts'", 1],
    ['src/model/config.ts', "import type { run } from '../run.ts'", 1],
    ['src/rules/step.ts', "const late = await import('../run.ts')", 1],
    ['src/cli/main.ts', "import { run } from '../run.ts'", 0],
    ['src/rules/explain.ts', "import { specOf } from './rules.ts'", 0],
  ])('%s: %s → %i up', (file, text, up) => {
    expect(arrowsUp(file, text)).toHaveLength(up)
  })

  test('a circle of three files is found, a diamond is none', () => {
    const circle: [string, string[]][] = [
      ['a', ['b']],
      ['b', ['c']],
      ['c', ['b']],
    ]
    const diamond: [string, string[]][] = [
      ['a', ['b', 'c']],
      ['b', ['d']],
      ['c', ['d']],
      ['d', []],
    ]
    expect([circleIn(new Map(circle)), circleIn(new Map(diamond))]).toEqual([['b', 'c', 'b'], []])
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

const SCHEDULES = `import { readSchedule } from '../src/heartbeats/schedule.ts'\n`

test('every backend has a function that is one call', () => {
  for (const backend of BACKENDS) {
    const text = readFileSync(`functions/${backend}.ts`, 'utf8')
    // Calendars are read where there are workers alone.
    const [more, also] = backend === 'heartbeat-check' ? [SCHEDULES, ', readSchedule'] : ['', '']
    expect(text).toBe(
      `${more}import { scheduled } from '../src/scheduled.ts'\n\nexport const handler = scheduled('${backend}'${also})\n`,
    )
  }
})

test('a file is one thing and named for it', () => {
  const vague = SOURCES.filter((file) => /(^|[/-])(utils?|helpers?|common|misc|types|index)\.ts$/.test(file))
  expect(vague).toEqual([])
  const long = SOURCES.map((file) => ({ file, lines: readFileSync(file, 'utf8').split('\n').length }))
  // Tables of data and catalogues of texts may be longer: they are read a row at a time.
  const tables = /^src\/(messages\/|backends\/)|^tools\/docs\/samples/
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
