import { appendFile, readFile, truncate, writeFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import type { Scrape } from '../../src/recordings/entry.ts'
import { FILE_MARK } from '../../src/recordings/frames.ts'
import { headOf } from '../../src/recordings/reader.ts'
import { openWriter } from '../../src/recordings/writer.ts'
import { vllm } from '../stories/pages.ts'
import { readAll, recordingOf } from './folder.ts'

const START = Date.UTC(2026, 5, 1)
const HEAD = { version: 1, backend: 'vllm', endpoints: [{ name: 'a' }] } as const
const page = (text: string) => new TextEncoder().encode(text)
const scrape = (n: number, more: Partial<Scrape> = {}): Scrape => ({
  at: START + n * 60_000,
  endpoint: 'a',
  took: 12.5,
  page: page(vllm({ waiting: n, finished: n * 100 })),
  ...more,
})
const plain = (scrapes: readonly Scrape[]) =>
  scrapes.map(({ page, gpu, ...rest }) => ({
    ...rest,
    ...(page && { page: Buffer.from(page).toString('latin1') }),
    ...(gpu && { gpu: Buffer.from(gpu).toString('latin1') }),
  }))

test('what was written comes back: odd bodies, failures, canaries and the GPU beside', async () => {
  const bare = { at: START, endpoint: 'a', took: 1 }
  const scrapes: Scrape[] = [
    scrape(0),
    scrape(1, { page: page('') }),
    scrape(2, { page: Uint8Array.from([0, 255, 10, 195, 40, 10]) }),
    scrape(3, { page: page('# QUEUEBELL scrape {"at":1}\nno end of line') }),
    { ...bare, failure: { kind: 'http', status: 503, detail: 'näh\n"quoted"' } },
    {
      ...bare,
      answer: { up: true, canary: { status: 'answered' }, readings: { gauges: { canary_wait: { value: 2 } } } },
    },
    scrape(6, { gpu: page('DCGM_FI_DEV_GPU_TEMP{gpu="0"} 50\n') }),
  ]
  expect(plain(await readAll(await recordingOf(scrapes)))).toEqual(plain(scrapes))
})

test('a page of 75 KB whose numbers move costs at most 1 KB', async () => {
  const lines = Array.from(
    { length: 800 },
    (_, i) => `vllm:series_${i % 90}_bucket{engine="0",le="${i}.5",model_name="llama-3.1-8b"}`,
  )
  const pages = Array.from({ length: 60 }, (_, n) =>
    scrape(n, {
      page: page(
        `${lines.map((line, i) => `${line} ${i % 5 ? i * 7 : i * n + ((n * 2_654_435_761) % 97)}.0`).join('\n')}\n`,
      ),
    }),
  )
  const path = await recordingOf(pages)
  const { byteLength } = await readFile(path)
  expect(pages[0]?.page?.byteLength).toBeGreaterThan(50_000)
  expect(byteLength / 60).toBeLessThan(1024)
})

describe('a recorder that dies', () => {
  test('leaves a file that can be read up to where it was cut, wherever that is', async () => {
    const scrapes = [0, 1, 2, 3, 4].map((n) => scrape(n))
    const path = await recordingOf(scrapes)
    const whole = await readFile(path)
    let least = 0
    for (let size = 0; size <= whole.byteLength; size += 1 + (whole.byteLength - size > 40 ? 6 : 0)) {
      await writeFile(path, whole.subarray(0, size))
      const found = await readAll(path)
      expect(plain(found)).toEqual(plain(scrapes.slice(0, found.length)))
      expect(found.length).toBeGreaterThanOrEqual(least)
      least = found.length
    }
    expect(least).toBe(5)
  })

  test('goes on behind the last whole scrape when it is started again', async () => {
    const path = await recordingOf([scrape(0), scrape(1), scrape(2)])
    await truncate(path, (await readFile(path)).byteLength - 3)
    const again = await openWriter(path, HEAD)
    await again.write(scrape(3))
    await again.close()
    expect((await readAll(path)).map(({ at }) => (at - START) / 60_000)).toEqual([0, 1, 3])
  })

  test('before it wrote its first line leaves a file that it can begin anew', async () => {
    const path = await recordingOf([])
    await writeFile(path, FILE_MARK.subarray(0, 7))
    const again = await openWriter(path, HEAD)
    await again.write(scrape(0))
    await again.close()
    expect(await readAll(path)).toHaveLength(1)
  })
})

describe('what is no recording', () => {
  test.each([
    ['another file', Buffer.from('a: 1\n'.repeat(20)), 'no recording'],
    ['one of a newer version', Buffer.from('QUEUEBELL-RECORDING 2 zstd\nxxxxxxxxxxx'), 'version 2'],
    ['one that was damaged', Buffer.concat([FILE_MARK, Buffer.alloc(60, 9)]), 'damaged'],
  ])('%s is refused in words and left as it is', async (_, bytes, words) => {
    const path = await recordingOf([])
    await writeFile(path, bytes)
    await expect(readAll(path)).rejects.toThrow(words)
    await expect(openWriter(path, HEAD)).rejects.toThrow(words)
    expect(await readFile(path)).toEqual(bytes)
  })

  test('text behind a whole recording is refused, not read as one', async () => {
    const path = await recordingOf([scrape(0)])
    await appendFile(path, 'xxxxxxxxxxxxxxxxxxxxxxxx')
    await expect(readAll(path)).rejects.toThrow('damaged')
  })
})

test('the head says whose recording it is, without an address', async () => {
  expect(await headOf(await recordingOf([scrape(0)]))).toEqual(HEAD)
})
