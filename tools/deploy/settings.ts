import * as z from 'zod'
import { parseDuration } from '../../src/config/duration.ts'
import type { MetricsMode } from '../../src/model/config.ts'
import type { Variables } from './variables.ts'

/** What a deployment can be told, beside what is watched. */
export interface Deployment {
  region: string
  stage: string
  /** As EventBridge takes it: `rate(1 minute)`. */
  schedule: string
  /** Seconds. */
  period: number
  /** MB. */
  memory: number
  architecture: 'arm64' | 'x86_64'
  /** `undefined`: not reserved. */
  concurrency: number | undefined
  /** Calls a tick, each for its part of the endpoints; 1 is one for all. */
  shards: number
  alarmEmail: string | undefined
  vpc: { subnetIds: string[]; securityGroupIds: string[] } | undefined
  /** An existing bucket; otherwise one is made. */
  bucket: string | undefined
  prefix: string
  /** Seconds that a canary may take to load a model. */
  loading: number
  /** `METRICS`: what becomes CloudWatch metrics, at a price. */
  metrics: MetricsMode
}

const UNIT_SECONDS = { minute: 60, hour: 3600, day: 86_400 } as const
const RATE = /^rate\((\d+) (minute|hour|day)s?\)$/
const ids = (beginning: string) =>
  z
    .string()
    .transform((text) => text.split(/[\s,]+/).filter(Boolean))
    .refine(
      (list) => list.every((id) => id.startsWith(beginning)),
      `may be ids that begin with ${beginning}, separated by commas`,
    )

const wholeNumber = (min: number, max: number, mayBe: string) =>
  z.coerce.number(mayBe).int(mayBe).min(min, mayBe).max(max, mayBe)

const schema = z.object({
  DEPLOY_REGION: z.string().regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'may be an AWS region, such as eu-central-1'),
  DEPLOY_STAGE: z.string().regex(/^[a-zA-Z0-9-]{1,20}$/, 'may be up to 20 letters, digits and -'),
  DEPLOY_SCHEDULE: z.string().regex(RATE, 'may be rate(1 minute), rate(5 minutes), rate(1 hour), …'),
  DEPLOY_MEMORY: wholeNumber(128, 10_240, 'may be 128 to 10240 (MB)'),
  DEPLOY_ARCHITECTURE: z.enum(['arm64', 'x86_64'], 'may be arm64 or x86_64'),
  DEPLOY_CONCURRENCY: z.enum(['1', 'off'], 'may be 1 (for each shard) or off'),
  DEPLOY_SHARDS: wholeNumber(1, 64, 'may be 1 to 64'),
  DEPLOY_ALARM_EMAIL: z.email('may be an e-mail address').optional(),
  DEPLOY_SUBNETS: ids('subnet-').optional(),
  DEPLOY_SECURITY_GROUPS: ids('sg-').optional(),
})

/** Every `DEPLOY_…` variable and what holds without it: the table of `docs/operating.md`. */
export const DEPLOY_DEFAULTS: Readonly<Record<keyof z.infer<typeof schema>, string | undefined>> = {
  DEPLOY_REGION: 'eu-central-1',
  DEPLOY_STAGE: 'prod',
  DEPLOY_SCHEDULE: 'rate(1 minute)',
  DEPLOY_MEMORY: '256',
  DEPLOY_ARCHITECTURE: 'arm64',
  DEPLOY_CONCURRENCY: '1',
  DEPLOY_SHARDS: '1',
  DEPLOY_ALARM_EMAIL: undefined,
  DEPLOY_SUBNETS: undefined,
  DEPLOY_SECURITY_GROUPS: undefined,
}

/** All problems at once, or the deployment. */
export function parseDeployment(env: Variables): { deployment: Deployment } | { problems: string[] } {
  const given = Object.fromEntries(
    Object.entries(DEPLOY_DEFAULTS).map(([name, fallback]) => [name, env[name]?.trim() || fallback]),
  )
  given.DEPLOY_REGION = env.DEPLOY_REGION?.trim() || env.AWS_REGION || env.AWS_DEFAULT_REGION || given.DEPLOY_REGION
  const parsed = schema.safeParse(given)
  const problems = Object.keys(env)
    .filter((name) => name.startsWith('DEPLOY_') && !(name in DEPLOY_DEFAULTS))
    .map((name) => `${name}: unknown; may be ${Object.keys(DEPLOY_DEFAULTS).join(', ')}`)
  if (!parsed.success)
    problems.push(...parsed.error.issues.map(({ path, message }) => `${String(path[0])}: ${message}`))
  if (parsed.success && Boolean(parsed.data.DEPLOY_SUBNETS) !== Boolean(parsed.data.DEPLOY_SECURITY_GROUPS)) {
    problems.push('DEPLOY_SUBNETS, DEPLOY_SECURITY_GROUPS: a VPC needs both')
  }
  if (!parsed.success || problems.length > 0) return { problems }
  return { deployment: deploymentOf(parsed.data, env) }
}

function deploymentOf(data: z.infer<typeof schema>, env: Variables): Deployment {
  const { DEPLOY_SUBNETS: subnetIds, DEPLOY_SECURITY_GROUPS: securityGroupIds } = data
  const loads = /^(yes|true|1|on)$/i.test(env.CANARY_LOAD?.trim() ?? '')
  return {
    region: data.DEPLOY_REGION,
    stage: data.DEPLOY_STAGE,
    schedule: data.DEPLOY_SCHEDULE,
    period: periodOf(data.DEPLOY_SCHEDULE),
    memory: data.DEPLOY_MEMORY,
    architecture: data.DEPLOY_ARCHITECTURE,
    concurrency: data.DEPLOY_CONCURRENCY === '1' ? data.DEPLOY_SHARDS : undefined,
    shards: data.DEPLOY_SHARDS,
    alarmEmail: data.DEPLOY_ALARM_EMAIL,
    vpc: subnetIds && securityGroupIds ? { subnetIds, securityGroupIds } : undefined,
    bucket: env.STATE_BUCKET?.trim() || undefined,
    prefix: env.STATE_PREFIX?.trim() || 'queuebell/',
    loading: loads ? (parseDuration(env.CANARY_LOAD_TIMEOUT ?? '') ?? 120_000) / 1000 : 0,
    // Any other value is refused where the function's own configuration is checked.
    metrics: METRICS_MODES.find((mode) => mode === env.METRICS?.trim().toLowerCase()) ?? 'own',
  }
}

const METRICS_MODES = ['off', 'own', 'all'] as const satisfies readonly MetricsMode[]

/** Seconds between two runs. */
function periodOf(schedule: string): number {
  const [, count, unit] = RATE.exec(schedule) ?? []
  return Number(count) * UNIT_SECONDS[unit as keyof typeof UNIT_SECONDS]
}
