type Variables = Readonly<Record<string, string | undefined>>

/** A command's flags without dashes; with an example of the value where one follows it. */
export type Flags = Readonly<Record<string, { value?: string }>>

/**
 * `npm run invoke vllm --dry-run` gives the flag to npm, not to us: npm drops it, sets `npm_config_dry_run`, and the run
 * that should have sent nothing pushes. https://docs.npmjs.com/cli/v11/commands/npm-run
 * @param args what came through.
 * @returns what to type instead; `undefined` where nothing was swallowed.
 */
export function swallowed(command: string, flags: Flags, args: readonly string[], env: Variables): string | undefined {
  const lost = Object.entries(env).flatMap(([name, value = '']) => {
    const flag = flagOf(name, Object.keys(flags))
    // What npx was told for itself: `npx --yes --package=…`.
    if (env.npm_command === 'exec' && (flag === 'yes' || flag === 'package')) return []
    const came = args.some((arg) => arg === `--${flag}` || arg.startsWith(`--${flag}=`))
    return flag === undefined || came || value === '' || value === 'false' ? [] : [{ flag, value }]
  })
  if (lost.length === 0) return undefined
  const words = [...args]
  const again = lost.map(({ flag, value }) => `--${flag}${givenTo(flags[flag]?.value, value, words)}`)
  const named = lost.map(({ flag }) => `--${flag}`).join(', ')
  return [
    `npm took ${named} for itself, because there was no -- before the arguments. Nothing was done. Type:`,
    `  npm run ${command} -- ${[...words, ...again].join(' ')}`,
  ].join('\n')
}

/** The flag behind a variable of npm, with or without its hyphens: `npm_config_dryrun`. */
function flagOf(variable: string, flags: readonly string[]): string | undefined {
  const [, name] = /^npm_config_(.+)$/i.exec(variable) ?? []
  const plain = (text: string) => text.toLowerCase().replaceAll(/[_-]/g, '')
  return name === undefined ? undefined : flags.find((flag) => plain(flag) === plain(name))
}

/** npm keeps the value of `--every=30s`; of `--every 30s` it keeps `true`, and the value came through as a word. */
function givenTo(example: string | undefined, value: string, words: string[]): string {
  if (example === undefined) return ''
  if (value !== 'true') return ` ${value}`
  const form = (text: string) => text.replaceAll(/\d+/g, '0').replaceAll(/[a-z]+/gi, 'a')
  const at = words.findIndex((word, i) => i > 0 && form(word) === form(example))
  return ` ${at === -1 ? example : words.splice(at, 1)[0]}`
}
