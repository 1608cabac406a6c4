import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { BACKENDS } from '../../src/backends/backends.ts'
import { parseConfig } from '../../src/config/parse.ts'
import { parseReceiver } from '../../src/config/receiver.ts'
import { GENERAL, PER_ENDPOINT, RULE_ENDINGS } from '../../src/config/settings.ts'
import { prefixOf } from '../../src/model/backend.ts'
import { RULE_IDS } from '../../src/rules/rules.ts'

const backend = fc.constantFrom(...BACKENDS)
const text = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom(
    'on',
    'off',
    '0',
    '1',
    '90',
    '90%',
    '5m',
    '-1',
    '1e9',
    'a=http://h',
    'a/b=http://u:p@h,a/c=',
    '=',
    '/',
    '__proto__=http://h',
    'constructor=1m+1m',
    '%@!',
    'http://u:%@h',
    'a=http://%@h',
    'ntfy+https://ntfy.sh/%',
    'telegram+https://h?chat=%',
    'slack+http://u:%@h/%?%',
  ),
)
const MARKER = 'mArKeR'

/** Names of variables of a backend, real ones for the most part. */
function nameOf(prefix: string): fc.Arbitrary<string> {
  const scope = fc.constantFrom('', 'A_', 'A_B_', 'X_', '__PROTO___')
  const setting = fc.oneof(
    fc.constantFrom(...Object.keys(PER_ENDPOINT), 'ENDPOINTS', 'WORKERS', 'URL', 'TOKEN'),
    fc
      .tuple(fc.constantFrom(...RULE_IDS), fc.constantFrom(...RULE_ENDINGS))
      .map(([id, ending]) => `${id.toUpperCase()}_${ending}`),
  )
  return fc.oneof(
    fc.constantFrom(...Object.keys(GENERAL), 'METRICS_URL', 'OLLAMA_URL', `${prefix}_ENDPOINTS`, 'HEARTBEAT_WORKERS'),
    fc.constantFrom('PUSH_A', 'PUSH_A_TOKEN', 'PUSH_A_FALLBACK', 'PUSH_A_MIN_PRIORITY', 'PUSH_B'),
    fc.tuple(scope, setting).map(([s, t]) => `${prefix}_${s}${t}`),
    setting,
  )
}

const environment = backend.chain((of) =>
  fc.tuple(fc.constant(of), fc.dictionary(nameOf(prefixOf(of)), text, { maxKeys: 12 }), fc.boolean()),
)

test('whatever the variables hold, the outcome is a configuration or problems that each begin with a variable', () => {
  fc.assert(
    fc.property(environment, ([of, variables, lambda]) => {
      for (const parsed of [parseConfig(of, variables, { lambda }), parseReceiver(variables, { lambda })]) {
        if ('config' in parsed) continue
        expect(parsed.problems.length).toBeGreaterThan(0)
        for (const problem of parsed.problems) expect(problem).toMatch(/^[A-Z_][A-Z0-9_]*(:| is | of )/)
        expect(new Set(parsed.problems).size).toBe(parsed.problems.length)
      }
    }),
    { numRuns: 500 },
  )
})

test('whatever stands around a secret, no problem shows it', () => {
  const letter = fc.oneof(fc.string({ minLength: 1, maxLength: 1 }), fc.constantFrom(',', ' ', '=', '@', ':', '/', '%'))
  const around = fc.string({ unit: letter, maxLength: 8 })
  const secretNames = [
    'NOTIFLY_TOKEN',
    'NOTIFLY_FALLBACK_TOKEN',
    'PING_URL',
    'HEARTBEAT_TOKEN',
    'VLLM_BEARER_TOKEN',
    'VLLM_BASIC_AUTH',
  ]
  const urlNames = [
    'NOTIFLY_URL',
    'NOTIFLY_FALLBACK_URL',
    'S3_ENDPOINT',
    'METRICS_URL',
    'VLLM_GPU_URL',
    'VLLM_RUNBOOK_URL',
  ]
  fc.assert(
    fc.property(around, around, around, (before, after, host) => {
      const secret = `${before}${MARKER}${after}`
      const url = `http://user:${secret}@h${host}`
      const variables = {
        ...Object.fromEntries(secretNames.map((name) => [name, secret])),
        ...Object.fromEntries(urlNames.map((name) => [name, url])),
        VLLM_ENDPOINTS: `chat/a=${url} chat/b=http://h`,
      }
      for (const parsed of [
        parseConfig('vllm', variables, { lambda: true }),
        parseReceiver(variables, { lambda: true }),
      ]) {
        if ('problems' in parsed) expect(parsed.problems.join('\n')).not.toContain(MARKER)
      }
    }),
    { numRuns: 500 },
  )
})
