import { describe, expect, test } from 'vitest'
import type { Backend } from '../../src/model/backend.ts'
import type { RuleId } from '../../src/rules/rules.ts'
import { RULES, rulesOf, specOf } from '../../src/rules/rules.ts'
import { configOf, endpointOf, problemsOf, ruleOf } from './outcome.ts'

const REPLICAS = 'chat/a=http://h1 chat/b=http://h2 embed=http://h3'
const MINUTE = 60_000

describe('the most specific variable counts', () => {
  test.each([
    // variables, then the limits of chat/a, chat/b and embed
    [{}, 20, 20, 20],
    [{ WAITING_LIMIT: '1' }, 1, 1, 1],
    [{ WAITING_LIMIT: '1', VLLM_WAITING_LIMIT: '2' }, 2, 2, 2],
    [{ VLLM_WAITING_LIMIT: '2', VLLM_CHAT_WAITING_LIMIT: '3' }, 3, 3, 2],
    [{ VLLM_CHAT_WAITING_LIMIT: '3', VLLM_CHAT_A_WAITING_LIMIT: '4' }, 4, 3, 20],
    [{ VLLM_WAITING_LIMIT: 'off' }, undefined, undefined, undefined],
    [{ VLLM_WAITING_LIMIT: 'off', VLLM_CHAT_A_WAITING_LIMIT: 'on' }, 20, undefined, undefined],
    [{ VLLM_CHAT_A_WAITING_LIMIT: 'OFF', VLLM_WAITING_LIMIT: '7' }, undefined, 7, 7],
    [{ VLLM_WAITING_LIMIT: '  ', WAITING_LIMIT: ' 1 ' }, 1, 1, 1],
    [{ TGI_WAITING_LIMIT: '5' }, 20, 20, 20],
  ])('%o', (variables, a, b, embed) => {
    const config = configOf('vllm', { VLLM_ENDPOINTS: REPLICAS, ...variables })
    expect(['chat/a', 'chat/b', 'embed'].map((name) => ruleOf(config, 'waiting', name)?.limit)).toEqual([a, b, embed])
  })

  test('each setting of a rule is looked up for itself', () => {
    const variables = {
      VLLM_CHAT_A_WAITING_LIMIT: '40',
      VLLM_CHAT_WAITING_CLEAR: '15',
      VLLM_WAITING_FOR: '2m',
      WAITING_REPEAT: 'off',
      VLLM_WAITING_PRIORITY: '10',
    }
    const config = configOf('vllm', { VLLM_ENDPOINTS: REPLICAS, ...variables })
    expect(ruleOf(config, 'waiting', 'chat/a')).toMatchObject({
      limit: 40,
      clear: 15,
      for: 2 * MINUTE,
      repeat: undefined,
      priority: 10,
    })
  })

  test('the rule heartbeat has a bare form that begins like the variables of its backend', () => {
    const beats = { HEARTBEAT_WORKERS: 'indexer=60s+30s nightly=24h+1h' }
    const config = configOf('heartbeat-check', {
      ...beats,
      HEARTBEAT_PRIORITY: '3',
      HEARTBEAT_INDEXER_HEARTBEAT_PRIORITY: '9',
    })
    expect(ruleOf(config, 'heartbeat', 'indexer')?.priority).toBe(9)
    expect(ruleOf(config, 'heartbeat', 'nightly')?.priority).toBe(3)
  })
})

describe('the time within which first tokens should come', () => {
  const rulesWith = (env: Record<string, string>) => {
    const { endpoints } = configOf('vllm', { VLLM_ENDPOINTS: 'chat/a=http://h/a chat/b=http://h/b', ...env })
    return endpoints.map(({ sloTtft, rules }) => [sloTtft, rules.find(({ id }) => id === 'slo')?.limit])
  }

  test('switches the rule on: for every backend, for one, for a group or an endpoint', () => {
    expect(rulesWith({})).toEqual([
      [undefined, undefined],
      [undefined, undefined],
    ])
    expect(rulesWith({ SLO_TTFT: '500ms', VLLM_CHAT_B_SLO_TTFT: '2s', SLO_LIMIT: '95%' })).toEqual([
      [500, 0.95],
      [2_000, 0.95],
    ])
    expect(rulesWith({ VLLM_SLO_TTFT: '1s', VLLM_CHAT_A_SLO_LIMIT: 'off' })).toEqual([
      [1_000, undefined],
      [1_000, 0.99],
    ])
  })
})

