import { describe, expect, test } from 'vitest'
import { COMMANDS, type CommandName, flagsOf } from '../../src/cli/command-line.ts'
import { swallowed } from '../../src/cli/swallowed.ts'

const NPM = { npm_command: 'run', npm_lifecycle_event: 'invoke' }
const EVERY_FLAG = (Object.keys(COMMANDS) as CommandName[]).flatMap((command) =>
  Object.entries(flagsOf(command)).map(([flag, { value }]) => ({ command, flag, value })),
)

describe('a flag that npm took is refused with the line that works', () => {
  test.each(EVERY_FLAG)('$command --$flag', ({ command, flag, value }) => {
    const name = `npm_config_${flag.replaceAll('-', '_')}`
    const words = value === undefined ? ['vllm'] : ['vllm', value]
    const right = `  npm run ${command} -- vllm --${flag}${value === undefined ? '' : ` ${value}`}`
    expect(swallowed(command, flagsOf(command), words, { ...NPM, [name]: 'true' })?.split('\n')).toEqual([
      `npm took --${flag} for itself, because there was no -- before the arguments. Nothing was done. Type:`,
      right,
    ])
  })

  test.each([
    [['vllm', '5m', '1/2'], { npm_config_every: 'true', npm_config_shard: 'true' }, 'vllm --every 5m --shard 1/2'],
    [['vllm'], { npm_config_every: '10s', npm_config_dry_run: 'true' }, 'vllm --every 10s --dry-run'],
    [['vllm'], { npm_config_dryrun: 'true' }, 'vllm --dry-run'],
    [['vllm'], { NPM_CONFIG_EVERY: 'true' }, 'vllm --every 30s'],
    [['vllm', '--json'], { npm_config_dry_run: 'true' }, 'vllm --json --dry-run'],
  ])('%j with %j', (args, env, line) => {
    expect(swallowed('invoke', flagsOf('invoke'), args, { ...NPM, ...env })).toContain(`npm run invoke -- ${line}`)
  })
})

describe('nothing is refused', () => {
  test.each([
    ['where the flag came through', ['vllm', '--dry-run'], { npm_config_dry_run: 'true' }],
    ['for a flag of npm alone', ['vllm'], { npm_config_color: 'true', npm_config_yes: 'true' }],
    ['for one that is switched off', ['vllm'], { npm_config_json: '', npm_config_push: 'false' }],
  ])('%s', (_, args, env) => {
    expect(swallowed('invoke', flagsOf('invoke'), args, { ...NPM, ...env })).toBeUndefined()
  })

  test('for what npx was told for itself', () => {
    const env = { npm_command: 'exec', npm_config_yes: 'true', npm_config_package: 'x.tgz' }
    expect(swallowed('deploy', { yes: {}, package: {} }, [], env)).toBeUndefined()
    expect(swallowed('deploy', { yes: {}, package: {} }, [], { ...env, npm_command: 'run' })).toContain('--yes')
  })
})
