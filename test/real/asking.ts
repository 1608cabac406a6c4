export const SECOND = 1_000
export const MINUTE = 60 * SECOND

export function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

export interface Answer {
  /** 0: no answer came. */
  status: number
  text: string
}

export async function ask(url: string, init: RequestInit = {}, timeout = 5 * SECOND): Promise<Answer> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(timeout) })
    return { status: response.status, text: await response.text() }
  } catch (error) {
    return { status: 0, text: String(error) }
  }
}

export function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }
  return ask(url, init, 5 * MINUTE)
}

/** @throws when it did not become so. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>, limit = 60 * SECOND): Promise<void> {
  const end = Date.now() + limit
  while (Date.now() < end) {
    if (await isSo()) return
    await wait(200)
  }
  throw new Error(`not within ${limit / SECOND} s: ${what}`)
}

/** The value of one series of a page, all its label sets together; `undefined` where it has none. */
export function sumOf(page: string, name: string): number | undefined {
  const lines = page.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
  return lines.length === 0
    ? undefined
    : lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}
