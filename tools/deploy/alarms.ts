import type { Deployment } from './settings.ts'
import { type FunctionName, isScheduled } from './variables.ts'

interface Alarm {
  /** Part of the resource's name. */
  id: string
  metric: 'Errors' | 'Throttles' | 'Invocations'
  description: string
  operator: 'GreaterThanThreshold' | 'LessThanThreshold'
  threshold: number
  periods: { of: number; breaching: number }
  missing: 'notBreaching' | 'breaching'
}

const ALARMS: readonly Alarm[] = [
  {
    id: 'Errors',
    metric: 'Errors',
    description: 'fails: its log says why (configuration, state, push server)',
    operator: 'GreaterThanThreshold',
    threshold: 0,
    periods: { of: 3, breaching: 2 },
    missing: 'notBreaching',
  },
  {
    id: 'Throttles',
    metric: 'Throttles',
    description: 'is throttled: runs last longer than the period, or the account has no concurrency left',
    operator: 'GreaterThanThreshold',
    threshold: 0,
    periods: { of: 3, breaching: 2 },
    missing: 'notBreaching',
  },
  {
    id: 'DidNotRun',
    metric: 'Invocations',
    description: 'did not run: is its schedule enabled?',
    operator: 'LessThanThreshold',
    threshold: 1,
    periods: { of: 2, breaching: 2 },
    // A function that is never invoked publishes nothing at all.
    missing: 'breaching',
  },
]

/** The receiver has no schedule: that nothing came is what the checker tells. A page that fails is seen by who opens it. */
export function alarmsOf(name: FunctionName): readonly Alarm[] {
  if (isScheduled(name)) return ALARMS
  return name === 'heartbeat-receive' ? ALARMS.filter(({ id }) => id !== 'DidNotRun') : []
}

/** CloudFormation resources: alarms on the watcher's own life, and the e-mail they go to, where one is given. */
export function alarmResources(functions: readonly FunctionName[], deployment: Deployment): Record<string, unknown> {
  const { alarmEmail: email } = deployment
  const alarms = functions.flatMap((name) =>
    alarmsOf(name).map((alarm) => [logicalId(name, alarm), alarmOf(name, alarm, deployment)]),
  )
  const topic = email && {
    AlarmTopic: {
      Type: 'AWS::SNS::Topic',
      Properties: { DisplayName: 'Queuebell', Subscription: [{ Protocol: 'email', Endpoint: email }] },
    },
  }
  return { ...Object.fromEntries(alarms), ...(topic || {}) }
}

function alarmOf(name: FunctionName, alarm: Alarm, { alarmEmail, period, stage }: Deployment): unknown {
  const action = [{ Ref: 'AlarmTopic' }]
  return {
    Type: 'AWS::CloudWatch::Alarm',
    Properties: {
      AlarmName: `queuebell-${stage}-${name}-${alarm.id}`,
      AlarmDescription: `Queuebell's function ${name} ${alarm.description}`,
      Namespace: 'AWS/Lambda',
      MetricName: alarm.metric,
      Dimensions: [{ Name: 'FunctionName', Value: { Ref: `${lambdaId(name)}LambdaFunction` } }],
      Statistic: 'Sum',
      Period: Math.max(300, period),
      EvaluationPeriods: alarm.periods.of,
      DatapointsToAlarm: alarm.periods.breaching,
      Threshold: alarm.threshold,
      ComparisonOperator: alarm.operator,
      TreatMissingData: alarm.missing,
      ...(alarmEmail ? { AlarmActions: action, OKActions: action } : {}),
    },
  }
}

function logicalId(name: FunctionName, { id }: Alarm): string {
  return `${lambdaId(name).replace('Dash', '')}${id}Alarm`
}

/** As the framework names a function's resource: `heartbeat-check` → `HeartbeatDashcheck`. */
function lambdaId(name: FunctionName): string {
  return (name.charAt(0).toUpperCase() + name.slice(1)).replace('-', 'Dash')
}
