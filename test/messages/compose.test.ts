import { expect, test } from 'vitest'
import { compose } from '../../src/messages/compose.ts'
import { bytesOf } from '../../src/messages/fit.ts'
import { inner } from '../../src/messages/number-format.ts'
import type { Language } from '../../src/model/config.ts'
import { defined } from '../../src/model/defined.ts'
import type { Failure } from '../../src/model/failure.ts'
import type { Notification } from '../../src/model/notification.ts'
import { downNotification, MINUTE, NOW, queueNotification } from './notifications.ts'

const options = { markdown: false, link: () => undefined, now: NOW }
const write = (notifications: Notification | Notification[], language: Language = 'en') =>
  compose([notifications].flat(), language, options)
const textOf = (notifications: Notification | Notification[], language: Language = 'en') => {
  const { title, body } = write(notifications, language)
  return `${title}\n${body}`
}

const tripled = queueNotification(
  {},
  {
    verdict: { kind: 'load-grew', arrivals: 3, tokensPerSecond: 1 },
    spark: [3, 4, 5, 9, 20, 33, 42],
    sparkMinutes: 15,
  },
)

test("the design's example, in Russian: what happened, how long a new request waits, why, the line, what to do, where", () => {
  expect(textOf(tripled, 'ru').split('\n')).toEqual([
    '🐌 chat/a: в очереди 42 (порог 20)',
    'В очереди 42 запроса (порог 20), выполняется 16. Новый запрос ждёт около 50 с.',
    'Нагрузка выросла: запросов втрое больше обычного, скорость генерации прежняя.',
    '▂▂▂▃▄▇█ 3 → 42 за 15 мин',
    'Добавьте реплику или ограничьте поток запросов на шлюзе.',
    'KV-кэш занят на 61 %, max_num_seqs можно поднять.',
    'llama-3.1-8b',
    'http://10.0.0.5:8000/metrics',
  ])
})

test('the same in English', () => {
  expect(textOf(tripled).split('\n').slice(0, 4)).toEqual([
    '🐌 chat/a: 42 waiting (limit 20)',
    '42 requests are waiting (limit 20), 16 are running. A new request waits about 50 s.',
    'Load grew: 3× as many requests as usual, generation speed as before.',
    '▂▂▂▃▄▇█ 3 → 42 in 15 min',
  ])
})

test('what is not known is not told', () => {
  const { model: _, ...bare } = {
    ...queueNotification().context,
    backend: 'vllm' as const,
    url: 'http://h',
    numbers: {},
    of: 1,
  }
  const { value: __, limit: ___, ...notification } = queueNotification()
  expect(
    textOf({ ...notification, context: bare })
      .split('\n')
      .slice(0, 2),
  ).toEqual(['🐌 chat/a: inference queue is growing', 'Requests are piling up.'])
})

test.each([
  [1, '1 request is waiting', 'В очереди 1 запрос '],
  [2, '2 requests are waiting', 'В очереди 2 запроса '],
  [5, '5 requests are waiting', 'В очереди 5 запросов '],
  [11, '11 requests are waiting', 'В очереди 11 запросов '],
  [21, '21 requests are waiting', 'В очереди 21 запрос '],
  [1234, '1,234 requests are waiting', 'В очереди 1\u00A0234 запроса '],
])('%s requests take the right plural', (value, english, russian) => {
  expect(textOf(queueNotification({ value }))).toContain(english)
  expect(textOf(queueNotification({ value }), 'ru')).toContain(russian)
})

test('case 27: a quantile beyond the last bucket is "at least", never the bound itself nor Infinity', () => {
  expect(textOf(queueNotification({ rule: 'ttft', value: 10, atLeast: true, limit: 3 }))).toContain(
    'p99: ≥ 10 s (limit 3 s)',
  )
  const context = textOf(queueNotification({}, { numbers: { waiting: 42, ttft_p99: 10 }, atLeast: ['ttft_p99'] }), 'ru')
  expect(context).toContain('первый токен p99 ≥ 10 с')
})

