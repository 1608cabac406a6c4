import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Bundles, buildBundles } from './bundles.ts'
import type { Template } from './deployment/template.ts'
import { schemaProblems } from './deployment/template-schema.ts'
import { securityProblems } from './deployment/template-security.ts'
import { unzip } from './deployment/zip.ts'

const SECRET = 'planted-5ecret-marker'
const SHARED = {
  NOTIFLY_URL: 'https://push.example',
  NOTIFLY_TOKEN: SECRET,
  PING_URL: `https://hc-ping.com/${SECRET}`,
  DEPLOY_REGION: 'eu-central-1',
  HOME_SECRET: SECRET,
}
const BACKENDS = ['VLLM', 'TGI', 'TEI', 'SGLANG', 'LLAMACPP', 'OLLAMA', 'OPENAI', 'DCGM', 'GATEWAY']
const ALL = {
  ...SHARED,
  ...Object.fromEntries(BACKENDS.map((backend) => [`${backend}_ENDPOINTS`, 'a=http://10.0.0.5:8000/metrics'])),
  HEARTBEAT_WORKERS: 'indexer=60s+30s',
  HEARTBEAT_TOKEN: SECRET,
  PAGE_SECRET: `${SECRET}-of-the-page-and-long-enough`,
  PAGE_TOKEN: SECRET,
  PAGE_URL: 'https://page.example',
}
const ONE = {
  ...SHARED,
  VLLM_ENDPOINTS: 'chat/a=http://10.0.0.5:8000',
  VLLM_CHAT_A_WAITING_LIMIT: '5',
  VLLM_WAITNG_LIMIT: '7',
  VLLM_API_KEY: SECRET,
  VLLM_BEARER_TOKEN: 'ssm:/shared/vllm-token',
  WAITING_LIMIT: '30',
  TGI_BEARER_TOKEN: SECRET,
}
const VPC = {
  ...ONE,
  DEPLOY_SUBNETS: 'subnet-1, subnet-2',
  DEPLOY_SECURITY_GROUPS: 'sg-1',
  DEPLOY_ALARM_EMAIL: 'ops@example.com',
  DEPLOY_SCHEDULE: 'rate(5 minutes)',
  DEPLOY_MEMORY: '512',
  DEPLOY_ARCHITECTURE: 'x86_64',
  STATE_BUCKET: 'our-bucket',
  STATE_PREFIX: 'team/queuebell/',
}

let bundles: Bundles
const templates: Record<string, Template> = {}
beforeAll(async () => {
  bundles = buildBundles()
  copyFileSync('serverless.yml', join(bundles.root, 'serverless.yml'))
  // One after the other: each writes into the folder of the service.
  for (const [name, env] of Object.entries({ one: ONE, all: ALL, vpc: VPC }))
    templates[name] = await packaged(name, env)
}, 120_000)
afterAll(() => rmSync(bundles.root, { recursive: true, force: true }))

/** `osls package`, offline and without credentials. */
async function packaged(name: string, env: Record<string, string>): Promise<Template> {
  await osls(name, env)
  return JSON.parse(
    readFileSync(join(bundles.root, name, 'cloudformation-template-update-stack.json'), 'utf8'),
  ) as Template
}

/** Rejects with all that it printed. */
async function osls(name: string, env: Record<string, string>): Promise<void> {
  mkdirSync(join(bundles.root, name), { recursive: true })
  const command = [resolve('node_modules/osls/bin/serverless.js'), 'package', '--package', name]
  const variables = { PATH: process.env.PATH, HOME: bundles.root, SLS_TELEMETRY_DISABLED: '1', ...env }
  await promisify(execFile)(process.execPath, command, { cwd: bundles.root, env: variables }).catch((error) => {
    throw new Error(`${error.stdout}${error.stderr}`)
  })
}

function of(template: Template | undefined, type: string) {
  return Object.values(template?.Resources ?? {}).filter((resource) => resource.Type === type)
}

function environmentOf(name: string): Record<string, unknown> {
  const { Environment } = properties(templates.one as Template, name)
  return (Environment as { Variables: Record<string, unknown> }).Variables
}

