import { CATALOGUES } from '../../src/messages/compose.ts'
import type { Backend } from '../../src/model/backend.ts'
import type { Cause, Verdict } from '../../src/model/explanation.ts'
import type { AlertContext, Notification } from '../../src/model/notification.ts'
import { backendsOf, RULE_IDS } from '../../src/rules/rules.ts'
import { beyondLimit, context, MINUTE, notification, SAMPLE_NOW, type Sample } from './sample-parts.ts'

const AGO = 47 * MINUTE
const begun = { firedAt: SAMPLE_NOW - AGO }
const over = { reason: 'resolved', ...begun, endedAt: SAMPLE_NOW, ended: 'clear', priority: 4 } as const
const numbers = { waiting: 230, running: 16, requests_per_second: 3.5, kv_cache: 0.61, tokens_per_second: 1_240 }
const loadGrew: Verdict = { kind: 'load-grew', arrivals: 3, tokensPerSecond: 1.4 }

/** What becomes of a trouble that lasts, comes back, or ends. */
export function incidents(): Sample[] {
  const worse = { reason: 'worse', ...begun, priority: 9 } as const
  const symptoms = [
    { rule: 'ttft', value: 14.2, limit: 3, peak: 21 },
    { rule: 'kv_cache', value: 0.93, limit: 0.9, peak: 0.97 },
  ]
  const flaps = { since: SAMPLE_NOW - 100 * MINUTE, times: 3, bad: 22 * MINUTE }
  const queue = (more: Partial<Notification>, of: Partial<AlertContext> = {}): Notification[] => [
    notification('waiting', { value: 230, context: context({ numbers, ...of }), ...more }),
  ]
  const ended = (more: Partial<Notification>) =>
    queue({ ...over, ...more }, { numbers: { waiting: 0, running: 4, kv_cache: 0.22 } })
  return [
    {
      name: 'queue: what one replica manages, and when the queue is far longer',
      notifications: queue(
        { value: 42 },
        {
          numbers: { ...numbers, waiting: 42 },
          verdict: loadGrew,
          ruler: { manages: 3.5, comes: 4.6, replicas: 1, needed: 2 },
          waitingPerMinute: 14,
          farQueue: 200,
        },
      ),
    },
    {
      name: 'queue of a group: slow requests, counted by the minute',
      notifications: queue({}, { verdict: loadGrew, ruler: { manages: 0.4, comes: 1.1, replicas: 2, needed: 3 } }),
    },
    { name: 'queue: the past is too short', notifications: queue({}, { flow: { came: 0.67, finished: 0.2 } }) },
    {
      name: 'queue: the past is too short, and as many finish as come',
      notifications: queue({}, { flow: { came: 0.2, finished: 0.2 } }),
    },
    {
      name: 'queue: no more comes than usual',
      notifications: queue({}, { flow: { came: 0.21, finished: 0.2, usual: 0.2 } }),
    },
    {
      name: 'KV cache: soon full',
      notifications: [
        notification('kv_cache', {
          value: 0.91,
          context: context({ numbers: { kv_cache: 0.91 }, kvPerMinute: 0.012 }),
        }),
      ],
    },
    { name: 'worse: critical', notifications: queue({ ...worse, turn: 'critical', critical: 200, symptoms }) },
    {
      name: 'worse: it broke',
      notifications: queue(
        { ...worse, turn: 'verdict' },
        { verdict: { kind: 'broke', arrivals: 1, timePerToken: 3.1 } },
      ),
    },
    { name: 'still, with what else fires', notifications: queue({ reason: 'repeated', ...begun, symptoms }) },
    { name: 'over, with what took part', notifications: ended({ peak: 310, symptoms, began: 4 }) },
    {
      name: 'told some minutes late, beside what is over meanwhile',
      notifications: [
        ...queue({ at: SAMPLE_NOW - 5 * MINUTE, firedAt: SAMPLE_NOW - 5 * MINUTE }),
        notification('errors', { ...over, reason: 'late', peak: 0.2 }),
      ],
    },
    { name: 'comes and goes', notifications: queue({ firedAt: flaps.since, flaps }) },
    {
      name: 'comes and goes, and stays',
      notifications: queue({ reason: 'repeated', firedAt: flaps.since, flaps: { ...flaps, times: 9 } }),
    },
    { name: 'came and went', notifications: ended({ peak: 310, flaps: { ...flaps, times: 31 } }) },
    { name: 'over: its limit was changed', notifications: ended({ peak: 30, ended: 'limit-changed' }) },
    {
      name: 'GPU XID: not known to be over',
      notifications: [
        notification('gpu_xid', {
          ...over,
          ended: 'forgotten',
          value: 31,
          peak: 31,
          subject: 'GPU-5fd4f087-86f3-7a43-b711-4771313afc50',
          subjectName: 'gpu 3, NVIDIA H100 80GB HBM3',
          context: context({ backend: 'dcgm' }),
        }),
      ],
    },
    {
      name: 'digest of more kinds of trouble than lines',
      notifications: RULE_IDS.slice(0, 16).map((rule, index) =>
        notification(rule, { endpoint: `c${index}`, value: 4 }),
      ),
    },
    {
      name: 'digest of one trouble each',
      notifications: (['growth', 'ttft', 'kv_cache', 'stalled', 'waiting'] as const).map((rule, index) =>
        notification(rule, { endpoint: `c${index}`, value: 4, context: context({ of: 30, verdict: loadGrew }) }),
      ),
    },
  ]
}

