import type { Resource, Template } from './template.ts'

/** What must never stand in a template of ours, whatever the configuration. */
export function securityProblems(template: Template): string[] {
  return Object.entries(template.Resources).flatMap(([id, resource]) => {
    switch (resource.Type) {
      case 'AWS::S3::Bucket':
        return bucketProblems(id, resource)
      case 'AWS::IAM::Role':
        return roleProblems(id, resource)
      case 'AWS::Lambda::EventInvokeConfig':
        return resource.Properties?.MaximumRetryAttempts === 0 ? [] : [`${id}: is retried`]
      default:
        return []
    }
  })
}

function bucketProblems(id: string, { Properties = {} }: Resource): string[] {
  const block = (Properties.PublicAccessBlockConfiguration ?? {}) as Record<string, unknown>
  const all = ['BlockPublicAcls', 'BlockPublicPolicy', 'IgnorePublicAcls', 'RestrictPublicBuckets']
  return [
    ...(all.every((name) => block[name] === true) ? [] : [`${id}: may be public`]),
    ...('BucketEncryption' in Properties ? [] : [`${id}: not encrypted`]),
  ]
}

interface Statement {
  Effect: string
  Action: string | string[]
  Resource: unknown
}

function roleProblems(id: string, { Properties = {} }: Resource): string[] {
  const policies = (Properties.Policies ?? []) as { PolicyDocument: { Statement: Statement[] } }[]
  return policies
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .filter(({ Effect }) => Effect === 'Allow')
    .flatMap(({ Action, Resource }) => {
      const actions = [Action].flat()
      const resources = [Resource].flat().map(textOf)
      return [
        ...actions.filter((action) => action.includes('*')).map((action) => `${id}: ${action}`),
        ...resources.filter((resource) => /^\*?$/.test(resource)).map(() => `${id}: ${actions.join()} on *`),
        ...resources
          .filter((resource) => actions.some((action) => action.endsWith('Object')) && /:::[^/]*\/\*$/.test(resource))
          .map(() => `${id}: ${actions.join()} on a whole bucket`),
      ]
    })
}

/** The ARN, with the placeholders of `Fn::Sub` left in it. */
function textOf(resource: unknown): string {
  if (typeof resource === 'string') return resource
  const sub = (resource as { 'Fn::Sub'?: string | [string] })['Fn::Sub']
  return typeof sub === 'string' ? sub : (sub?.[0] ?? JSON.stringify(resource))
}
