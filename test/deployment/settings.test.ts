import { describe, expect, test } from 'vitest'
import { monthlyCost } from '../../tools/deploy/cost.ts'
import { timeoutOf } from '../../tools/deploy/functions.ts'
import { readPrices } from '../../tools/deploy/prices.ts'
import { type Deployment, parseDeployment } from '../../tools/deploy/settings.ts'
import { configuredFunctions, isSecret, variablesOf, withoutSecrets } from '../../tools/deploy/variables.ts'

function deployment(env: Record<string, string> = {}): Deployment {
  const parsed = parseDeployment(env)
  if ('problems' in parsed) throw new Error(parsed.problems.join('\n'))
  return parsed.deployment
}

function problems(env: Record<string, string>): string[] {
  const parsed = parseDeployment(env)
  return 'problems' in parsed ? parsed.problems : []
}

describe('settings', () => {
  test('without any: Frankfurt, every minute, 256 MB on arm64', () => {
    expect(deployment()).toMatchObject({ region: 'eu-central-1', stage: 'prod', period: 60, memory: 256, shards: 1 })
  })

  test("the region of AWS's own variables is taken, ours goes before it", () => {
    expect(deployment({ AWS_REGION: 'us-east-1' }).region).toBe('us-east-1')
    expect(deployment({ AWS_REGION: 'us-east-1', DEPLOY_REGION: 'eu-west-1' }).region).toBe('eu-west-1')
  })

  test.each([
    ['rate(1 minute)', 60],
    ['rate(5 minutes)', 300],
    ['rate(2 hours)', 7200],
  ])('%s is a period of %i s', (DEPLOY_SCHEDULE, period) => {
    expect(deployment({ DEPLOY_SCHEDULE }).period).toBe(period)
  })

  test.each([
    ['DEPLOY_REGION', 'Frankfurt'],
    ['DEPLOY_STAGE', 'our stage'],
    ['DEPLOY_SCHEDULE', 'cron(* * * * ? *)'],
    ['DEPLOY_MEMORY', '64'],
    ['DEPLOY_ARCHITECTURE', 'arm'],
    ['DEPLOY_CONCURRENCY', '5'],
    ['DEPLOY_SHARDS', '0'],
    ['DEPLOY_ALARM_EMAIL', 'ops'],
    ['DEPLOY_SUBNETS', 'vpc-1'],
    ['DEPLOY_SUBNET', 'subnet-1'],
  ])('%s=%s is a problem that names it', (name, value) => {
    expect(problems({ [name]: value }).join('\n')).toContain(name)
  })

  test('a VPC needs subnets and security groups', () => {
    expect(problems({ DEPLOY_SUBNETS: 'subnet-1' })).toEqual([
      'DEPLOY_SUBNETS, DEPLOY_SECURITY_GROUPS: a VPC needs both',
    ])
    expect(deployment({ DEPLOY_SUBNETS: 'subnet-1', DEPLOY_SECURITY_GROUPS: 'sg-1,sg-2' }).vpc).toEqual({
      subnetIds: ['subnet-1'],
      securityGroupIds: ['sg-1', 'sg-2'],
    })
  })
})

describe('which functions', () => {
  test.each<[what: string, env: Record<string, string>, functions: string[]]>([
    ['nothing set', { NOTIFLY_URL: 'https://p', VLLM_WAITING_LIMIT: '3', TGI_ENDPOINTS: ' ' }, []],
    ['one backend', { SGLANG_ENDPOINTS: 'a=http://x' }, ['sglang']],
    ["the seed's names", { METRICS_URL: 'http://x', OLLAMA_URL: 'http://y' }, ['vllm', 'ollama']],
    ['a list from elsewhere', { TGI_TARGETS: 'https://x/targets' }, ['tgi']],
    ['heartbeats', { HEARTBEAT_WORKERS: 'a=60s+30s' }, ['heartbeat-check', 'heartbeat-receive']],
  ])('%s', (_what, env, functions) => {
    expect(configuredFunctions(env)).toEqual(functions)
  })
})