describe('what is created', () => {
  test.each([
    ['one', 1, 1],
    ['all', 12, 10],
    ['vpc', 1, 1],
  ])('%s: %i functions, %i schedules', (name, functions, schedules) => {
    expect(of(templates[name], 'AWS::Lambda::Function')).toHaveLength(functions)
    expect(of(templates[name], 'AWS::Events::Rule')).toHaveLength(schedules)
    // Three of each that is scheduled, one of each that is called from outside.
    expect(of(templates[name], 'AWS::CloudWatch::Alarm')).toHaveLength(3 * schedules + (functions - schedules))
  })

  test('case 110: a failed run is never tried again, and a late event is dropped after one period', () => {
    const configs = of(templates.all, 'AWS::Lambda::EventInvokeConfig')
    expect(configs).toHaveLength(10)
    for (const { Properties } of configs) {
      expect(Properties).toMatchObject({ MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 })
    }
  })

  test('case 113: a run ends before the next begins, and two of one function never overlap', () => {
    for (const { Properties } of of(templates.all, 'AWS::Lambda::Function')) {
      expect(Properties?.Timeout).toBeLessThan(60)
      const name = String(Properties?.FunctionName).replace('queuebell-prod-', '')
      const [at, MemorySize] = { page: [5, 1_024], 'heartbeat-receive': [undefined, 256] }[name] ?? [1, 256]
      expect(Properties?.ReservedConcurrentExecutions).toBe(at)
      expect(Properties).toMatchObject({ Runtime: 'nodejs24.x', Architectures: ['arm64'], MemorySize })
    }
  })

  test('case 124: the bucket is versioned, and old versions go after a day', () => {
    expect(templates.one?.Resources.StateBucket).toMatchObject({
      DeletionPolicy: 'Retain',
      Properties: {
        VersioningConfiguration: { Status: 'Enabled' },
        LifecycleConfiguration: { Rules: [{ NoncurrentVersionExpiration: { NoncurrentDays: 1 } }, {}] },
      },
    })
  })

  test('the heartbeat receiver and the page have addresses of their own and no schedule', () => {
    const open = { Properties: { AuthType: 'NONE' } }
    expect(of(templates.all, 'AWS::Lambda::Url')).toMatchObject([open, open])
    expect(of(templates.one, 'AWS::Lambda::Url')).toEqual([])
  })

  test('VPC, schedule, memory, architecture, e-mail and an existing bucket are parameters', () => {
    const [fn] = of(templates.vpc, 'AWS::Lambda::Function')
    expect(fn?.Properties).toMatchObject({
      MemorySize: 512,
      Architectures: ['x86_64'],
      Timeout: 110,
      VpcConfig: { SubnetIds: ['subnet-1', 'subnet-2'], SecurityGroupIds: ['sg-1'] },
      Environment: { Variables: { STATE_BUCKET: 'our-bucket', STATE_PREFIX: 'team/queuebell/' } },
    })
    expect(of(templates.vpc, 'AWS::Events::Rule')[0]?.Properties?.ScheduleExpression).toBe('rate(5 minutes)')
    expect(of(templates.vpc, 'AWS::SNS::Topic')[0]?.Properties).toMatchObject({
      Subscription: [{ Protocol: 'email', Endpoint: 'ops@example.com' }],
    })
    expect(of(templates.vpc, 'AWS::CloudWatch::Alarm')[0]?.Properties?.AlarmActions).toEqual([{ Ref: 'AlarmTopic' }])
    expect(templates.vpc?.Resources.StateBucket).toBeUndefined()
  })
})

test('shards: one schedule each, with the time of the tick', { tags: ['long'] }, async () => {
  const template = await packaged('shards', { ...ONE, DEPLOY_SHARDS: '3' })
  const inputs = of(template, 'AWS::Events::Rule').map(({ Properties }) => {
    const [target] = (Properties?.Targets ?? []) as { InputTransformer: unknown }[]
    return target?.InputTransformer
  })
  expect(inputs).toEqual(
    [1, 2, 3].map((part) => ({
      InputPathsMap: { time: '$.time' },
      InputTemplate: `{"time": <time>, "shard": "${part}/3"}`,
    })),
  )
  expect(of(template, 'AWS::Lambda::Function')[0]?.Properties?.ReservedConcurrentExecutions).toBe(3)
  expect(schemaProblems(template)).toEqual([])
})

