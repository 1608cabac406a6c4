import { expect, test } from 'vitest'
import { vllm } from '../stories/pages.ts'
import { play } from './playing.ts'

test('a queue that is gone with the process that held it is told as restarted', () => {
  expect(endOf([vllm({ waiting: 40, started: 1_760_000_000 }), emptied(1), emptied(2)])).toBe('restarted')
})

test('a queue that outlived a restart ended by itself', () => {
  const again = [1, 2].map((m) => vllm({ waiting: 40, running: 4, tokens: 100 * m, started: 1_760_000_500 }))
  expect(endOf([vllm({ waiting: 40, started: 1_760_000_000 }), ...again, emptied(3), emptied(4)])).toBe('clear')
})

function emptied(minute: number): string {
  return vllm({ waiting: 0, running: 4, tokens: 100 * minute, started: 1_760_000_500 })
}

/** How the alert on the queue ended. */
function endOf(pages: readonly string[]): string | undefined {
  return play('vllm', pages).told.find(({ reason }) => reason === 'resolved')?.ended
}
