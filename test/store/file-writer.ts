/**
 * One of several processes that write the same state, run by `file.test.ts` as
 * `tsx file-writer.ts <dir> <key> <times>`: adds 1 that many times, reading again after each conflict, and prints a
 * dot for every increment that was taken. With `hold` instead of a number it takes the lock and keeps it until killed.
 */
import { writeSync } from 'node:fs'
import path from 'node:path'
import { openFileStore } from '../../src/store/file.ts'
import { withLock } from '../../src/store/lock.ts'

const [dir = '', key = '', times = ''] = process.argv.slice(2)

if (times === 'hold') {
  await withLock(path.join(dir, `.${key}.lock`), () => {
    writeSync(1, '.')
    return new Promise(() => setInterval(() => {}, 1000))
  })
} else {
  const store = openFileStore(dir)
  for (let taken = 0; taken < Number(times); ) {
    const stored = await store.load(key)
    const saved = await store.save(key, JSON.stringify({ count: countOf(stored?.text) + 1 }), stored?.version)
    if (saved === 'conflict') continue
    taken++
    writeSync(1, '.')
  }
}

function countOf(text: string | undefined): number {
  return text === undefined ? 0 : JSON.parse(text).count
}
