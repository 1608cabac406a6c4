/**
 * What serverless.yml asks for with `${file(./dist/serverless.cjs):…}`: the parts of the stack that depend on what is
 * configured. Built by `npm run build`; the framework has read `.env` into the environment by then.
 */
import { alarmResources } from './alarms.ts'
import {
  type FunctionEntry,
  functionsFor,
  PAGE_ROLE,
  parametersOf,
  RECEIVER_ROLE,
  targetObjectsOf,
} from './functions.ts'
import { type Deployment, parseDeployment } from './settings.ts'
import { configuredFunctions, type FunctionName } from './variables.ts'

interface FrameworkTools {
  resolveVariable(name: string): Promise<unknown>
}

async function deploymentOf({ resolveVariable }: FrameworkTools): Promise<Deployment> {
  const parsed = parseDeployment(process.env)
  if ('problems' in parsed) throw new Error(`\n${parsed.problems.join('\n')}`)
  // `osls --stage` goes before the variable.
  return { ...parsed.deployment, stage: String(await resolveVariable('sls:stage')) }
}

export async function functions(tools: FrameworkTools): Promise<unknown> {
  const found = functionsFor(process.env, await deploymentOf(tools))
  if (Object.keys(found).length === 0)
    throw new Error('\nNothing to deploy: set VLLM_ENDPOINTS, or those of another backend')
  return found
}

/** What the scheduled functions may do: their state, the parameters of their secrets, the lists of their endpoints. */
export async function statements(tools: FrameworkTools): Promise<unknown[]> {
  const deployment = await deploymentOf(tools)
  const { prefix } = deployment
  const { 'heartbeat-receive': _, page: __, ...functions } = functionsFor(process.env, deployment)
  const targets = targetObjectsOf(functions).map((object) => ({ 'Fn::Sub': `arn:\${AWS::Partition}:s3:::${object}` }))
  return [
    allow(['s3:GetObject', 's3:PutObject'], inBucket(deployment, `/${prefix}*`)),
    // On purpose: without it S3 answers 403, not 404, for a state that does not exist yet. The checker lists the beats.
    { ...allow(['s3:ListBucket'], inBucket(deployment, '')), Condition: { StringLike: { 's3:prefix': `${prefix}*` } } },
    ...readParameters(functions),
    ...(targets.length > 0 ? [allow(['s3:GetObject'], targets)] : []),
  ]
}

/** The roles of the functions that the whole internet may ask, where they are there: each with what it needs and no more. */
export async function roles(tools: FrameworkTools): Promise<unknown> {
  const deployment = await deploymentOf(tools)
  const { 'heartbeat-receive': receiver, page, ...watchers } = functionsFor(process.env, deployment)
  return {
    Resources: {
      ...(receiver ? { [RECEIVER_ROLE]: receiverRole(receiver, deployment) } : {}),
      ...(page ? { [PAGE_ROLE]: pageRole(page, Object.keys(watchers), deployment) } : {}),
    },
  }
}

/** It writes beats and its log, and reads its own token. */
function receiverRole(receiver: FunctionEntry, deployment: Deployment): unknown {
  const beats = inBucket(deployment, `/${deployment.prefix}beats/*`)
  return roleOf('heartbeat-receive', [allow(['s3:PutObject'], beats), ...readParameters({ receiver })], deployment)
}

/** It reads and writes the states of the watchers, and no other object, and reads its own secrets. */
function pageRole(page: FunctionEntry, watchers: readonly string[], deployment: Deployment): unknown {
  const { prefix, shards } = deployment
  const states = watchers.flatMap((name) => [
    inBucket(deployment, `/${prefix}${name}.json`),
    ...(shards > 1 ? [inBucket(deployment, `/${prefix}${name}.*-of-${shards}.json`)] : []),
  ])
  const statements = [
    allow(['s3:GetObject', 's3:PutObject'], states),
    { ...allow(['s3:ListBucket'], inBucket(deployment, '')), Condition: { StringLike: { 's3:prefix': `${prefix}*` } } },
    ...readParameters({ page }),
  ]
  return roleOf('page', statements, deployment)
}

