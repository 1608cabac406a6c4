import { describe, expect, test } from 'vitest'
import type { ScrapedBackend } from '../../src/model/backend.ts'
import { play } from '../playing.ts'
import { page, vllm } from '../stories/pages.ts'

test('a queue that is gone with the process that held it is told as restarted', () => {
  expect(endOf([vllm({ waiting: 40, started: 1_760_000_000 }), emptied(1), emptied(2)])).toBe('restarted')
})

test('case 79: a queue that is gone with the process whose labels its counters had is told as restarted', () => {
  const served = (pid: number, waiting: number, tokens: number) =>
    vllm({ waiting, running: 4, tokens })
      .replace(/(_total)\{/g, `$1{pid="${pid}",`)
      .replace(/^process_start_time.*\n/m, '')
  expect(endOf([served(11, 40, 900), served(77, 0, 3), served(77, 0, 9)])).toBe('restarted')
})

test('a queue that outlived a restart ended by itself', () => {
  const again = [1, 2].map((m) => vllm({ waiting: 40, running: 4, tokens: 100 * m, started: 1_760_000_500 }))
  expect(endOf([vllm({ waiting: 40, started: 1_760_000_000 }), ...again, emptied(3), emptied(4)])).toBe('clear')
})

describe('where counters appear with their first event', () => {
  test.each([
    ['sglang', sglang(40, 500), [sglang(0), sglang(0)]],
    ['tgi', tgi(40, 500), [tgi(0), tgi(0)]],
    ['tgi', tgi(40, 500), [...Array.from({ length: 12 }, () => ''), tgi(0, 1), tgi(0, 2)]],
    ['tei', tei(40, 500), [tei(0), tei(0)]],
  ] as const)(
    '%s: a queue that is gone together with all that was counted is told as restarted',
    (backend, busy, after) => {
      expect(endOf([busy, ...after], backend)).toBe('restarted')
    },
  )

  test('a restart is one: a queue that came after it ended by itself', () => {
    const idle = [tgi(0, 500), tgi(0), tgi(0)]
    expect(endOf([...idle, tgi(40), tgi(40), tgi(0, 5), tgi(0, 9)], 'tgi')).toBe('clear')
    expect(endOf([...idle, tgi(40), tgi(40, 5), tgi(0), tgi(0)], 'tgi')).toBe('restarted')
  })

  test('a restart is one: a failure that is counted again long after it did not end the queue', () => {
    const failing = (waiting: number, finished: number, failed: number) =>
      `${tgi(waiting, finished)}tgi_request_failure{err="generation"} ${failed}\n`
    const pages = [failing(0, 500, 20), tgi(0, 5), tgi(40, 9), failing(40, 15, 1), failing(0, 60, 1), failing(0, 70, 1)]
    expect(endOf(pages, 'tgi')).toBe('clear')
  })

  test('counters that go on, that cannot be read, or beside a start time that stays are no restart', () => {
    expect(endOf([tgi(40, 500), tgi(0, 505), tgi(0, 510)], 'tgi')).toBe('clear')
    expect(endOf([tgi(40, 500), tgi(0, Number.NaN), tgi(0, Number.NaN)], 'tgi')).toBe('clear')
    const [full, none] = [vllm({ waiting: 40, tokens: 100 }), vllm().replace(/^vllm:.*_total.*\n/gm, '')]
    expect(endOf([full, none, none])).toBe('clear')
  })
})

function sglang(waiting: number, finished?: number): string {
  return page({
    'sglang:num_queue_reqs{model_name="m"}': waiting,
    'sglang:num_running_reqs{model_name="m"}': 1,
    'sglang:token_usage{model_name="m"}': 0.1,
    'sglang:num_requests_total{model_name="m"}': finished,
  })
}

function tgi(waiting: number, finished?: number): string {
  return page({ tgi_queue_size: waiting, tgi_batch_current_size: 1, tgi_request_success: finished })
}

function tei(waiting: number, finished?: number): string {
  return page({ te_queue_size: waiting, te_request_success: finished })
}

function emptied(minute: number): string {
  return vllm({ waiting: 0, running: 4, tokens: 100 * minute, started: 1_760_000_500 })
}

/** How the alert on the queue ended. */
function endOf(pages: readonly string[], backend: ScrapedBackend = 'vllm'): string | undefined {
  return play(backend, pages).told.find(({ reason }) => reason === 'resolved')?.ended
}
