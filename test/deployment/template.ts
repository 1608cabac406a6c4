/** A CloudFormation template as it is read back. */
export interface Template {
  Resources: Record<string, Resource>
}

export interface Resource {
  Type: string
  Properties?: Record<string, unknown>
}

/** `{ Ref: … }` and `{ 'Fn::…': … }`: a value that only AWS knows. */
export function isIntrinsic(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const [name = '', ...more] = Object.keys(value)
  return more.length === 0 && (name === 'Ref' || name.startsWith('Fn::'))
}
