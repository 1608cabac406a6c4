import { crc32, inflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { pictureLink } from '../../src/page/links.ts'
import { BASE, openTestPage } from './asking.ts'
import { calm, down, NOW, queueing, stateOf } from './states.ts'

const STATES = {
  vllm: stateOf({
    'chat/a': { ...queueing(), alerts: { waiting: {}, kv_cache: {} } },
    'chat/b': down(),
    'a-name-that-is-much-too-long-to-be-shown-beside-a-number': calm(3),
    jagged: { waiting: [0, 900, 3, null, 870, 2, 900, 1, null, null, 900, 0, 900, 0, 900] },
  }),
}

async function picture(endpoint: string, rule: string): Promise<Buffer> {
  const { ask } = await openTestPage(STATES)
  const { status, headers, body } = await ask(pictureLink(BASE, 'vllm', `${endpoint}|${rule}|@1`, NOW))
  expect([status, headers['content-type']]).toEqual([200, 'image/png'])
  return body as Buffer
}

/** Reads what a PNG of ours holds; throws at a wrong check sum. */
function read(png: Buffer): { width: number; height: number; colours: string[]; rows: number[][] } {
  const chunks = new Map<string, Buffer>()
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at)
    const body = png.subarray(at + 4, at + 8 + length)
    if (crc32(body) !== png.readUInt32BE(at + 8 + length)) throw new Error('check sum')
    chunks.set(body.subarray(0, 4).toString(), body.subarray(4))
    at += 12 + length
  }
  const header = chunks.get('IHDR') ?? Buffer.alloc(0)
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  const data = inflateSync(chunks.get('IDAT') ?? Buffer.alloc(0))
  const stride = width / 2 + 1
  const rows = Array.from({ length: height }, (_, y) =>
    [...data.subarray(y * stride + 1, (y + 1) * stride)].flatMap((byte) => [byte >> 4, byte & 15]),
  )
  const colours = (chunks.get('PLTE') ?? Buffer.alloc(0)).toString('hex').match(/.{6}/g) ?? []
  return { width, height, colours, rows }
}

test.each([
  ['chat/a', 'waiting'],
  ['chat/a', 'kv_cache'],
  ['chat/b', 'down'],
  ['a-name-that-is-much-too-long-to-be-shown-beside-a-number', 'waiting'],
  ['jagged', 'waiting'],
])('the picture of %s, %s: a whole PNG of at most 10 KB, within 200 ms', async (endpoint, rule) => {
  await picture(endpoint, rule)
  let png: Buffer = Buffer.alloc(0)
  let took = Number.POSITIVE_INFINITY
  // On a machine that is busy with other things each takes longer.
  for (let i = 0; i < 10 && took >= 200; i++) {
    const start = performance.now()
    png = await picture(endpoint, rule)
    took = performance.now() - start
  }
  expect(took).toBeLessThan(200)
  expect(png.length).toBeLessThanOrEqual(10 * 1024)
  const { width, height, colours, rows } = read(png)
  expect([width, height]).toEqual([800, 400])
  expect(rows.flat().every((colour) => colour < colours.length)).toBe(true)
})

test('the limit is a line through the picture, where the values pass it', async () => {
  const { rows, colours } = read(await picture('chat/a', 'waiting'))
  const red = colours.indexOf('c0271d')
  const ink = colours.indexOf('1f5f9f')
  const limitRows = rows.flatMap((row, y) => (row.filter((colour) => colour === red).length > 300 ? [y] : []))
  expect(limitRows.length).toBeGreaterThan(0)
  // 42 with a limit of 20, from zero: the limit lies a little below the middle of the box.
  expect(limitRows[0]).toBeGreaterThan(200)
  expect(limitRows[0]).toBeLessThan(260)
  const inkAt = (x: number) => rows.findIndex((row, y) => y > 80 && row[x] === ink)
  expect(inkAt(60)).toBeGreaterThan(limitRows.at(-1) ?? 0)
  expect(inkAt(740)).toBeLessThan(limitRows[0] ?? 0)
})

test('of an endpoint that is not there, there is no picture', async () => {
  const { ask } = await openTestPage(STATES)
  expect(await ask(pictureLink(BASE, 'vllm', 'gone|waiting|@1', NOW))).toMatchObject({ status: 404, body: '' })
})