describe('what the functions get', () => {
  test('the settings of their backend, misspelt ones too, and the shared ones; nothing else of the environment', () => {
    expect(environmentOf('VllmLambdaFunction')).toEqual({
      NOTIFLY_URL: 'https://push.example',
      NOTIFLY_TOKEN: 'ssm:/queuebell/prod/NOTIFLY_TOKEN',
      PING_URL: 'ssm:/queuebell/prod/PING_URL',
      STATE_BUCKET: { Ref: 'StateBucket' },
      VLLM_BEARER_TOKEN: 'ssm:/shared/vllm-token',
      VLLM_CHAT_A_WAITING_LIMIT: '5',
      VLLM_ENDPOINTS: 'chat/a=http://10.0.0.5:8000',
      VLLM_WAITNG_LIMIT: '7',
      WAITING_LIMIT: '30',
    })
  })

  test('no secret stands in anything that is packaged', () => {
    for (const name of Object.keys(templates)) {
      const texts = packagedFiles(name)
      expect(texts.size).toBeGreaterThan(3)
      expect([...texts].filter(([, bytes]) => bytes.includes(SECRET)).map(([file]) => `${name}/${file}`)).toEqual([])
    }
  })

  test('a function is its bundle with its loader, and nothing else is packaged with it', () => {
    const zipped = [...packagedFiles('all')].filter(([file]) => file.includes('.zip/'))
    expect(zipped.map(([file]) => file).filter((file) => /^([a-z-]+)\.zip\/dist\/\1\.mjs$/.test(file))).toHaveLength(12)
    const own = /^([a-z-]+)\.zip\/dist\/\1\.(?:mjs|cjs|[\w.-]+\.cache)$/
    expect(zipped.map(([file]) => file).filter((file) => !own.test(file))).toEqual([])
    expect(zipped.filter(([file]) => file.endsWith('.cjs'))).toHaveLength(12)
  })

  test('the state below its prefix, the parameters of its secrets, its logs: nothing more is allowed', () => {
    const allowed = statements(templates.vpc).filter(({ Action }) => !String(Action).startsWith('logs:'))
    expect(allowed).toEqual([
      {
        Effect: 'Allow',
        Action: ['s3:GetObject', 's3:PutObject'],
        Resource: { 'Fn::Sub': [`arn:\${AWS::Partition}:s3:::\${Bucket}/team/queuebell/*`, { Bucket: 'our-bucket' }] },
      },
      {
        Effect: 'Allow',
        Action: ['s3:ListBucket'],
        Resource: { 'Fn::Sub': [`arn:\${AWS::Partition}:s3:::\${Bucket}`, { Bucket: 'our-bucket' }] },
        Condition: { StringLike: { 's3:prefix': 'team/queuebell/*' } },
      },
      {
        Effect: 'Allow',
        Action: ['ssm:GetParameters'],
        Resource: ['queuebell/prod/NOTIFLY_TOKEN', 'queuebell/prod/PING_URL', 'shared/vllm-token'].map((name) => ({
          'Fn::Sub': `arn:\${AWS::Partition}:ssm:\${AWS::Region}:\${AWS::AccountId}:parameter/${name}`,
        })),
      },
    ])
  })
})