function roleOf(name: FunctionName, statements: readonly unknown[], { stage, vpc }: Deployment): unknown {
  const log = `arn:\${AWS::Partition}:logs:\${AWS::Region}:\${AWS::AccountId}:log-group:/aws/lambda/queuebell-${stage}-${name}:*`
  const Statement = [allow(['logs:CreateLogStream', 'logs:PutLogEvents'], { 'Fn::Sub': log }), ...statements]
  const vpcAccess = { 'Fn::Sub': `arn:\${AWS::Partition}:iam::aws:policy/service-role/AWSLambdaVPCAccessExecutionRole` }
  return {
    Type: 'AWS::IAM::Role',
    Properties: {
      AssumeRolePolicyDocument: {
        Version: '2012-10-17',
        Statement: [{ Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' }, Action: 'sts:AssumeRole' }],
      },
      Policies: [{ PolicyName: name, PolicyDocument: { Version: '2012-10-17', Statement } }],
      ...(vpc ? { ManagedPolicyArns: [vpcAccess] } : {}),
    },
  }
}

function inBucket({ bucket }: Deployment, resource: string): unknown {
  const Bucket = bucket ?? { Ref: 'StateBucket' }
  return { 'Fn::Sub': [`arn:\${AWS::Partition}:s3:::\${Bucket}${resource}`, { Bucket }] }
}

function readParameters(functions: Readonly<Record<string, FunctionEntry>>): unknown[] {
  const parameters = parametersOf(functions).map((name) => ({
    'Fn::Sub': `arn:\${AWS::Partition}:ssm:\${AWS::Region}:\${AWS::AccountId}:${name}`,
  }))
  return parameters.length > 0 ? [allow(['ssm:GetParameters'], parameters)] : []
}

function allow(Action: string[], Resource: unknown) {
  return { Effect: 'Allow', Action, Resource }
}

/** Alarms and their e-mail. */
export async function alarms(tools: FrameworkTools): Promise<unknown> {
  return { Resources: alarmResources(configuredFunctions(process.env), await deploymentOf(tools)) }
}

/** The bucket of the state, unless an existing one is named. */
export async function storage(tools: FrameworkTools): Promise<unknown> {
  return { Resources: (await deploymentOf(tools)).bucket ? {} : stateBucket() }
}

function stateBucket(): Record<string, unknown> {
  return {
    StateBucket: {
      Type: 'AWS::S3::Bucket',
      // The stack can be removed with the state in it; the bucket is then left for a person to delete.
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: {
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
        OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
        BucketEncryption: {
          ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
        },
        VersioningConfiguration: { Status: 'Enabled' },
        // A run a minute writes 1,440 versions a day: yesterday's are of no use.
        LifecycleConfiguration: {
          Rules: [
            { Id: 'old-versions', Status: 'Enabled', NoncurrentVersionExpiration: { NoncurrentDays: 1 } },
            {
              Id: 'leftovers',
              Status: 'Enabled',
              ExpiredObjectDeleteMarker: true,
              AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
            },
          ],
        },
      },
    },
    StateBucketPolicy: {
      Type: 'AWS::S3::BucketPolicy',
      Properties: {
        Bucket: { Ref: 'StateBucket' },
        PolicyDocument: {
          Version: '2012-10-17',
          Statement: [
            {
              Sid: 'OnlyEncryptedTransport',
              Effect: 'Deny',
              Principal: '*',
              Action: 's3:*',
              Resource: [
                { 'Fn::GetAtt': ['StateBucket', 'Arn'] },
                { 'Fn::Join': ['/', [{ 'Fn::GetAtt': ['StateBucket', 'Arn'] }, '*']] },
              ],
              Condition: { Bool: { 'aws:SecureTransport': 'false' } },
            },
          ],
        },
      },
    },
  }
}
