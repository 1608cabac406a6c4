/**
 * One built function as a process of its own, kept alive over many runs. Reads one JSON command a line from standard
 * input, `{ now, time?, remaining? }`, and answers each with one line: `{ body }` or `{ error }`.
 *
 * BUNDLE: the built function. CLOCK: a file with milliseconds that are added to the clock, read at each look at it, so
 * that time can pass while the process is frozen. KILL_AT: it kills itself at its n-th file operation, KILL_WHEN
 * `before` or `after` that takes effect; then operations are counted from the first command on.
 */
import fs, { readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const { BUNDLE = '', CLOCK, KILL_AT, KILL_WHEN } = process.env
const realNow = Date.now
let base = realNow()
let from = performance.now()
Date.now = () => Math.round(base + performance.now() - from) + (CLOCK ? Number(readFileSync(CLOCK, 'utf8')) : 0)

// Files are stamped by the real clock, and the lock of the file store compares: they have to tell the same time.
const realStat = fs.promises.stat
fs.promises.stat = async (...args) => {
  const found = await realStat(...args)
  found.mtimeMs += Date.now() - realNow()
  return found
}

let operations = -1
if (KILL_AT !== undefined) countOperations(Number(KILL_AT))
syncBuiltinESMExports()
const { handler } = await import(pathToFileURL(BUNDLE).href)
say({ ready: true })

for await (const line of createInterface({ input: process.stdin })) {
  const { now, time, remaining } = JSON.parse(line)
  base = now
  from = performance.now()
  const started = performance.now()
  operations = 0
  const context = remaining && {
    getRemainingTimeInMillis: () => Math.round(remaining - (performance.now() - started)),
  }
  try {
    const { body } = await handler(time === undefined ? {} : { time: new Date(time).toISOString() }, context)
    say({ body: JSON.parse(body), took: performance.now() - started })
  } catch (error) {
    say({ error: String(error), stack: error?.stack, took: performance.now() - started })
  }
}

function say(answer) {
  process.stdout.write(`@${JSON.stringify({ ...answer, operations })}\n`)
}

/** Every operation of node:fs/promises and of the handles it opens can be the last. */
function countOperations(last) {
  const counted = (target, name) => {
    const original = target[name]
    target[name] = async function (...args) {
      const mine = operations < 0 ? -1 : operations++
      if (mine === last && KILL_WHEN === 'before') process.kill(process.pid, 'SIGKILL')
      const die = () => {
        if (mine === last && KILL_WHEN === 'after') process.kill(process.pid, 'SIGKILL')
      }
      const result = await original.apply(this, args).finally(die)
      if (name === 'open') for (const method of ['writeFile', 'sync', 'close']) counted(result, method)
      return result
    }
  }
  for (const name of ['open', 'readFile', 'writeFile', 'rename', 'link', 'unlink', 'stat', 'mkdir', 'readdir'])
    counted(fs.promises, name)
}