describe('without variables', () => {
  test.each(['vllm', 'tgi', 'tei', 'sglang', 'llamacpp', 'dcgm', 'gateway'] as const)(
    '%s has the rules of the catalogue',
    (backend) => {
      const { rules } = endpointOf(configOf(backend, { METRICS_URL: 'http://h' }), backend)
      // `sibling` needs a group, `slo` the time that is wanted, `tls_expiry` an address by https.
      const without: RuleId[] = ['sibling', 'slo', 'tls_expiry']
      const isOn = (id: RuleId) => RULES[id].limit !== undefined && !without.includes(id)
      const expected = rulesOf(backend).filter((id) => isOn(id) && !specOf(id).ofGroup)
      expect(rules.map(({ id }) => id)).toEqual(expected)
      for (const rule of rules) {
        const { limit, for: lasting, repeat, priority } = specOf(rule.id)
        expect(rule).toMatchObject({ limit, for: lasting, repeat, priority })
      }
    },
  )

  test('siblings are compared in groups of three', () => {
    const two = configOf('vllm', { VLLM_ENDPOINTS: 'chat/a=http://h1 chat/b=http://h2 embed=http://h3' })
    expect(two.endpoints.map(({ rules }) => rules.some(({ id }) => id === 'sibling'))).toEqual([false, false, false])
    const three = configOf('vllm', {
      VLLM_ENDPOINTS: 'chat/a=http://h1 chat/b=http://h2 chat/c=http://h3 embed=http://h4',
    })
    expect(three.endpoints.map(({ rules }) => rules.some(({ id }) => id === 'sibling'))).toEqual([
      true,
      true,
      true,
      false,
    ])
  })
})

describe('limits in the unit of their rule', () => {
  test.each([
    ['vllm', 'waiting', '0', 0],
    ['vllm', 'waiting', '2.5', 2.5],
    ['vllm', 'queue_wait', '2', 2],
    ['vllm', 'queue_wait', '2s', 2],
    ['vllm', 'queue_wait', '1500ms', 1.5],
    ['vllm', 'ttft', '1m', 60],
    ['vllm', 'itl', '0.05', 0.05],
    ['vllm', 'kv_cache', '0.8', 0.8],
    ['vllm', 'kv_cache', '.8', 0.8],
    ['vllm', 'kv_cache', '80%', 0.8],
    ['vllm', 'kv_cache', '99.5 %', 0.995],
    ['vllm', 'kv_cache', '1', 1],
    ['vllm', 'kv_cache', '100%', 1],
    ['vllm', 'errors', '0', 0],
    ['vllm', 'errors', '7%', 0.07],
    ['vllm', 'throughput', '40%', 0.4],
    ['vllm', 'preemptions', '2', 2],
    ['vllm', 'preemptions', '0.5/s', 0.5],
    ['vllm', 'gap', '4x', 4],
    ['vllm', 'down', '1', 1],
    ['vllm', 'inflight', '64', 64],
    ['dcgm', 'gpu_temperature', '90', 90],
    ['dcgm', 'gpu_temperature', '90 °C', 90],
    ['dcgm', 'gpu_memory', '99%', 0.99],
    ['dcgm', 'gpu_memory', 'off', undefined],
    ['dcgm', 'gpu_lost', 'off', undefined],
    ['dcgm', 'gpu_lost', 'on', 1],
    ['vllm', 'waiting', 'on', 20],
  ] as [Backend, RuleId, string, number | undefined][])('%s: %s of %s is %s', (backend, rule, text, limit) => {
    const config = configOf(backend, { METRICS_URL: 'http://h', [`${rule.toUpperCase()}_LIMIT`]: text })
    expect(ruleOf(config, rule)?.limit).toBe(limit)
  })

  test.each([
    ['vllm', 'waiting', '-1', 'may be off, on or a number of requests'],
    ['vllm', 'waiting', 'many', 'may be off, on or a number of requests'],
    ['vllm', 'waiting', '1e3', 'may be off, on or a number of requests'],
    ['vllm', 'waiting', '20s', 'may be off, on or a number of requests'],
    ['vllm', 'waiting', '9'.repeat(400), 'may be off, on or a number of requests'],
    ['vllm', 'inflight', '0', 'is always reached'],
    ['vllm', 'ttft', '3 sec', 'may be off, on or a number of seconds or a time with its unit'],
    ['vllm', 'ttft', '0,5', 'may be off, on or a number of seconds'],
    ['vllm', 'kv_cache', '90', 'write a share as 0.9 or 90%'],
    ['vllm', 'kv_cache', '1.1', 'write a share as 0.9 or 90%'],
    ['vllm', 'kv_cache', '101%', 'can never be reached'],
    ['vllm', 'kv_cache', '0', 'is always reached'],
    ['vllm', 'errors', '1', 'can never be reached'],
    ['vllm', 'errors', '100%', 'can never be reached'],
    ['dcgm', 'gpu_memory', '100%', 'can never be reached'],
    ['dcgm', 'gpu_temperature', '150', 'can never be reached'],
    ['dcgm', 'gpu_temperature', '200', 'can never be reached'],
    ['vllm', 'throughput', '50', 'write a fall as 0.9 or 90%'],
    ['vllm', 'gap', '1', 'may be off, on or a factor above 1'],
    ['vllm', 'gap', '0.5x', 'is always reached'],
    ['vllm', 'down', '0', 'may be off, on or a whole number of runs from 1'],
    ['vllm', 'down', '2.5', 'may be off, on or a whole number of runs from 1'],
    ['dcgm', 'gpu_lost', '1', 'may be on or off'],
    ['vllm', 'itl', 'on', 'has no limit of its own; write a number of seconds'],
  ] as [Backend, RuleId, string, string][])('%s: %s of %s is refused', (backend, rule, text, says) => {
    const name = `${backend.toUpperCase()}_${rule.toUpperCase()}_LIMIT`
    const problems = problemsOf(backend, { METRICS_URL: 'http://h', [name]: text })
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(name)
    expect(problems[0]).toContain(says)
  })

  test('case 47: a share of 90 is refused rather than never reached, and both right spellings mean the same', () => {
    expect(problemsOf('vllm', { VLLM_KV_CACHE_LIMIT: '90' })).toEqual([
      'VLLM_KV_CACHE_LIMIT is 90: write a share as 0.9 or 90%; a bare number above 1 could be either',
    ])
    for (const text of ['0.9', '90%'])
      expect(ruleOf(configOf('vllm', { VLLM_KV_CACHE_LIMIT: text }), 'kv_cache')?.limit).toBe(0.9)
  })

  test('a factor that is always reached is told its bound once', () => {
    expect(problemsOf('vllm', { METRICS_URL: 'http://h', VLLM_SIBLING_LIMIT: '1' })).toEqual([
      'VLLM_SIBLING_LIMIT is 1: is always reached; may be a factor above 1, such as 1.5 or 1.5x',
    ])
  })

  test('case 52: memory that is meant to be full is told without reminders, and can be switched off', () => {
    const gpu = { DCGM_ENDPOINTS: 'node-1=http://h:9400' }
    expect(ruleOf(configOf('dcgm', gpu), 'gpu_memory')).toMatchObject({ limit: 0.95, repeat: undefined })
    expect(ruleOf(configOf('dcgm', { ...gpu, DCGM_NODE_1_GPU_MEMORY_LIMIT: 'off' }), 'gpu_memory')).toBeUndefined()
  })
})

