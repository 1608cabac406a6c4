import fc from 'fast-check'
import { BACKENDS } from '../../src/backends/backends.ts'
import { FAILURE_KINDS } from '../../src/model/failure.ts'
import type { AlertContext, Notification } from '../../src/model/notification.ts'
import { RULE_IDS } from '../../src/rules/rules.ts'

export const NOW = Date.UTC(2026, 10, 30, 14, 5)
export const MINUTE = 60_000

/** The queue of the design's example, with whatever else a test wants to know. */
export function queueNotification(over: Partial<Notification> = {}, context: Partial<AlertContext> = {}): Notification {
  return {
    id: 'chat/a|waiting|@1/fired/1',
    incident: 'chat/a|waiting|@1',
    reason: 'fired',
    rule: 'waiting',
    endpoint: 'chat/a',
    priority: 8,
    at: NOW,
    firedAt: NOW,
    value: 42,
    limit: 20,
    context: {
      backend: 'vllm',
      url: 'http://10.0.0.5:8000/metrics',
      model: 'llama-3.1-8b',
      numbers: { waiting: 42, running: 16, requests_per_second: 0.84, kv_cache: 0.61 },
      of: 3,
      ...context,
    },
    ...over,
  }
}

export function downNotification(endpoint: string, over: Partial<Notification> = {}, of = 2): Notification {
  return queueNotification(
    {
      endpoint,
      id: `${endpoint}|down`,
      incident: `${endpoint}|down|@1`,
      rule: 'down',
      priority: 9,
      value: 3,
      limit: 3,
      failure: { kind: 'timeout' },
      ...over,
    },
    { of, numbers: { up: 0 } },
  )
}

/** Texts as a hostile or broken server may send them. */
export const HOSTILE = [
  'a\nb\r\nc\u2028d\u2029e\u0085f\vg',
  '![x](http://evil.example/i.png)',
  '[click](javascript:alert(1)) <img src=x> **bold** `code` # head | t | ~~s~~ &lt; @all',
  '\u202Egpj.exe\u202C \u2066x\u2069 \u200Fabc\u200E \u061C',
  'zero\u200Bwidth\u200D\uFEFF\u00AD',
  'z\u0300\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308algo',
  '\u0000\u0007\u001B[31mred\u001B[0m\t',
  '\uD800lone\uDC00',
  '👩‍👩‍👧‍👦'.repeat(300),
  'ж'.repeat(10_000),
  'x'.repeat(10_000),
  '   ',
  '',
  '🐌 forged\n✅ Queue is short again: chat/a',
]

const text = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.constant('some words of a server'),
)
const number = fc.oneof(
  fc.double({ min: 0, max: 1 }),
  fc.double({ min: 0, max: 1e6, noNaN: true }),
  fc.integer({ min: -5, max: 200 }),
  fc.constantFrom(0, 1, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e300, 1e-300, -0),
)
const time = fc.integer({ min: 0, max: NOW })
const maybe = { requiredKeys: [] as never[] }

const numbers = fc.record(
  {
    waiting: number,
    running: number,
    kv_cache: number,
    queue_wait: number,
    ttft_p99: number,
    tokens_per_second: number,
    requests_per_second: number,
    failed_share: number,
  },
  maybe,
)

const verdict = fc.record(
  {
    kind: fc.constantFrom('load-grew', 'broke', 'heavier', 'cache-full', 'stalled', 'restarted'),
    arrivals: number,
    tokensPerSecond: number,
    timePerToken: number,
    promptTokens: number,
    outputTokens: number,
    preemptions: number,
  },
  { requiredKeys: ['kind'] },
)

const context = fc.record(
  {
    backend: fc.constantFrom(...BACKENDS),
    url: fc.oneof(fc.webUrl(), text, fc.constant('http://user:hunter2@h:8000/metrics?api_key=hunter2')),
    model: text,
    numbers,
    atLeast: fc.constant(['ttft_p99']),
    kvAt: text,
    verdict,
    restarted: fc.boolean(),
    noProgress: fc.boolean(),
    spark: fc.array(fc.option(number), { maxLength: 20 }),
    sparkMinutes: number,
    window: number,
    kvPerMinute: number,
    waitingPerMinute: number,
    settings: fc.dictionary(
      fc.constantFrom('num_gpu_blocks', 'block_size', 'gpu_memory_utilization', 'enable_prefix_caching'),
      text,
    ),
    gpu: fc.record({ utilisation: number, temperature: number, xid: number }, maybe),
    canary: fc.record(
      {
        status: fc.constantFrom(
          'answered',
          'cold-load',
          'not-loaded',
          'other-model',
          'busy',
          'model-missing',
          'skipped',
          'parked',
          'failed',
        ),
        requestId: text,
        detail: text,
        vramShare: number,
      },
      { requiredKeys: ['status'] },
    ),
    of: fc.integer({ min: 1, max: 40 }),
  },
  { requiredKeys: ['backend', 'url', 'numbers', 'of'] },
)

/** Any notification that the types allow, and some that they do not (numbers that are none). */
export const anyNotification: fc.Arbitrary<Notification> = fc
  .record(
    {
      id: fc.uuid(),
      incident: fc.uuid(),
      reason: fc.constantFrom('fired', 'repeated', 'resolved', 'late', 'told-once'),
      rule: fc.constantFrom(...RULE_IDS, 'state-broken'),
      endpoint: fc.constantFrom(
        'a',
        'chat/a',
        'chat/b',
        'very-long-name-of-a-group/very-long-name-of-a-replica',
        'c',
        'd',
      ),
      subject: text,
      priority: number,
      at: time,
      firedAt: time,
      endedAt: time,
      value: number,
      atLeast: fc.boolean(),
      limit: number,
      peak: number,
      ended: fc.constantFrom('clear', 'idle', 'restarted'),
      usual: number,
      failure: fc.record(
        {
          kind: fc.constantFrom(...FAILURE_KINDS),
          code: text,
          status: fc.integer({ min: 100, max: 599 }),
          detail: text,
        },
        { requiredKeys: ['kind'] },
      ),
      missing: fc.array(text, { maxLength: 20 }),
      modelMissing: text,
      unread: fc.array(text, { maxLength: 5 }),
      beat: fc.record(
        {
          age: number,
          interval: number,
          grace: number,
          never: fc.boolean(),
          failed: fc.record({ exit: number, body: text }, maybe),
        },
        { requiredKeys: ['interval', 'grace', 'never'] },
      ),
      gap: fc.record({ length: number, interval: number }),
      maybeSent: fc.boolean(),
      context,
    },
    { requiredKeys: ['id', 'incident', 'reason', 'rule', 'priority', 'at', 'firedAt'] },
  )
  .map((notification) => notification as unknown as Notification)