test('case 43: the fullest of several engines is named', () => {
  const notification = queueNotification({ rule: 'kv_cache', value: 0.97, limit: 0.9 }, { kvAt: 'engine 1' })
  expect(textOf(notification)).toContain('KV cache 97 % full (limit 90 %), fullest: engine 1.')
})

test('case 41, 42, 47: a share is shown in percent, a depth as it was judged', () => {
  expect(textOf(queueNotification({ rule: 'kv_cache', value: 0.93, limit: 0.9 }))).toContain('93 % full (limit 90 %)')
  expect(textOf(queueNotification({ value: 6, limit: 5 }))).toContain('6 requests are waiting (limit 5)')
})

test('case 38, 39: a hung engine is told as no progress, with what it holds, and health is no proof', () => {
  const text = textOf(
    queueNotification(
      { rule: 'stalled', value: 3, limit: 2 },
      { numbers: { running: 35, waiting: 115 }, noProgress: true, verdict: { kind: 'stalled' } },
    ),
  )
  expect(text).toContain('35 running and 115 waiting, but no request finished and no token came for 3 runs')
  expect(text).toContain('/health may still say 200')
  expect(text).not.toContain('A new request waits')
})

test('case 53: a queue that grows while nothing finishes says so', () => {
  const notification = queueNotification(
    { value: 25 },
    { backend: 'tgi', numbers: { waiting: 25, requests_per_second: 0 } },
  )
  expect(textOf(notification)).toContain('No request finished lately.')
  expect(textOf(notification, 'ru')).toContain('Ни один запрос не завершается.')
})

test('case 54: a server that refuses the canary is told as overloaded, not as down', () => {
  const notification = queueNotification({ rule: 'busy' }, { backend: 'openai', canary: { status: 'busy' } })
  expect(textOf(notification)).toContain('The server is overloaded, not down')
  expect(textOf(notification, 'ru')).toContain('Сервер перегружен, но жив')
})

/** [case, failure, title, words of the body] */
const DOWNS: [string, Failure, string, string][] = [
  ['51, 83', { kind: 'refused', code: 'ECONNREFUSED' }, 'Server is down', 'nothing listens on the port (ECONNREFUSED)'],
  [
    '51, 83',
    { kind: 'timeout', code: 'UND_ERR_HEADERS_TIMEOUT' },
    'Server does not answer in time',
    '(UND_ERR_HEADERS_TIMEOUT)',
  ],
  [
    '83',
    { kind: 'name-not-found', code: 'ENOTFOUND' },
    'Server name not found',
    'the host name does not resolve (ENOTFOUND)',
  ],
  ['49', { kind: 'http', status: 500 }, 'Metrics are unreadable (HTTP 500)', 'Inference may still work'],
  ['75', { kind: 'not-authorised', status: 401 }, 'Watcher is not authorised (401)', 'The server itself may be fine.'],
  [
    '54',
    { kind: 'http', status: 503 },
    'Server is overloaded or loading (HTTP 503)',
    'do not restart it before you have looked',
  ],
  [
    '54',
    { kind: 'http', status: 429 },
    'Server is overloaded or loading (HTTP 429)',
    'do not restart it before you have looked',
  ],
  ['76', { kind: 'not-prometheus' }, 'Address does not serve metrics', 'an empty page came'],
  ['76', { kind: 'not-prometheus', detail: 'Sign in' }, 'Address does not serve metrics', 'a web page, JSON or other'],
  ['74', { kind: 'redirected', status: 302, detail: 'http://b/m' }, 'Metrics have moved', 'It points to http://b/m'],
  ['74', { kind: 'redirect-loop', status: 302 }, 'Redirect loop', 'leads back to itself'],
  ['78', { kind: 'compressed' }, 'Metrics are garbled', 'without being declared'],
  [
    '77',
    { kind: 'compressed', code: 'Z_DATA_ERROR' },
    'Metrics are garbled',
    'not compressed in the way its header says',
  ],
]

test.each(DOWNS)('case %s: down is told by its cause: %o', (_, failure, title, words) => {
  const message = write(downNotification('chat/a', { failure }, 3))
  expect(message.title).toBe(`🔴 chat/a: ${inner(title)}`)
  expect(message.body).toContain(words)
})

