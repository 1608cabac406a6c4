import { afterAll, beforeAll, expect, test } from 'vitest'
import { openS3Store } from '../../src/store/s3.ts'
import { openWatch, type Watch } from '../faults/watch.ts'
import { CREDENTIALS, type FakeS3, startS3 } from './s3-server.ts'

const NAMES = Array.from({ length: 30 }, (_, i) => `e${i}`)

let s3: FakeS3
let watch: Watch
beforeAll(async () => {
  Object.assign(process.env, CREDENTIALS)
  s3 = await startS3()
  watch = await openWatch({}, openS3Store(s3.config()))
})
afterAll(() => Promise.all([watch.close(), s3.close()]))

/** What the run at this minute asks of S3, while so many requests wait at each of the 30 endpoints. */
async function asked(minute: number, waiting: number) {
  const before = { ...s3.requests }
  const { inbox, watched, run } = watch
  const told = inbox.received.length
  const env = { VLLM_ENDPOINTS: NAMES.map((name) => `${name}=${watched.url}`).join(' ') }
  const { problems } = await run(minute, waiting, { env })
  expect(problems).toEqual([])
  const { GET, HEAD, PUT, LIST } = s3.requests
  return {
    GET: GET - before.GET,
    PUT: PUT - before.PUT,
    others: HEAD + LIST - before.HEAD - before.LIST,
    pushes: inbox.received.length - told,
  }
}

test('a run over 30 endpoints asks S3 twice, calm or alerting; a third time when it pushed', async () => {
  const two = { GET: 1, PUT: 1, others: 0 }
  const three = { GET: 1, PUT: 2, others: 0 }
  // The very first one finds out whether the store keeps to conditions.
  expect((await asked(0, 1)).PUT).toBeLessThanOrEqual(4)
  expect({ calm: await asked(1, 1) }).toEqual({ calm: { ...two, pushes: 0 } })
  // 30 endpoints are told in one message: what was delivered is written down, or the next run would tell it again.
  expect({ told: await asked(2, 42) }).toEqual({ told: { ...three, pushes: 1 } })
  expect({ alerting: await asked(3, 42) }).toEqual({ alerting: { ...two, pushes: 0 } })
  expect({ clear: await asked(4, 1) }).toEqual({ clear: { ...two, pushes: 0 } })
  expect({ over: await asked(5, 1) }).toEqual({ over: { ...three, pushes: 1 } })
  expect({ calm: await asked(6, 1) }).toEqual({ calm: { ...two, pushes: 0 } })
})
