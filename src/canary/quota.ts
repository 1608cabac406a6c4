import type { Quota } from '../model/notification.ts'

/**
 * The fullest of the rate limits that an answer's headers publish, each limit beside what is left of it.
 * OpenAI, Groq, Together, Azure: `x-ratelimit-limit-requests` and `x-ratelimit-remaining-requests`, `-tokens`; others
 * without an ending; Anthropic: `anthropic-ratelimit-requests-limit`, `-remaining`.
 */
export function fullestQuota(headers: Headers): Quota | undefined {
  const quotas = [...headers].flatMap(([name, remaining]) => {
    const found = LEFT.map((form) => form(name)).find((one) => one !== undefined)
    if (found === undefined) return []
    const [left, of] = [numberIn(remaining), numberIn(headers.get(found.limit) ?? '')]
    return left === undefined || of === undefined || of <= 0 || left > of ? [] : [{ what: found.what, left, of }]
  })
  return quotas.sort((a, b) => a.left / a.of - b.left / b.of)[0]
}

/** Whether an answer says that nothing is left of one of its limits. */
export function isUsedUp(headers: Headers): boolean {
  return fullestQuota(headers)?.left === 0
}

type Form = (name: string) => { limit: string; what: string } | undefined

const LEFT: readonly Form[] = [
  (name) => {
    const what = /^x-ratelimit-remaining(?:-([a-z0-9-]{1,30}))?$/.exec(name)
    return what ? { limit: name.replace('-remaining', '-limit'), what: what[1] ?? 'requests' } : undefined
  },
  (name) => {
    const what = /^(anthropic-ratelimit-([a-z0-9-]{1,30}))-remaining$/.exec(name)
    return what ? { limit: `${what[1]}-limit`, what: what[2] ?? 'requests' } : undefined
  },
]

/** Some write a list of windows: `100, 100;w=60`; the first number is the limit. */
function numberIn(text: string): number | undefined {
  const digits = /^\s*(\d{1,15})(\.\d+)?\s*([,;]|$)/.exec(text)?.[1]
  return digits === undefined ? undefined : Number(digits)
}