test('case 63: a model that is not on the server is no queue and not down', () => {
  const notification = queueNotification(
    { rule: 'blind', endpoint: 'box', modelMissing: 'm' },
    { backend: 'ollama', url: 'http://h:11434', canary: { status: 'model-missing', detail: "model 'm' not found" } },
  )
  expect(textOf(notification)).toContain('🙈 box: model is not on the server')
  expect(textOf(notification)).toContain('There is no model “m” on this server')
  expect(textOf(notification)).toContain('ollama list')
})

test('case 75, 102: the address is shown without user, password and keys', () => {
  const text = textOf(
    queueNotification({}, { url: 'http://alice:s3cret@h:8000/metrics?model=m&api_key=s3cret&token=s3cret' }),
  )
  expect(text).not.toContain('s3cret')
  expect(text).not.toContain('alice')
  expect(text).toContain('http://h:8000/metrics?model=m&api_key=***')
})

test('case 104: a message that may have been delivered already says that it may be a repetition', () => {
  expect(textOf(queueNotification({ maybeSent: true }))).toContain(
    '(Possible duplicate: the push server did not confirm the first one.)',
  )
  expect(textOf(queueNotification())).not.toContain('repetition')
})

test('a reminder says for how long and since when, and of a queue no longer that it grows', () => {
  const text = textOf(queueNotification({ reason: 'repeated', firedAt: NOW - 245 * MINUTE }))
  expect(text).toContain('🐌 chat/a: 42 waiting (limit 20), for 4 h 5 min now')
  expect(text).toContain('Since 10:00 UTC.')
})

test('resolved says what it was, how long, how high, and does not wake anybody', () => {
  const notification = queueNotification({
    reason: 'resolved',
    ended: 'clear',
    firedAt: NOW - 65 * MINUTE,
    endedAt: NOW,
    peak: 97,
    priority: 8,
  })
  const message = write(notification)
  expect(message.title).toBe('✅ chat/a: queue is short again')
  expect(message.body).toContain('“Inference queue is growing” lasted 1 h 5 min, 97 waiting at most.')
  expect(message.priority).toBe(4)
})

test('a line that went up and down again names its peak, not two ends alone', () => {
  const notification = queueNotification(
    { reason: 'resolved', endedAt: NOW },
    { spark: [2, 40, 185, 90, 0], sparkMinutes: 4 },
  )
  expect(write(notification).body).toContain('2 → 185 → 0')
  expect(write(queueNotification({}, { spark: [2, 40, 90], sparkMinutes: 2 })).body).toContain(' 2 → 90 ')
})

test('a restart is no recovery, and silence is not either', () => {
  const over = { reason: 'resolved', firedAt: NOW - 10 * MINUTE, endedAt: NOW } as const
  expect(textOf(queueNotification({ ...over, ended: 'restarted' }))).toContain(
    '🔄 chat/a: over after a restart: “Inference queue is growing”',
  )
  expect(textOf(queueNotification({ ...over, ended: 'restarted' }))).toContain('what was waiting is lost')
  expect(textOf(queueNotification({ ...over, rule: 'ttft', ended: 'idle' }))).toContain(
    'closed for lack of traffic; recovery not confirmed',
  )
})

test('nor when it is told late', () => {
  const late = { reason: 'late', firedAt: NOW - 10 * MINUTE, endedAt: NOW } as const
  expect(textOf(queueNotification({ ...late, ended: 'restarted' }))).toContain('It ended because the server restarted')
  expect(textOf(queueNotification({ ...late, rule: 'ttft', ended: 'idle' }))).toContain('recovery not confirmed')
  expect(textOf(queueNotification({ ...late, ended: 'clear' }))).not.toContain('restarted')
})

