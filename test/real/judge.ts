import type { Expected, Prepared } from './incident.ts'
import type { Told } from './watcher.ts'

/** @returns what is wrong with what was told; empty when it is right. */
export function judge(
  told: readonly Told[],
  { told: expected, maybeUnseen, says, never }: Pick<Prepared, 'told' | 'maybeUnseen' | 'says' | 'never'>,
): string[] {
  if (maybeUnseen && told.length === 0) return []
  const wrong: string[] = []
  const missing = expected.filter((one, index) => !told[index] || !isIt(told[index], one))
  if (told.length !== expected.length || missing.length > 0) wrong.push(`expected: ${expected.join(', ') || 'nothing'}`)
  const text = told.map(({ title, message }) => `${title}\n${message}`).join('\n')
  if (says && !says.test(text)) wrong.push(`does not say ${says}`)
  const said = never?.exec(text)
  if (said) wrong.push(`says ${JSON.stringify(said[0])}`)
  return wrong
}

function isIt({ reason, rule }: Told, expected: Expected): boolean {
  const [wantedReason, rules = ''] = expected.split(' ')
  return reason === wantedReason && rules.split('|').includes(rule)
}
