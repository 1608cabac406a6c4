import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'

test('a reader that has seen enough ends the command without a stack trace', async () => {
  const child = spawn(process.execPath, ['--import', 'tsx', 'tools/docs/messages.ts'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (chunk) => {
    said += chunk
  })
  child.stdout.once('data', () => child.stdout.destroy())
  await once(child, 'close')
  expect([child.exitCode, said]).toEqual([141, ''])
})
