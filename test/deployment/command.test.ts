import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'queuebell-deploy-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** `npm run deploy -- …` with a `.env`, without an account and without a terminal. */
function deploy(words: string, env: string, more: Record<string, string> = {}): { code: number | null; said: string } {
  writeFileSync(join(folder, '.env'), env)
  const args = ['--import', resolve('node_modules/tsx/dist/loader.mjs'), resolve('tools/deploy/deploy.ts')]
  const nowhere = {
    AWS_CONFIG_FILE: '/nowhere',
    AWS_SHARED_CREDENTIALS_FILE: '/nowhere',
    AWS_EC2_METADATA_DISABLED: 'true',
  }
  const { status, stdout, stderr } = spawnSync(process.execPath, [...args, ...words.split(' ').filter(Boolean)], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: folder, ...nowhere, ...more },
  })
  return { code: status, said: stdout + stderr }
}

const HERE =
  'VLLM_ENDPOINTS=chat=http://localhost:8000\nNOTIFLY_URL=https://push.example.com\nNOTIFLY_TOKEN=planted-4711\n'

test.each([
  ['a misspelt option', '--pakage', {}, 'deploy has no option --pakage; did you mean --package?'],
  ['a stage as a word', 'prod', {}, 'deploy takes nothing after it: prod; DEPLOY_STAGE in .env names the stage'],
  ['two that do not go together', '--package --remove', {}, 'leave one of them out'],
  ['a flag that npm took', '', { npm_config_remove: 'true' }, 'npm run deploy -- --remove'],
  ['loopback', '--package', {}, 'VLLM_ENDPOINTS: localhost is the function itself once it is deployed'],
])('what cannot work is refused before anything is built: %s', (_, words, env, refusal) => {
  const { code, said } = deploy(words, HERE, env)
  expect([code, said]).toEqual([1, expect.stringContaining(refusal)])
  expect(said).not.toContain('planted-4711')
})

test('--remove without credentials says what it would take and keep, and what to set, once', () => {
  const { code, said } = deploy('--remove --yes', HERE)
  expect(code).toBe(1)
  expect(said).toContain('the stack queuebell-prod')
  expect(said).toContain('Stays: the bucket that the stack made for the state')
  expect(said).toMatch(/AWS credentials: .*; set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/)
  expect(said).not.toMatch(/NodeVersionSupportWarning|planted-4711/)
})
