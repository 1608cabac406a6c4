import { isSecretParameter } from './names.ts'

/** An endpoint's address as results, messages and state may show it: credentials in its query as stars. */
export function shownUrl(address: string): string {
  if (!URL.canParse(address)) return address
  const url = new URL(address)
  const names = [...url.searchParams.keys()].filter((name) => isSecretParameter(name))
  if (names.length === 0) return address
  for (const name of names) url.searchParams.set(name, '***')
  return url.href
}