const EXPLAINED: readonly [name: string, rule: Notification['rule'], verdict: Verdict][] = [
  ['engines idle', 'waiting', of('engines', ['engine 0', 'engine 1'], 6)],
  ['a replica idles', 'waiting', of('replicas', ['chat/a', 'chat/b', 'chat/c', 'chat/d', 'chat/e'], 1)],
  ['transfers fail', 'ttft', { kind: 'transfer', transfersFailed: 12, transferTime: 3.2 }],
  [
    'the draft guesses worse',
    'token_time',
    { kind: 'draft', accepted: 0.21, usuallyAccepted: 0.62, timePerToken: 1.9 },
  ],
  ['one model came more', 'waiting', { ...loadGrew, grown: { part: 'model sql-lora', share: 0.7, usual: 0.2 } }],
  ['a priority class came more', 'waiting', { ...loadGrew, grown: { part: 'priority 5', share: 0.8, usual: 0.3 } }],
  [
    'one model got heavier',
    'queue_wait',
    { kind: 'heavier', promptTokens: 8, grown: { part: 'model summaries', share: 0.6, usual: 0.1 } },
  ],
  ['the engine sleeps', 'waiting', { kind: 'asleep', waiting: 28 }],
  ['deferred', 'queue_wait', { kind: 'deferred', waiting: 32, deferred: 30 }],
  ['restarted', 'waiting', { kind: 'restarted' }],
]

function of(what: 'engines' | 'replicas', at: string[], idle: number): Verdict {
  return { kind: 'imbalance', uneven: { of: what, at, waiting: 225, idle } }
}

/** What lies below a symptom, and what is neither load nor speed. */
export function causes(): Sample[] {
  const name = 'gpu 3, NVIDIA H100 80GB HBM3'
  const below: [string, Cause][] = [
    ['GPU off the bus', { gpu: { name, xid: 79 } }],
    ['GPU with an unknown code', { gpu: { name, xid: 999 } }],
    ['GPU gone', { gpu: { name, gone: true } }],
    ['GPU slowed down', { gpu: { name, throttle: 0x40 } }],
    ['upstream down', { upstreams: 'chat-b' }],
  ]
  return [
    ...EXPLAINED.map(([name, rule, verdict]) => ({
      name: `why: ${name}`,
      notifications: [
        notification(rule, { value: rule === 'token_time' ? 1.9 : 30, context: context({ numbers, verdict }) }),
      ],
    })),
    ...below.flatMap(([name, cause]) => [
      {
        name: `below: ${name}`,
        notifications: [notification('throughput', { value: 0.7, usual: 1_200, context: context({ numbers, cause }) })],
      },
      {
        name: `below: ${name}, over`,
        notifications: [notification('throughput', { ...over, peak: 0.7, context: context({ cause }) })],
      },
    ]),
    ...Object.keys(CATALOGUES.en.xids).map((code) => ({
      name: `XID ${code}`,
      notifications: [
        notification('gpu_xid', { value: Number(code), subject: 'GPU-1', context: context({ backend: 'dcgm' }) }),
      ],
    })),
  ]
}