test('the receiver, which answers the whole internet, writes beats and reads no state and no token but its own', () => {
  const template = templates.all as Template
  expect(properties(template, 'HeartbeatDashreceiveLambdaFunction').Role).toEqual({
    'Fn::GetAtt': ['HeartbeatReceiveRole', 'Arn'],
  })
  const { Policies } = properties(template, 'HeartbeatReceiveRole') as { Policies: Policy[] }
  const allowed = Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
  expect(allowed.map(({ Action }) => Action)).toEqual([
    ['logs:CreateLogStream', 'logs:PutLogEvents'],
    ['s3:PutObject'],
    ['ssm:GetParameters'],
  ])
  const resources = allowed.map(({ Resource }) => JSON.stringify(Resource))
  expect(resources[0]).toContain('/aws/lambda/queuebell-prod-heartbeat-receive:*')
  expect(resources[1]).toContain('/queuebell/beats/*')
  expect(resources[2]).toMatch(/^\[[^[]*parameter\/queuebell\/prod\/HEARTBEAT_TOKEN[^[]*\]$/)
  expect(JSON.stringify(statements(template))).not.toContain('HEARTBEAT_TOKEN')
  expect(templates.one?.Resources.HeartbeatReceiveRole).toBeUndefined()
})

test('the page, which answers the whole internet too, reads and writes the states of watchers and no other object', () => {
  const template = templates.all as Template
  expect(properties(template, 'PageLambdaFunction').Role).toEqual({ 'Fn::GetAtt': ['PageRole', 'Arn'] })
  const { Policies } = properties(template, 'PageRole') as { Policies: Policy[] }
  const allowed = Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
  expect(allowed.map(({ Action }) => Action)).toEqual([
    ['logs:CreateLogStream', 'logs:PutLogEvents'],
    ['s3:GetObject', 's3:PutObject'],
    ['s3:ListBucket'],
    ['ssm:GetParameters'],
  ])
  const [, states, , secrets] = allowed.map(({ Resource }) => JSON.stringify(Resource))
  expect(states?.match(/queuebell\/[\w*.-]+/g)?.sort()).toEqual(
    [...BACKENDS.map((name) => name.toLowerCase()), 'heartbeat-check'].map((name) => `queuebell/${name}.json`).sort(),
  )
  expect(secrets?.match(/prod\/\w+/g)).toEqual(['prod/PAGE_SECRET', 'prod/PAGE_TOKEN'])
  expect(templates.one?.Resources.PageRole).toBeUndefined()
})

test('the page gets limits and what opens it, and nothing that servers are asked with', () => {
  const { Environment } = properties(templates.all as Template, 'PageLambdaFunction')
  const names = Object.keys((Environment as { Variables: Record<string, unknown> }).Variables)
  expect(names).toEqual(['PAGE_SECRET', 'PAGE_TOKEN', 'PAGE_URL', 'STATE_BUCKET'])
  const watcher = properties(templates.all as Template, 'VllmLambdaFunction').Environment
  expect(Object.keys((watcher as { Variables: Record<string, unknown> }).Variables)).not.toContain('PAGE_TOKEN')
})

test('in a VPC the receiver may make the network interfaces that it needs, and no more', {
  tags: ['long'],
}, async () => {
  const template = await packaged('private', { ...VPC, HEARTBEAT_WORKERS: 'a=60s+30s', HEARTBEAT_TOKEN: SECRET })
  const [managed, ...more] = properties(template, 'HeartbeatReceiveRole').ManagedPolicyArns as object[]
  expect(JSON.stringify(managed)).toContain('service-role/AWSLambdaVPCAccessExecutionRole')
  expect(more).toEqual([])
  expect([...schemaProblems(template), ...securityProblems(template)]).toEqual([])
})

/** Everything that is uploaded, with what is inside the archives. */
function packagedFiles(name: string): Map<string, Buffer> {
  const folder = join(bundles.root, name)
  return new Map(
    readdirSync(folder).flatMap((file): [string, Buffer][] => {
      const bytes = readFileSync(join(folder, file))
      if (!file.endsWith('.zip')) return [[file, bytes]]
      return [...unzip(bytes)].map(([inside, text]) => [`${file}/${inside}`, text])
    }),
  )
}

interface Policy {
  PolicyDocument: { Statement: { Action: unknown; Resource: unknown }[] }
}

function statements(template: Template | undefined) {
  const { Policies } = properties(template as Template, 'IamRoleLambdaExecution') as { Policies: Policy[] }
  return Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
}

describe('checked against the specification of CloudFormation and the rules of security', () => {
  test.each(['one', 'all', 'vpc'])('%s has no problem', (name) => {
    const template = templates[name] as Template
    expect([...schemaProblems(template), ...securityProblems(template)]).toEqual([])
  })

  test.each<[fault: string, plant: (template: Template) => void, problem: RegExp]>([
    [
      'a misspelt property',
      (t) => rename(t, 'VllmLambdaEvConf', 'MaximumRetryAttempts', 'MaxRetryAttempts'),
      /VllmLambdaEvConf\.MaxRetryAttempts: unknown/,
    ],
    [
      'a misspelt property further down',
      (t) => set(t, 'StateBucket', { VersioningConfiguration: { State: 'Enabled' } }),
      /StateBucket\.VersioningConfiguration\.State: unknown/,
    ],
    [
      'a missing required property',
      (t) => remove(t, 'VllmLambdaFunction', 'Role'),
      /VllmLambdaFunction\.Role: required/,
    ],
    [
      'a property of the wrong type',
      (t) => set(t, 'VllmLambdaFunction', { Timeout: 'soon' }),
      /VllmLambdaFunction\.Timeout: not/,
    ],
    [
      'an unknown type of resource',
      (t) => {
        t.Resources.Odd = { Type: 'AWS::S3::Bukket' }
      },
      /Odd: unknown type/,
    ],
    [
      'a public bucket',
      (t) => remove(t, 'StateBucket', 'PublicAccessBlockConfiguration'),
      /StateBucket: may be public/,
    ],
    [
      'a bucket half public',
      (t) => set(t, 'StateBucket', { PublicAccessBlockConfiguration: { BlockPublicAcls: true } }),
      /StateBucket: may be public/,
    ],
    ['a bucket without encryption', (t) => remove(t, 'StateBucket', 'BucketEncryption'), /StateBucket: not encrypted/],
    ['a wildcard action in IAM', (t) => allow(t, ['s3:*'], 'arn:aws:s3:::b/x/*'), /IamRoleLambdaExecution: s3:\*/],
    ['a wildcard resource in IAM', (t) => allow(t, ['s3:GetObject'], '*'), /IamRoleLambdaExecution: .* on \*/],
    [
      'a whole bucket in IAM',
      (t) => allow(t, ['s3:GetObject'], 'arn:aws:s3:::our-bucket/*'),
      /IamRoleLambdaExecution: .* on a whole bucket/,
    ],
    [
      'a retried function',
      (t) => set(t, 'VllmLambdaEvConf', { MaximumRetryAttempts: 2 }),
      /VllmLambdaEvConf: is retried/,
    ],
  ])('%s is found', (_fault, plant, problem) => {
    const template = structuredClone(templates.one as Template)
    plant(template)
    expect([...schemaProblems(template), ...securityProblems(template)].join('\n')).toMatch(problem)
  })
})

describe('what cannot be deployed says why', () => {
  test('nothing configured', async () => {
    await expect(osls('nothing', SHARED)).rejects.toThrow(/set VLLM_ENDPOINTS/)
  })

  test('all problems of the deployment at once', async () => {
    const failed = await osls('wrong', {
      ...ONE,
      DEPLOY_SCHEDULE: 'often',
      DEPLOY_MEMORY: '1',
      DEPLOY_SUBNET: 'x',
    }).catch(String)
    for (const name of ['DEPLOY_SCHEDULE', 'DEPLOY_MEMORY', 'DEPLOY_SUBNET: unknown']) expect(failed).toContain(name)
  })
})

function properties(template: Template, id: string): Record<string, unknown> {
  const { Properties } = template.Resources[id] ?? {}
  if (!Properties) throw new Error(`no resource ${id}`)
  return Properties
}

function set(template: Template, id: string, values: Record<string, unknown>): void {
  Object.assign(properties(template, id), values)
}

function remove(template: Template, id: string, name: string): void {
  delete properties(template, id)[name]
}

function rename(template: Template, id: string, from: string, to: string): void {
  const held = properties(template, id)
  held[to] = held[from]
  delete held[from]
}

function allow(template: Template, Action: string[], Resource: string): void {
  const { Policies } = properties(template, 'IamRoleLambdaExecution') as {
    Policies: { PolicyDocument: { Statement: unknown[] } }[]
  }
  Policies[0]?.PolicyDocument.Statement.push({ Effect: 'Allow', Action, Resource })
}