test('nor beside another rule, nor among many endpoints', () => {
  const over = { reason: 'resolved', firedAt: NOW - 10 * MINUTE, endedAt: NOW } as const
  const beside = (ended: 'restarted' | 'idle', language: 'en' | 'ru' = 'en') =>
    write([queueNotification(), queueNotification({ ...over, rule: 'ttft', incident: 't', ended })], language).body
  expect(beside('restarted')).toContain('🔄 Over after a restart: “First token comes late” (after 10 min).')
  expect(beside('idle')).toContain('💤 Over for lack of traffic: “First token comes late” (after 10 min).')
  expect(beside('restarted', 'ru')).toContain('🔄 Закончилось перезапуском: «')
  const many = (ended: 'restarted' | 'idle') =>
    write(
      ['a', 'b', 'c', 'd'].map((endpoint) =>
        queueNotification({ ...over, rule: 'ttft', endpoint, id: endpoint, incident: endpoint, ended }),
      ),
    )
  expect(many('restarted').title).toBe('🔄 Over after a restart: “First token comes late” at 4: a, b, c, d')
  expect(many('idle').title).toBe('💤 Over for lack of traffic: “First token comes late” at 4: a, b, c, d')
  expect(many('restarted').body + many('idle').body).not.toContain('✅')
})

test('what came and went while the push server was away is told once, with its times', () => {
  const notification = queueNotification({
    reason: 'late',
    firedAt: NOW - 125 * MINUTE,
    endedAt: NOW - 65 * MINUTE,
    peak: 97,
  })
  expect(write(notification)).toMatchObject({
    title: '🕓 chat/a: was: “inference queue is growing”',
    priority: 4,
  })
  expect(textOf(notification)).toContain('Lasted from 12:00 UTC to 13:00 UTC (1 h), 97 waiting at most.')
  const beside = { ...notification, rule: 'kv_cache', incident: 'k' } as const
  expect(write([queueNotification(), beside]).body).toContain(
    '🕓 Lasted from 12:00 UTC to 13:00 UTC: “KV cache is nearly full”.',
  )
  expect(textOf({ ...notification, firedAt: NOW - 1500 * MINUTE }, 'ru')).toContain(
    'Было с 29 нояб. 13:05 UTC до 13:00 UTC',
  )
})

test('fired and resolved of one incident in one message are told as late, unless the first may have arrived', () => {
  const resolved = queueNotification({ reason: 'resolved', at: NOW + MINUTE, endedAt: NOW + MINUTE, ended: 'clear' })
  expect(write([queueNotification(), resolved]).title).toContain('🕓 chat/a: was:')
  expect(write([queueNotification({ maybeSent: true }), resolved]).title).toContain('✅ chat/a: queue is short again')
})

test('an end beside a new incident of the same alert is told with its times, not as well again', () => {
  const times = { firedAt: NOW - 20 * MINUTE, at: NOW - 9 * MINUTE, endedAt: NOW - 9 * MINUTE }
  const over = queueNotification({ ...times, incident: 'before', reason: 'resolved', ended: 'clear' })
  const message = write([over, queueNotification()])
  expect(message).toMatchObject({ title: '🐌 chat/a: 42 waiting (limit 20)', priority: 8 })
  expect(message.body).toContain('🕓 Lasted from 13:45 UTC to 13:56 UTC: “Inference queue is growing”.')
  expect(message.body).not.toContain('short again')
  expect(write([over, queueNotification({ rule: 'kv_cache' })]).body).toContain(
    '✅ Queue is short again (after 11 min).',
  )
})

test('a push that comes minutes after its notification says when it was true', () => {
  expect(textOf(queueNotification({ at: NOW - 7 * MINUTE }))).toContain('As of 13:58 UTC.')
  expect(textOf(queueNotification({ at: NOW - MINUTE }))).not.toContain('As of')
})

test('several rules of one endpoint: the most urgent gives the title, the others are lines, what is over comes last', () => {
  const message = write([
    queueNotification({
      incident: 'e',
      rule: 'errors',
      reason: 'resolved',
      priority: 8,
      firedAt: NOW - 9 * MINUTE,
      ended: 'clear',
    }),
    queueNotification({ incident: 'k', rule: 'kv_cache', priority: 7, value: 0.93, limit: 0.9 }),
    queueNotification(),
  ])
  const lines = message.body.split('\n')
  expect(message.title).toBe('🐌 chat/a: 42 waiting (limit 20)')
  expect(lines[1]).toBe('📦 KV cache 93 % full (limit 90 %).')
  expect(lines[2]).toBe('✅ Requests succeed again (after 9 min).')
  expect(message.priority).toBe(8)
})

