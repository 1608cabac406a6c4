import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { BACKENDS } from '../../src/backends/backends.ts'
import { parseConfig } from '../../src/config/parse.ts'
import { parseReceiver } from '../../src/config/receiver.ts'
import { GENERAL, PER_ENDPOINT, RULE_ENDINGS } from '../../src/config/settings.ts'
import { RULE_IDS } from '../../src/rules/rules.ts'
import { FIRST, variablesPage, variablesTable } from '../../tools/docs/variables-page.ts'

const root = path.resolve(import.meta.dirname, '../..')
const readme = path.join(root, 'README.md')
const inReadme = existsSync(readme)
  ? /<!-- variables:start -->\n([\s\S]*?)<!-- variables:end -->/.exec(readFileSync(readme, 'utf8'))?.[1]
  : undefined

// `npx vitest run test/config -u` writes the page anew.
test('docs/variables.md is the page that the code makes', async () => {
  await expect(variablesPage()).toMatchFileSnapshot(path.join(root, 'docs/variables.md'))
})

test.skipIf(inReadme === undefined)(
  'the table in the README (between its markers, if they are there) has the rows of a first set-up as the code makes them',
  () => {
    expect(inReadme?.trim()).toBe(variablesTable(FIRST).trim())
    expect(inReadme?.trim().split('\n')).toHaveLength(FIRST.length + 2)
  },
)

test('the table has a row for every variable', () => {
  const names = [
    ...Object.keys(GENERAL),
    ...Object.keys(PER_ENDPOINT).map((n) => `<BACKEND>_${n}`),
    ...RULE_ENDINGS.map((n) => `<RULE>_${n}`),
  ]
  for (const name of names) expect(variablesTable()).toContain(`\n| \`${name}\` | `)
  for (const id of RULE_IDS) expect(variablesPage()).toContain(`\n| \`${id.toUpperCase()}_…\` | `)
})

describe('.env.example', () => {
  const lines = readFileSync(path.join(root, '.env.example'), 'utf8').split('\n')
  const pairs = lines.flatMap((line) => {
    const [, name, text] = /^#([A-Z][A-Z0-9_]*)=(.*)$/.exec(line) ?? []
    return name === undefined ? [] : [[name, text ?? ''] as const]
  })

  test('sets nothing before it is edited', () => {
    expect(lines.filter((line) => line !== '' && !line.startsWith('#'))).toEqual([])
    expect(pairs.length).toBeGreaterThan(20)
  })

  test('is right for every backend that it names, with all its lines in use', () => {
    const secrets = Object.fromEntries(pairs.filter(([, text]) => text === '').map(([name]) => [name, sampleOf(name)]))
    const env = { ...Object.fromEntries(pairs), ...secrets }
    for (const backend of BACKENDS) {
      const set = backend === 'ollama' || pairs.some(([name]) => name === `${backend.toUpperCase()}_ENDPOINTS`)
      if (set || backend === 'heartbeat-check')
        expect(parseConfig(backend, env, { lambda: true })).not.toHaveProperty('problems')
    }
    expect(parseReceiver(env, { lambda: true })).not.toHaveProperty('problems')
  })

  function sampleOf(name: string): string {
    if (name.endsWith('_BASIC_AUTH')) return 'user:password'
    return name === 'PING_URL' ? 'https://hc-ping.com/abc' : 'a-token-or-secret-that-is-long-enough'
  }
})
