import { post, SECOND, wait } from './asking.ts'

export interface Asking {
  /** With its path, `…/v1/completions`. */
  url: string
  body: Record<string, unknown>
  headers?: Record<string, string>
}

export interface Counted {
  answered: number
  /** By status; 0 is a connection that broke. */
  failed: Record<number, number>
  aborted: number
  /** Seconds. */
  slowest: number
}

export interface Load {
  counted: Counted
  /** No new requests; resolves when those under way have ended. */
  stop(): Promise<Counted>
}

/**
 * So many clients, each of which asks again when it has its answer.
 * @param most requests in all. @param patience after which a client goes away and asks no more. @param pause between two.
 */
export function startLoad(
  asking: Asking,
  { clients, most = 2_000, patience, pause = 0 }: { clients: number; most?: number; patience?: number; pause?: number },
): Load {
  const counted: Counted = { answered: 0, failed: {}, aborted: 0, slowest: 0 }
  let asked = 0
  let stopped = false
  const one = async (): Promise<void> => {
    while (!stopped && asked < most) {
      asked += 1
      await askOnce(asking, patience, counted, asked)
      if (counted.failed[0]) await wait(0.2 * SECOND)
      if (pause > 0) await wait(pause)
    }
  }
  const all = Promise.all(Array.from({ length: clients }, one))
  return {
    counted,
    async stop() {
      stopped = true
      await all
      return counted
    },
  }
}

async function askOnce(asking: Asking, patience: number | undefined, counted: Counted, serial: number): Promise<void> {
  const began = performance.now()
  const body = {
    ...asking.body,
    ...(typeof asking.body.prompt === 'string' && { prompt: `${serial} ${asking.body.prompt}` }),
  }
  if (patience === undefined) {
    const { status } = await post(asking.url, body, asking.headers)
    if (status === 200) counted.answered += 1
    else counted.failed[status] = (counted.failed[status] ?? 0) + 1
    counted.slowest = Math.max(counted.slowest, (performance.now() - began) / SECOND)
    return
  }
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...asking.headers },
    body: JSON.stringify(body),
  }
  try {
    await (await fetch(asking.url, { ...init, signal: AbortSignal.timeout(patience) })).text()
    counted.answered += 1
  } catch {
    counted.aborted += 1
  }
}

export function told({ answered, failed, aborted, slowest }: Counted): string {
  const failures = Object.entries(failed).map(
    ([status, times]) => `${times} × ${status === '0' ? 'no answer' : status}`,
  )
  return [
    `${answered} answered`,
    ...failures,
    ...(aborted > 0 ? [`${aborted} aborted`] : []),
    ...(slowest > 0 ? [`slowest ${slowest.toFixed(1)} s`] : []),
  ].join(', ')
}