test('trends are told while they are known and near', () => {
  const numbers = { waiting: 40, running: 16, kv_cache: 0.8 }
  expect(textOf(queueNotification({}, { numbers, waitingPerMinute: -5 }))).toContain(
    'the queue is empty in about 8 min',
  )
  expect(textOf(queueNotification({}, { numbers, kvPerMinute: 0.05 }))).toContain('the KV cache is full in about 4 min')
  expect(textOf(queueNotification({}, { numbers, waitingPerMinute: 5, kvPerMinute: -0.05 }))).not.toContain(
    'At this rate',
  )
  expect(textOf(queueNotification({}, { numbers, waitingPerMinute: -0.01 }))).not.toContain('At this rate')
})

test('case 407: a speed, a time or a share over the window is told as that, never as now', () => {
  const numbers = { waiting: 3, running: 0, queue_wait: 0.4, ttft_p99: 1.9, tokens_per_second: 53, failed_share: 0.1 }
  const of = (window?: number) => textOf(queueNotification({ rule: 'itl' }, { numbers, ...defined({ window }) }))
  const spoken = 'mean wait 400 ms, first token p99 1.9 s, 53 tok/s, 10 % failed.'
  expect(of(300)).toContain(`\nNow: 3 waiting, 0 running. Last 5 min: ${spoken}\n`)
  expect(of()).toContain(`\nNow: 3 waiting, 0 running. Lately: ${spoken}\n`)
})

test('case 407: at the end of an overload no speed is told that was counted while it lasted', () => {
  const numbers = { waiting: 0, running: 0, tokens_per_second: 53 }
  const over = (rule: 'waiting' | 'stalled' | 'throughput') =>
    textOf(queueNotification({ rule, reason: 'resolved', ended: 'clear' }, { numbers, window: 300 }))
  for (const rule of ['waiting', 'stalled'] as const) expect(over(rule)).not.toContain('tok/s')
  expect(over('throughput')).toContain('Now: 0 waiting, 0 running. Last 5 min: 53 tok/s.')
})

test('of an engine that stands still, no speed of the time before is told as one of now', () => {
  const numbers = { waiting: 30, running: 16, kv_cache: 0.6, queue_wait: 0.01, ttft_p99: 0.1, tokens_per_second: 77 }
  for (const rule of ['waiting', 'stalled'] as const)
    expect(textOf(queueNotification({ rule }, { numbers, noProgress: true }))).toContain('\nNow: KV cache 60 %.\n')
})

test('when a queue is short again, the waits of the window are not told as those of now', () => {
  const numbers = { waiting: 0, running: 4, queue_wait: 0.4, ttft_p99: 1.9 }
  const over = (rule: 'waiting' | 'queue_wait' | 'ttft') =>
    textOf(queueNotification({ rule, reason: 'resolved', ended: 'clear' }, { numbers }))
  expect(over('waiting')).toContain('Now: 0 waiting, 4 running.')
  expect(over('queue_wait')).toContain('Now: 0 waiting, 4 running. Lately: mean wait 400 ms.')
  expect(over('ttft')).toContain('Now: 0 waiting, 4 running. Lately: first token p99 1.9 s.')
})

test('a message does not say both that the cache has room and that it is full soon', () => {
  const text = textOf(queueNotification({}, { verdict: { kind: 'load-grew' }, kvPerMinute: 0.05 }))
  expect(text).toContain('max_num_seqs can be raised')
  expect(text).not.toContain('At this rate')
})

test.each([
  ['vllm', 'waiting', '▁▄█ 0 → 1'],
  ['vllm', 'ttft', 'Queue ▁▄█ 0 → 1'],
  ['gateway', 'inflight', 'KV ▁▄█ 0 % → 100 %'],
  ['dcgm', 'gpu_memory', '▁▄█ 0 % → 100 %'],
  ['dcgm', 'gpu_temperature', undefined],
] as const)('the sparkline of %s is named beside %s unless the rule is about it: %s', (backend, rule, line) => {
  const { body } = write(queueNotification({ rule }, { backend, spark: [0, 0.4, 1] }))
  expect(body.split('\n').find((l) => l.includes('▁'))).toBe(line)
})