describe('which variables', () => {
  const env = {
    OLLAMA_ENDPOINTS: 'a=http://x',
    OLLAMA_HOST: '0.0.0.0',
    OLLAMA_DEBUG: '1',
    CANARY_LOAD: 'yes',
    CANARY_LIMIT: '7',
    TTFT_LIMIT: '3',
    STATE_DIR: 'x',
    PATH: '/bin',
    MEMORY_LIMIT: '5',
    VLLM_ENDPOINTS: 'b=http://y',
    HEARTBEAT_TOKEN: 't',
    HEARTBEAT_WORKERS: 'w=60s+30s',
  }

  test("a backend gets its own settings and the rules that it has, not the server's own variables", () => {
    expect(Object.keys(variablesOf('ollama', env))).toEqual(['CANARY_LIMIT', 'CANARY_LOAD', 'OLLAMA_ENDPOINTS'])
    expect(Object.keys(variablesOf('vllm', env))).toEqual(['TTFT_LIMIT', 'VLLM_ENDPOINTS'])
  })

  test('the channels and who hears go along, and nothing of another program', () => {
    const channels = {
      PUSH: 'team',
      PUSH_TEAM: 'ntfy+https://ntfy.sh/t',
      PUSH_TEAM_TOKEN: 't',
      PUSH_TEAM_MIN_PRIORITY: '7',
      PUSH_TEAM_LANGUAGE: 'ru',
      PUSH_TEAM_FALLBACK: 'x',
    }
    const others = { PUSH_GATEWAY_URL: 'http://x', TGI_PUSH: 'team' }
    expect(Object.keys(variablesOf('vllm', { ...channels, ...others, VLLM_CHAT_PUSH: 'team' }))).toEqual(
      [...Object.keys(channels), 'VLLM_CHAT_PUSH'].sort(),
    )
    expect(variablesOf('heartbeat-receive', channels)).toEqual({})
  })

  test('only the receiver gets the token of the workers', () => {
    expect(Object.keys(variablesOf('heartbeat-receive', env))).toEqual(['HEARTBEAT_TOKEN', 'HEARTBEAT_WORKERS'])
    expect(variablesOf('vllm', env)).not.toHaveProperty('HEARTBEAT_TOKEN')
  })

  test.each([
    ['NOTIFLY_TOKEN', 'x', true],
    ['VLLM_CHAT_A_BASIC_AUTH', 'u:p', true],
    ['PING_URL', 'https://hc-ping.com/uuid', true],
    ['VLLM_ENDPOINTS', 'a=http://user:pass@host', true],
    ['TGI_TARGETS', 'https://host/list?token=abc', true],
    ['VLLM_ENDPOINTS', 'a=http://host:8000', false],
    ['PUSH_TEAM', 'slack+https://hooks.slack.com/services/T/B/x', true],
    ['PUSH_TEAM_TOKEN', 'x', true],
    ['PUSH_TEAM_MIN_PRIORITY', '7', false],
    ['VLLM_CHAT_PUSH', 'team', false],
    ['WAITING_LIMIT', '20', false],
  ])('%s=%s secret: %s', (name, text, secret) => {
    expect(isSecret(name, text)).toBe(secret)
  })

  test('a secret becomes the name of its parameter; one that names a parameter stays', () => {
    expect(withoutSecrets({ NOTIFLY_TOKEN: 'abc', VLLM_BEARER_TOKEN: 'ssm:/x', WINDOW: ' 5m ' }, 'dev')).toEqual({
      NOTIFLY_TOKEN: 'ssm:/queuebell/dev/NOTIFLY_TOKEN',
      VLLM_BEARER_TOKEN: 'ssm:/x',
      WINDOW: '5m',
    })
  })
})

const PRICES = readPrices()

describe('time and money', () => {
  test('a price that is not in the table is named, not taken for nothing', () => {
    expect(() => readPrices('<!-- prices:start -->\n<!-- prices:end -->')).toThrow('no row "Lambda requests"')
  })

  test('a canary that may load a model gets the time for it, others stay below the period', () => {
    const loading = deployment({ CANARY_LOAD: 'yes', CANARY_LOAD_TIMEOUT: '120s' })
    expect([timeoutOf('ollama', loading), timeoutOf('vllm', loading)]).toEqual([170, 50])
    expect(timeoutOf('ollama', deployment())).toBe(50)
    expect(timeoutOf('vllm', deployment({ DEPLOY_SCHEDULE: 'rate(1 hour)' }))).toBe(110)
  })

  test('one function every minute: 43,800 runs, a write and a read each', () => {
    const cost = monthlyCost(['vllm'], deployment(), PRICES)
    expect(cost.map(({ count }) => Math.round(count))).toEqual([43_800, 10_950, 43_800, 43_800, 0, 3, 9])
    const together = cost.reduce((sum, { dollars }) => sum + dollars, 0)
    expect(together).toBeGreaterThan(3)
    expect(together).toBeLessThan(4)
    expect(cost.reduce((sum, { dollarsAfterFree }) => sum + dollarsAfterFree, 0)).toBeLessThan(0.5)
  })

  test.each<[what: string, env: Record<string, string>, metrics: number | undefined]>([
    ['nine of each function, two here', {}, 18],
    ['of each shard; heartbeats are never divided', { DEPLOY_SHARDS: '4' }, 45],
    ['written in one hour of two', { DEPLOY_SCHEDULE: 'rate(2 hours)' }, 9],
    ['none', { METRICS: 'off' }, undefined],
  ])('metrics of a month: %s', (_what, env, metrics) => {
    const cost = monthlyCost(['vllm', 'heartbeat-check', 'heartbeat-receive'], deployment(env), PRICES)
    expect(cost.find(({ what }) => what === 'Metrics')?.count).toBe(metrics)
  })

  test('half as often and half the memory cost half; shards cost their number; the receiver costs nothing by itself', () => {
    const time = (env: Record<string, string>) =>
      monthlyCost(['vllm', 'heartbeat-receive'], deployment(env), PRICES)[1]?.dollars ?? 0
    expect(time({ DEPLOY_SCHEDULE: 'rate(2 minutes)' })).toBeCloseTo(time({}) / 2)
    expect(time({ DEPLOY_MEMORY: '128' })).toBeCloseTo(time({}) / 2)
    expect(time({ DEPLOY_SHARDS: '8' })).toBeCloseTo(time({}) * 8)
  })
})
