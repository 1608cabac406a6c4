/** Parts of the names of secrets: the one list for addresses, messages and logs. */
const PARTS = 'token|key|secret|pass|passwd|password|passphrase|pwd|auth|signature|cred|credentials?|jwt'

const PARAMETER = new RegExp(`${PARTS}|sig$`, 'i')
const WORD = new RegExp(`(?:${PARTS}|sig)$`, 'i')

/** Is the value of `?name=value` a secret? Rather one too many; `sig` only at the end, because of `design`. */
export function isSecretParameter(name: string): boolean {
  return PARAMETER.test(name)
}

/** The same for `name=value` in prose, where `max_tokens=16`, `passed=3` and the `key=vllm.json` of S3 have to be read. */
export function isSecretWord(name: string): boolean {
  return WORD.test(name) && name !== 'key'
}

/** An endpoint's address as results, messages and state may show it: credentials in its query as stars. */
export function shownUrl(address: string): string {
  if (!URL.canParse(address)) return address
  const url = new URL(address)
  const names = [...url.searchParams.keys()].filter((name) => isSecretParameter(name))
  if (names.length === 0) return address
  for (const name of names) url.searchParams.set(name, '***')
  return url.href
}
