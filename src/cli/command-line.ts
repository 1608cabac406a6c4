import { parseArgs } from 'node:util'
import { BACKENDS } from '../backends/backends.ts'
import { suggest } from '../config/suggest.ts'
import type { Failed, Fallible } from '../model/fallible.ts'

/** One option: how it stands in the help, and what it does. `value` is an example of what follows it. */
interface Option {
  value?: string
  /** May be given more than once; the values come one a line. */
  many?: true
  meaning: string
}

interface Command {
  /** What stands after the command, for the help. */
  takes: string
  about: string
  options: Readonly<Record<string, Option>>
  /** More lines of its help. */
  more?: readonly string[]
}

const FUNCTIONS = [...BACKENDS, 'heartbeat-receive', 'page', 'all'] as const

/** Every command with its options: help, parsing and what npm may swallow all follow from here. */
export const COMMANDS = {
  init: {
    takes: '',
    about: 'writes a first .env by asking: an address, a push server, a test push',
    options: {},
    more: ['Answers may be piped in, one a line. An .env that is there is never touched.'],
  },
  doctor: {
    takes: '[function | address]',
    about: 'what is configured, what each rule reads, what is wrong and what to do',
    options: { push: { meaning: 'sends a test push' } },
    more: [
      'Without a function all that is configured is checked. With an address, http://10.0.0.5:8000,',
      'it finds out what answers there and prints the lines for .env.',
    ],
  },
  invoke: {
    takes: '<function>',
    about: 'one run with the environment and .env',
    options: {
      'dry-run': { meaning: 'sends and saves nothing' },
      json: { meaning: 'prints the result object' },
      every: { value: '30s', meaning: 'repeats until stopped' },
      why: { meaning: "prints each rule's decision" },
      shard: { value: '2/8', meaning: 'only the second of eight parts of the endpoints' },
      serve: {
        value: '8080',
        meaning: 'heartbeat-receive, page, all: the port; 0.0.0.0:8080 lets other machines reach it',
      },
    },
    more: [
      'heartbeat-receive     the receiver of heartbeats, with the state folder',
      'page                  the page, over the state that is there',
    ],
  },
  silence: {
    takes: '<function> <endpoint, group or function> <how long> ["why"]',
    about: 'no pushes of it for a while: queuebell silence vllm chat/a 2h "new driver"',
    options: {},
    more: ['<function> list', '<function> end <endpoint, group or function>'],
  },
  record: {
    takes: '<function>',
    about: 'writes down each scrape, to be played again later',
    options: {
      every: { value: '15s', meaning: 'how often; 1m unless told' },
      to: { value: 'recordings/', meaning: 'the folder' },
      times: { value: '60', meaning: 'ends by itself after so many' },
    },
  },
  replay: {
    takes: '<function> <files or folders>',
    about: 'what recordings would have told, with the limits as they are',
    options: {
      set: { value: 'WAITING_LIMIT=10,20', many: true, meaning: 'tries other values, each for itself' },
      json: { meaning: 'prints it as data' },
    },
  },
  suggest: {
    takes: '<function> <files or folders>',
    about: 'limits with reasons, as lines for .env',
    options: {
      'per-week': { value: '2', meaning: 'incidents a week and rule at most; 2 unless told' },
      json: { meaning: 'prints it as data' },
    },
  },
  import: {
    takes: 'prometheus <address> | openmetrics <file>',
    about: 'makes a recording of what another watcher has',
    options: {
      match: { value: `'{job="vllm"}'`, meaning: 'the series' },
      from: { value: '7d', meaning: 'so long ago, or a date; 7d unless told' },
      to: { value: '1d', meaning: 'so long ago, or a date; now unless told' },
      out: { value: 'week.qb', meaning: 'the recording; imported.qb unless told' },
      header: { value: "'Name: value'", many: true, meaning: 'sent along, such as a tenant' },
    },
  },
  export: {
    takes: 'prometheus | grafana [functions]',
    about: 'these limits as alerting rules, or as a dashboard',
    options: { match: { value: `'{job="vllm"}'`, meaning: 'only these series' } },
  },
} as const satisfies Record<string, Command>

export type CommandName = keyof typeof COMMANDS
const NAMES = Object.keys(COMMANDS) as CommandName[]
const commandOf = (name: CommandName): Command => COMMANDS[name]

export type CommandLine =
  | { kind: 'help'; command: CommandName | undefined }
  | { kind: 'version' }
  | { kind: 'command'; command: CommandName; words: string[]; options: Options }