describe('the clear of a rule', () => {
  test.each([
    ['vllm', 'waiting', { WAITING_LIMIT: '5' }, 2.5],
    ['vllm', 'waiting', { WAITING_LIMIT: '40' }, 20],
    ['vllm', 'waiting', { WAITING_LIMIT: '0' }, 0],
    ['vllm', 'waiting', { WAITING_LIMIT: '40', WAITING_CLEAR: '39' }, 39],
    ['vllm', 'waiting', { WAITING_LIMIT: '40', WAITING_CLEAR: '40' }, 40],
    ['vllm', 'waiting', { WAITING_CLEAR: '3' }, 3],
    ['vllm', 'kv_cache', { KV_CACHE_LIMIT: '0.45' }, 0.425],
    ['vllm', 'ttft', { TTFT_LIMIT: '1500ms' }, 1],
    ['vllm', 'inflight', { INFLIGHT_LIMIT: '64' }, undefined],
    ['vllm', 'inflight', { INFLIGHT_LIMIT: '64', INFLIGHT_CLEAR: '50' }, 50],
    ['vllm', 'itl', { ITL_LIMIT: '0.1', ITL_CLEAR: '80ms' }, 0.08],
    ['dcgm', 'gpu_temperature', { GPU_TEMPERATURE_LIMIT: '68' }, 64],
  ] as [Backend, RuleId, Record<string, string>, number | undefined][])(
    '%s: %s with %o',
    (backend, rule, variables, clear) => {
      expect(ruleOf(configOf(backend, { METRICS_URL: 'http://h', ...variables }), rule)?.clear).toBe(clear)
    },
  )

  test('a factor counts from 1, so that a low limit does not clear below "no difference"', () => {
    const trio = { VLLM_ENDPOINTS: 'c/a=http://h c/b=http://i c/d=http://j' }
    expect(ruleOf(configOf('vllm', { ...trio, SIBLING_LIMIT: '2x' }), 'sibling')?.clear).toBe(1.4)
    expect(ruleOf(configOf('vllm', { ...trio, SIBLING_LIMIT: '1.1' }), 'sibling')?.clear).toBe(1.04)
  })

  test.each([
    [{ VLLM_WAITING_CLEAR: '30' }, 'VLLM_WAITING_CLEAR is 30: may be at most WAITING_LIMIT, which is 20 by default'],
    [
      { VLLM_WAITING_LIMIT: '5', WAITING_CLEAR: '6' },
      'WAITING_CLEAR is 6: may be at most VLLM_WAITING_LIMIT, which is 5',
    ],
    [
      { KV_CACHE_LIMIT: '80%', KV_CACHE_CLEAR: '80%' },
      'KV_CACHE_CLEAR is 0.8: may be below KV_CACHE_LIMIT, which is 0.8',
    ],
    [
      { KV_CACHE_CLEAR: '80' },
      'KV_CACHE_CLEAR is 80: write a share as 0.9 or 90%; a bare number above 1 could be either',
    ],
    [{ VLLM_DOWN_CLEAR: '1' }, 'VLLM_DOWN_CLEAR: the rule down has no clear of its own: leave it out'],
    [{ GAP_CLEAR: '2' }, 'GAP_CLEAR: the rule gap has no clear of its own: leave it out'],
  ])('%o is refused', (variables, problem) => expect(problemsOf('vllm', variables)).toEqual([problem]))

  test('a limit that could not be read makes no second problem of its clear', () => {
    expect(problemsOf('vllm', { WAITING_LIMIT: 'x', WAITING_CLEAR: '30' })).toEqual([
      expect.stringMatching(/^WAITING_LIMIT is x: may be/),
    ])
  })
})

