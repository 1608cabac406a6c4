/** The name of an alert inside an endpoint's state: the rule, or the rule and its subject (`gpu_xid@GPU-1`). */
export function alertKey(rule: string, subject: string | undefined): string {
  return subject === undefined ? rule : `${rule}@${subject}`
}

export function ruleOf(key: string): string {
  const at = key.indexOf('@')
  return at < 0 ? key : key.slice(0, at)
}

/** A subject may itself contain an `@`; the id of a rule does not. */
export function subjectOf(key: string): string | undefined {
  const at = key.indexOf('@')
  return at < 0 ? undefined : key.slice(at + 1)
}