test('case 96: all endpoints gone at once with one cause are one message that suspects the watcher', () => {
  const notifications = Array.from({ length: 20 }, (_, index) => downNotification(`chat/r${index}`, {}, 20))
  const message = write(notifications)
  expect(message.title).toBe('📡 All 20 endpoints unreachable from the watcher')
  expect(message.body).toContain("suspect the watcher's own network first")
  const back = write(
    notifications.map((notification) => ({
      ...notification,
      reason: 'resolved',
      endedAt: NOW,
      firedAt: NOW - 9 * MINUTE,
      ended: 'clear',
    })),
  )
  expect(back).toMatchObject({ title: '✅ All 20 endpoints answer again', priority: 4 })
})

test.each([
  ['timeout', '📡 All 20 endpoints unreachable from the watcher'],
  ['not-authorised', '📡 All 20 endpoints: watcher is not authorised (401)'],
] as const)('one that was down before counts among all that are gone: %s', (kind, title) => {
  const notifications = Array.from({ length: 19 }, (_, index) => {
    const notification = downNotification(`chat/r${index}`, { failure: { kind, status: 401 } }, 20)
    return { ...notification, ...(notification.context && { context: { ...notification.context, downBefore: 1 } }) }
  })
  expect(write(notifications).title).toBe(title)
  // It is not back with them.
  expect(
    write(notifications.map((notification) => ({ ...notification, reason: 'resolved', endedAt: NOW }))).title,
  ).toBe('✅ Answers again at 19 of 20: chat/r0, chat/r1, chat/r2, chat/r3, chat/r4, …')
})

test('one cause that is no network fault is not blamed on the network', () => {
  const notifications = ['a', 'b'].map((name) =>
    downNotification(name, { failure: { kind: 'not-authorised', status: 401 } }),
  )
  expect(write(notifications).title).toBe('📡 Both endpoints: watcher is not authorised (401)')
  expect(write(notifications).body).not.toContain('own network')
})

test('a digest has a line for each trouble, the worst first, with its ten worst endpoints and what to do', () => {
  const notifications = Array.from({ length: 30 }, (_, index) =>
    queueNotification(
      {
        endpoint: `chat/r${index}`,
        incident: `${index}`,
        value: 100 + index,
        ...(index === 29 ? { rule: 'stalled', priority: 9 } : {}),
      },
      { of: 40 },
    ),
  )
  const message = write(notifications)
  const lines = message.body.split('\n')
  expect(message.title).toBe('🧊 No progress at 1 of 40: chat/r29')
  expect(lines).toHaveLength(2)
  expect(lines[1]).toMatch(/^🐌 Queue at 29 of 40: chat\/r28 128, chat\/r27 127, .*, chat\/r19 119, …$/)
  expect(message.priority).toBe(9)
})

test('a digest names the watcher itself by its function', () => {
  const gap = { incident: 'gap', rule: 'gap', reason: 'told-once', subject: 'vllm' } as const
  const { endpoint: _, context: __, value: ___, ...watcher } = queueNotification(gap)
  expect(write([queueNotification({ incident: 'a' }), watcher]).body).toMatch(/^⏸️ .* at 1: vllm$/m)
})

test('200 endpoints fit, and the ten worst are named', () => {
  const notifications = Array.from({ length: 200 }, (_, index) =>
    queueNotification(
      { endpoint: `some-group/replica-${index}`, incident: `${index}`, value: 21 + index },
      { of: 200, verdict: { kind: 'load-grew', arrivals: 3 } },
    ),
  )
  const message = write(notifications)
  expect(bytesOf(message.body)).toBeLessThan(4_096)
  expect(message.title).toMatch(/^🐌 Queue at 200: some-group\/replica-199 220, /)
  expect(message.body).toContain('some-group/replica-190 211, …')
  expect(message.body).toContain('Load grew')
  expect(message.body).toContain('Add a replica')
})