/** The options that were given; an option without a value is `true`. */
export type Options = Readonly<Record<string, string | true>>

/** A line that cannot be followed. `command`: the one whose help may show why. */
export interface Misused {
  why: string
  command: CommandName | undefined
}

/** Reads the arguments; every word that is not known comes back with the nearest one that is. */
export function readCommandLine(args: readonly string[]): Fallible<{ line: CommandLine }, Misused> {
  const { tokens } = parseArgs({ args: [...args], strict: false, allowPositionals: true, tokens: true, options: TYPES })
  const words = tokens.flatMap((token) => (token.kind === 'positional' ? [token.value] : []))
  const given = tokens.flatMap((token) => (token.kind === 'option' ? [token] : []))
  const [first, ...rest] = words
  if (given.some(({ name }) => name === 'version')) return { ok: true, line: { kind: 'version' } }
  if (first === undefined || first === 'help') {
    const [about] = rest
    return { ok: true, line: { kind: 'help', command: NAMES.find((name) => name === about) } }
  }
  const command = NAMES.find((name) => name === first)
  if (command === undefined) return misused(undefined, `there is no command ${first}${didYouMean(first, NAMES)}`)
  if (given.some(({ name }) => name === 'help')) return { ok: true, line: { kind: 'help', command } }
  const known = commandOf(command).options
  const options: Record<string, string | true> = {}
  for (const { name, rawName, value } of given) {
    const option = known[name]
    const meant = didYouMean(rawName, Object.keys(known).map(dashed))
    if (option === undefined) return misused(command, `${command} has no option ${rawName}${meant}`)
    if (option.value === undefined && value !== undefined)
      return misused(command, `${rawName} takes no value: leave out ${value}`)
    if (option.value !== undefined && (value === undefined || value.startsWith('--')))
      return misused(command, `${rawName} needs a value, as in ${rawName} ${option.value}`)
    const before = option.many ? options[name] : undefined
    options[name] = value === undefined ? true : before === undefined ? value : `${before}\n${value}`
  }
  return { ok: true, line: { kind: 'command', command, words: rest, options } }
}

/** Whether an option takes a value, for the parser; one name means the same in every command. */
const TYPES = Object.fromEntries([
  ...NAMES.flatMap((command) =>
    Object.entries(commandOf(command).options).map(
      ([name, { value }]) =>
        [name, { type: value === undefined ? ('boolean' as const) : ('string' as const) }] as const,
    ),
  ),
  ['help', { type: 'boolean' as const, short: 'h' }] as const,
  ['version', { type: 'boolean' as const, short: 'v' }] as const,
])

/** `; did you mean vllm?`, where something is near. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const meant = suggest(word, known)
  return meant === undefined ? '' : `; did you mean ${meant}?`
}

/** What may stand after `invoke`. */
export function isFunction(word: string): word is (typeof FUNCTIONS)[number] {
  return (FUNCTIONS as readonly string[]).includes(word)
}

export function nearestFunction(word: string): string {
  return didYouMean(word, FUNCTIONS)
}

/** The options of a command, as npm may swallow them. */
export function flagsOf(command: CommandName): Readonly<Record<string, Option>> {
  return commandOf(command).options
}

/** The help of one command, or of all. */
export function helpOf(command: CommandName | undefined): string {
  const names = command === undefined ? NAMES : [command]
  const head = command === undefined ? 'queuebell: a push before your users see the spinner\n\n' : ''
  const foot = [
    `functions: ${BACKENDS.join(' ')}`,
    ...(command === undefined
      ? ['queuebell <command> --help tells of one command, --version which version this is']
      : []),
  ]
  return `${head}${names.map(helpLines).join('\n')}\n\n${foot.join('\n')}`.trimEnd()
}

function helpLines(name: CommandName): string {
  const { takes, about, options, more = [] } = commandOf(name)
  return [
    `  queuebell ${name} ${takes}`.trimEnd(),
    `      ${about}`,
    ...Object.entries(options).map(([option, { value, meaning }]) => {
      const shown = value === undefined ? dashed(option) : `${dashed(option)} ${value}`
      return `      ${shown.padEnd(20)}  ${meaning}`
    }),
    ...more.map((line) => `      ${line}`),
  ].join('\n')
}

function dashed(option: string): string {
  return `--${option}`
}

function misused(command: CommandName | undefined, why: string): Failed<Misused> {
  return { ok: false, why, command }
}