describe('times and priorities', () => {
  test.each([
    ['FOR', '0s', { for: 0 }],
    ['FOR', '90s', { for: 90_000 }],
    ['REPEAT', '1h', { repeat: 60 * MINUTE }],
    ['REPEAT', 'off', { repeat: undefined }],
    ['PRIORITY', '0', { priority: 0 }],
    ['PRIORITY', '10', { priority: 10 }],
  ])('_%s=%s', (ending, text, expected) => {
    expect(ruleOf(configOf('vllm', { [`VLLM_WAITING_${ending}`]: text }), 'waiting')).toMatchObject(expected)
  })

  test.each([
    ['FOR', '5', 'a time with its unit, such as 5m'],
    ['FOR', '-5m', 'a time with its unit, such as 5m'],
    ['FOR', '100d', 'from 0s to 7d'],
    ['FOR', 'off', 'a time with its unit, such as 5m'],
    ['REPEAT', '0s', 'off, or a time with its unit, such as 4h'],
    ['REPEAT', '4', 'off, or a time with its unit, such as 4h'],
    ['PRIORITY', '11', 'a whole number from 0 to 10'],
    ['PRIORITY', '-1', 'a whole number from 0 to 10'],
    ['PRIORITY', '7.5', 'a whole number from 0 to 10'],
    ['PRIORITY', 'high', 'a whole number from 0 to 10'],
  ])('_%s=%s is refused', (ending, text, says) => {
    expect(problemsOf('vllm', { [`WAITING_${ending}`]: text })).toEqual([
      expect.stringMatching(new RegExp(`^WAITING_${ending} is ${text}: may be (.*, )?${says}`)),
    ])
  })

  test('case 106: a priority of 99 is refused, and 0 is taken with a warning that phones stay silent', () => {
    expect(problemsOf('vllm', { WAITING_PRIORITY: '99' })).toEqual([
      'WAITING_PRIORITY is 99: may be a whole number from 0 to 10',
    ])
    const config = configOf('vllm', { WAITING_PRIORITY: '0' })
    expect(config.warnings).toEqual(['WAITING_PRIORITY is 0: most phones stay silent'])
    expect(ruleOf(configOf('vllm', {}), 'waiting')?.priority).toBe(8)
  })
})