/** What helps on each server, in its own settings. */
export function serversAdvice(): Sample[] {
  const one = (
    backend: Backend,
    rule: Notification['rule'],
    more: Partial<Notification>,
    of: Partial<AlertContext>,
  ) => ({
    name: `${backend}: ${rule}`,
    notifications: [notification(rule, { ...more, context: context({ backend, ...of }) })],
  })
  const spelt = (backend: 'vllm' | 'sglang', version: string) => ({
    ...one(backend, 'kv_cache', { value: 0.96 }, { verdict: { kind: 'cache-full', preemptions: 6 }, version }),
    name: `${backend} ${version}: kv_cache`,
  })
  const at = (days: number) => SAMPLE_NOW + days * 86_400_000
  const engines = ['tgi', 'llamacpp', 'trtllm', 'lmdeploy', 'mistralrs', 'triton'] as const
  const gateways = ['dynamo', 'epp', 'litellm', 'router', 'genai', 'ray-serve'] as const
  const roomy = { numbers: { waiting: 42, kv_cache: 0.5 }, verdict: loadGrew }
  const down = (kind: 'not-found' | 'http', status: number) => ({ value: 3, failure: { kind, status } })
  return [
    ...engines.map((backend) => one(backend, 'waiting', { value: 42 }, roomy)),
    ...engines.map((backend) => one(backend, 'kv_cache', { value: 0.95 }, { verdict: { kind: 'cache-full' } })),
    one('router', 'errors', { value: 0.12, limit: 0.05 }, {}),
    one('ray-serve', 'waiting', { value: 42 }, {}),
    ...gateways.map((backend) => one(backend, 'upstream', { subject: 'b' }, { partlyOut: 'chat-c' })),
    ...(['trtllm', 'lmdeploy', 'litellm'] as const).map((backend) => one(backend, 'down', down('not-found', 404), {})),
    one('llamacpp', 'down', down('http', 400), {}),
    one('openai', 'blind', { modelMissing: 'qwen3-8b' }, {}),
    one('vllm', 'kv_cache', { value: 0.95 }, { numbers: { running: 0, kv_cache: 0.95 } }),
    one('vllm', 'kv_cache', { value: 0.95 }, { settings: { kv_cache_memory_bytes: '20000000000' } }),
    ...['0.7.3', '0.11.2', '0.30.0'].map((version) => spelt('vllm', version)),
    ...['0.4.1', '0.5.9'].map((version) => spelt('sglang', version)),
    one('vllm', 'token_time', { value: 1.9 }, { verdict: { kind: 'draft', timePerToken: 1.9 }, version: '0.30.0' }),
    one('vllm', 'restarts', { value: 4, alternates: true }, {}),
    one('ollama', 'canary', { value: 7 }, { canary: { status: 'not-loaded' } }),
    one('ollama', 'canary', { value: 7 }, { canary: { status: 'skipped' } }),
    ...(['idle', 'over-budget', 'backing-off'] as const).map((status) =>
      one('ollama', 'canary', { value: 7 }, { canary: { status } }),
    ),
    one('vllm', 'tls_expiry', { value: 9.4, limit: 14, certificateEnds: at(9.4) }, {}),
    one('vllm', 'tls_expiry', { value: 1.2, limit: 14, certificateEnds: at(1.2) }, {}),
    one('openai', 'canary_rate', { value: 0.5 }, {}),
    one('dcgm', 'gpu_temperature', { value: 90, subject: 'GPU-1' }, {}),
    one('dcgm', 'gpu_memory', { reason: 'resolved', ...begun, peak: 0.97, subject: 'GPU-1' }, { numbers: {} }),
  ]
}

/** Of each rule its end. What is told once has none. */
export function ends(): Sample[] {
  return RULE_IDS.filter((id) => id !== 'gap').map((id) => {
    const [backend = 'vllm'] = backendsOf(id)
    const peak = beyondLimit(id, 2)
    return { name: `${id}: over`, notifications: [notification(id, { ...over, peak, context: context({ backend }) })] }
  })
}