test('case 106: a priority is a whole number from 0 to 10', () => {
  expect(write(queueNotification({ priority: 99 })).priority).toBe(10)
  expect(write(queueNotification({ priority: 7.6 })).priority).toBe(8)
  expect(write(queueNotification({ priority: -3 })).priority).toBe(0)
})

test('a tap opens the runbook of the endpoint that gives the title', () => {
  const link = (endpoint: string) => (endpoint === 'chat/a' ? 'https://wiki/queue' : undefined)
  expect(compose([queueNotification()], 'en', { ...options, link }).link).toBe('https://wiki/queue')
  expect(compose([queueNotification({ endpoint: 'chat/b' })], 'en', { ...options, link })).not.toHaveProperty('link')
})

test('the model stands beside the address: a phone shows 40 characters of a title', () => {
  expect(textOf(queueNotification({}, { model: 'org/llama' }))).toContain('\norg/llama\nhttp://10.0.0.5:8000/metrics')
})

test('times are in the zone of the reader', () => {
  const gap = queueNotification({ reason: 'repeated', firedAt: NOW - 245 * MINUTE })
  const inZone = (language: 'en' | 'ru') => compose([gap], language, { ...options, timezone: 'Europe/Berlin' }).body
  expect(inZone('en')).toContain('Since 11:00 CET.')
  expect(inZone('ru')).toContain('Началось: 11:00 GMT+1.')
})

test('a GPU is called by its number, and its UUID stands at the end', () => {
  const subject = 'GPU-5fd4f087-86f3-7a43-b711-4771313afc50'
  const lines = textOf(
    queueNotification(
      { rule: 'gpu_temperature', value: 91, limit: 85, subject, subjectName: 'gpu 3, NVIDIA H100 80GB HBM3' },
      { backend: 'dcgm' },
    ),
  ).split('\n')
  expect(lines[0]).toBe('🔥 chat/a: gpu 3 (H100): 91 °C (limit 85)')
  expect(lines.at(-1)).toBe(`gpu 3, NVIDIA H100 80GB HBM3: ${subject}`)
})

test('heartbeats: late, never seen, failed with its exit code and its own words', () => {
  const beat = { interval: MINUTE, grace: MINUTE / 2, never: false }
  const notification = (over: object) =>
    queueNotification(
      { rule: 'heartbeat', endpoint: 'indexer', beat: { ...beat, ...over } },
      { backend: 'heartbeat-check', url: '' },
    )
  expect(textOf(notification({ age: 250_000 }))).toContain(
    'The last beat came 4 min ago (expected every 1 min, with 30 s of grace).',
  )
  expect(textOf(notification({ never: true }))).toContain('💔 indexer: worker never reported')
  expect(textOf(notification({ failed: { exit: 3, body: 'disk full\nok' } }))).toContain(
    'exit code 3.\nWorker says: “disk full ok”',
  )
})

test("the watcher's own gap names the function that did not run", () => {
  const {
    endpoint: _,
    context: __,
    ...notification
  } = queueNotification({
    rule: 'gap',
    reason: 'told-once',
    subject: 'vllm',
    firedAt: NOW - 47 * MINUTE,
    endedAt: NOW,
    gap: { length: 47 * MINUTE, interval: MINUTE },
  })
  expect(textOf(notification)).toContain(
    '⏸️ vllm: not watched for a while\nvllm: not watched from 13:18 UTC to 14:05 UTC (47 min); usually every 1 min.',
  )
})

test.each<[Partial<Notification>, string]>([
  [{ reason: 'fired' }, '🔌 chat/a: Chat at default: upstream is unhealthy'],
  [{ reason: 'worse' }, '🔌 chat/a: worse: Chat at default: upstream is unhealthy'],
  [{ reason: 'resolved', ended: 'clear', endedAt: NOW }, '✅ chat/a: Chat at default: upstream is healthy again'],
])('the name of an upstream keeps its spelling in a title: %o', (over, title) => {
  const { value: _, ...notification } = queueNotification({ rule: 'upstream', subject: 'Chat at default', ...over })
  expect(write(notification).title).toBe(title)
})
