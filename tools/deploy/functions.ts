import { shardEvents } from '../../src/targets/shards.ts'
import type { Deployment } from './settings.ts'
import {
  configuredFunctions,
  type FunctionName,
  isParameter,
  isScheduled,
  type Variables,
  variablesOf,
  withoutSecrets,
} from './variables.ts'

/** One entry of `functions:` in serverless.yml. */
export interface FunctionEntry {
  description: string
  handler: string
  timeout: number
  memorySize: number
  reservedConcurrency?: number
  maximumRetryAttempts?: 0
  maximumEventAge?: number
  package: { patterns: string[] }
  environment: Record<string, unknown>
  /** Logical id of a role; absent: the one that the scheduled functions share. */
  role?: string
  vpc?: Deployment['vpc']
  events?: unknown[]
  url?: boolean
}

/** A run must have ended before the next begins; this much before it. Seconds. */
const MARGIN = 10
/** Longer no run takes, but for a canary that loads a model. Seconds. */
const LONGEST = 110
/** Lambda's own limits, seconds. */
const EVENT_AGE = { min: 60, max: 21_600 }

/** The receiver answers the whole internet: it may write beats, and read neither the state nor the others' secrets. */
export const RECEIVER_ROLE = 'HeartbeatReceiveRole'
/** The page answers the whole internet too: it may read and write the states, and read its own secrets. */
export const PAGE_ROLE = 'PageRole'
/** MB. Lambda gives processor time by memory, and somebody waits for the page. */
const PAGE_MEMORY = 1_024
/** Requests at once: phones that ask for a picture together; who asks for more than that has no good reason. */
const PAGE_CONCURRENCY = 5

/** The functions of the stack: one for each backend that something is configured for. */
export function functionsFor(env: Variables, deployment: Deployment): Record<string, FunctionEntry> {
  return Object.fromEntries(configuredFunctions(env).map((name) => [name, entryOf(name, env, deployment)]))
}

/** Seconds. A canary that loads a model may take longer than the period: the ticks meanwhile are dropped, not queued. */
export function timeoutOf(name: FunctionName, { period, loading }: Deployment): number {
  if (!isScheduled(name)) return 10
  const ordinary = Math.min(LONGEST, period - MARGIN)
  return loading > 0 && (name === 'ollama' || name === 'openai')
    ? Math.min(900, Math.max(ordinary, loading + 50))
    : ordinary
}

/** The bundle with its loader, the code cache of the architecture, and OpenTelemetry's packages where they are asked for. */
function packaged(name: FunctionName, env: Variables, { architecture }: Deployment): string[] {
  const cache = `dist/${name}.*-${architecture === 'arm64' ? 'arm64' : 'x64'}.cache`
  return ['!**', `dist/${name}.mjs`, `dist/${name}.cjs`, cache, ...(isTraced(env) ? ['dist/telemetry.cjs'] : [])]
}

function entryOf(name: FunctionName, env: Variables, deployment: Deployment): FunctionEntry {
  const common = {
    handler: `dist/${name}.handler`,
    timeout: timeoutOf(name, deployment),
    memorySize: deployment.memory,
    package: { patterns: packaged(name, env, deployment) },
    environment: {
      ...withoutSecrets(variablesOf(name, env), deployment.stage),
      STATE_BUCKET: deployment.bucket ?? { Ref: 'StateBucket' },
    },
    ...(deployment.vpc ? { vpc: deployment.vpc } : {}),
  }
  if (name === 'heartbeat-receive')
    return { description: 'Queuebell: takes heartbeats', ...common, role: RECEIVER_ROLE, url: true }
  if (name === 'page') {
    const memorySize = Math.max(common.memorySize, PAGE_MEMORY)
    const reserved = deployment.concurrency ? { reservedConcurrency: PAGE_CONCURRENCY } : {}
    return { description: 'Queuebell: shows the page', ...common, memorySize, ...reserved, role: PAGE_ROLE, url: true }
  }
  return {
    description: `Queuebell: watches ${name}`,
    ...common,
    ...(deployment.concurrency
      ? { reservedConcurrency: Math.min(deployment.concurrency, shardsOf(name, deployment)) }
      : {}),
    // A run that failed is not tried again: the next tick judges newer readings. What was decided is saved before it is told.
    maximumRetryAttempts: 0,
    maximumEventAge: Math.min(EVENT_AGE.max, Math.max(EVENT_AGE.min, deployment.period)),
    events: shardEvents(shardsOf(name, deployment), deployment.schedule),
  }
}

/** OpenTelemetry's packages go along where a collector is named. */
function isTraced(env: Variables): boolean {
  return Object.keys(env).some((name) => /^OTEL_EXPORTER_OTLP_(\w+_)?ENDPOINT$/.test(name) && env[name]?.trim())
}

/** Calls a tick; the checker of heartbeats lists all beats at once and is never divided. */
export function shardsOf(name: FunctionName, { shards }: Deployment): number {
  return name === 'heartbeat-check' ? 1 : shards
}

/** Objects in S3 that name endpoints, `VLLM_TARGETS=s3://bucket/key`: read, never written. */
export function targetObjectsOf(functions: Readonly<Record<string, FunctionEntry>>): string[] {
  const values = Object.values(functions).flatMap(({ environment }) =>
    Object.entries(environment).flatMap(([name, value]) => (name.endsWith('_TARGETS') ? [String(value)] : [])),
  )
  return [...new Set(values.flatMap((value) => value.match(/s3:\/\/[^\s,]+/g) ?? []))].map((url) =>
    url.slice('s3://'.length),
  )
}

/** ARNs of the parameters that the functions read, below the account's own: `parameter/queuebell/prod/NOTIFLY_TOKEN`. */
export function parametersOf(functions: Readonly<Record<string, FunctionEntry>>): string[] {
  const names = Object.values(functions)
    .flatMap(({ environment }) => Object.values(environment))
    .filter((value): value is string => typeof value === 'string' && isParameter(value))
    .map((value) => value.trim().slice('ssm:'.length).trim())
  return [...new Set(names)].sort().map((name) => `parameter/${name.replace(/^\//, '')}`)
}