describe('settings that belong to nothing', () => {
  test.each([
    ['vllm', 'VLLM_WAITNG_LIMIT', 'VLLM_WAITNG_LIMIT: unknown setting, did you mean VLLM_WAITING_LIMIT?'],
    ['vllm', 'VLLM_KVCACHE_FOR', 'VLLM_KVCACHE_FOR: unknown setting, did you mean VLLM_KV_CACHE_FOR?'],
    [
      'vllm',
      'VLLM_CHTA_WAITING_LIMIT',
      'VLLM_CHTA_WAITING_LIMIT: unknown setting, did you mean VLLM_CHAT_WAITING_LIMIT?',
    ],
    ['vllm', 'VLLM_QUEUE_LIMIT', 'VLLM_QUEUE_LIMIT: unknown setting, did you mean VLLM_QUEUE_WAIT_LIMIT?'],
    [
      'vllm',
      'VLLM_CHAT_A_WAITING_PRIORTY',
      'VLLM_CHAT_A_WAITING_PRIORTY: unknown setting, did you mean VLLM_CHAT_A_WAITING_PRIORITY?',
    ],
    [
      'vllm',
      'VLLM_SUMMARISER_WAITING_LIMIT',
      'VLLM_SUMMARISER_WAITING_LIMIT: unknown setting: no endpoint or group of that name is configured',
    ],
    ['vllm', 'VLLM__WAITING_LIMIT', 'VLLM__WAITING_LIMIT: unknown setting, did you mean VLLM_WAITING_LIMIT?'],
    ['vllm', 'VLLM_LIMIT', /^VLLM_LIMIT: unknown setting; the rules of vllm are waiting, inflight/],
    ['tgi', 'VLLM_LIMIT', undefined],
    ['vllm', 'VLLM_CHAT_A_LIMIT', /^VLLM_CHAT_A_LIMIT: unknown setting; the rules of vllm are waiting, inflight/],
    ['vllm', 'VLLM_XYZ_LIMIT', /^VLLM_XYZ_LIMIT: unknown setting; the rules of vllm are waiting, inflight/],
    ['vllm', 'VLLM_CANARY_LIMIT', /^VLLM_CANARY_LIMIT: vllm has no rule canary; its rules are waiting, /],
    ['tgi', 'TGI_TTFT_LIMIT', /^TGI_TTFT_LIMIT: tgi has no rule ttft; its rules are waiting, /],
    ['tgi', 'TGI_CHAT_KV_CACHE_PRIORITY', /^TGI_CHAT_KV_CACHE_PRIORITY: tgi has no rule kv_cache; /],
    ['tgi', 'TTFT_LIMIT', undefined],
    ['tgi', 'VLLM_WAITNG_LIMIT', 'VLLM_WAITNG_LIMIT: unknown setting, did you mean VLLM_WAITING_LIMIT?'],
    ['tgi', 'WAITNG_LIMIT', 'WAITNG_LIMIT: unknown setting, did you mean WAITING_LIMIT?'],
    ['vllm', 'VLLM_LOGGING_LEVEL', undefined],
    ['vllm', 'VLLM_HOST_IP', undefined],
    ['vllm', 'MEMORY_LIMIT', undefined],
    ['vllm', 'XVLLM_WAITNG_LIMIT', 'XVLLM_WAITNG_LIMIT: unknown setting, did you mean VLLM_WAITING_LIMIT?'],
  ] as [Backend, string, string | RegExp | undefined][])('%s: %s', (backend, name, problem) => {
    const variables = { [`${backend.toUpperCase()}_ENDPOINTS`]: 'chat/a=http://h1 chat/b=http://h2', [name]: '5' }
    expect(problemsOf(backend, variables)).toEqual(
      problem === undefined ? [] : [expect.stringMatching(asPattern(problem))],
    )
  })

  test('an empty one is not set', () => {
    expect(problemsOf('vllm', { VLLM_WAITNG_LIMIT: ' ' })).toEqual([])
  })

  test('the names in broken pairs count as configured, and so does what cannot be read', () => {
    const settings = { VLLM_CHAT_WAITING_LIMIT: '5', VLLM_CHAT_A_TTFT_LIMIT: '5' }
    expect(problemsOf('vllm', { ...settings, VLLM_ENDPOINTS: 'chat/a=nonsense' })).toHaveLength(1)
    expect(problemsOf('vllm', { ...settings, VLLM_ENDPOINTS: 'chat/a' })).toHaveLength(1)
    expect(problemsOf('vllm', { ...settings, VLLM_ENDPOINTS: 'Chat/A=http://h' })).toHaveLength(1)
    expect(problemsOf('vllm', { ...settings, VLLM_ENDPOINTS: 'Chat/A=http://h', VLLM_WAITNG_LIMIT: '5' })).toHaveLength(
      2,
    )
  })

  test('settings of the backend are checked although the endpoints are broken', () => {
    expect(problemsOf('vllm', { VLLM_ENDPOINTS: 'Chat=', VLLM_KV_CACHE_LIMIT: '90' })).toHaveLength(2)
  })
})

function asPattern(problem: string | RegExp): RegExp {
  return typeof problem === 'string' ? new RegExp(`^${problem.replace(/[.?]/g, '\\$&')}$`) : problem
}
