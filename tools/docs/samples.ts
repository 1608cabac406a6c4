import type { Verdict } from '../../src/model/explanation.ts'
import { FAILURE_KINDS, type Failure } from '../../src/model/failure.ts'
import type { AlertContext, Notification, Numbers } from '../../src/model/notification.ts'
import { backendsOf, RULE_IDS, type RuleId, specOf } from '../../src/rules/rules.ts'
import { causes, ends, incidents, serversAdvice } from './incident-samples.ts'
import { beyondLimit, context, MINUTE, notification, SAMPLE_NOW, type Sample, SPARK } from './sample-parts.ts'

/** Every kind of message, from realistic notifications: what `npm run messages` prints and the tests keep. */
export function samples(): Sample[] {
  const written = [
    ...queues(),
    ...engines(),
    ...verdicts(),
    ...downs(),
    ...blinds(),
    ...gpus(),
    ...gateways(),
    ...canaries(),
    ...beats(),
    ...lives(),
    ...many(),
  ]
  return [...written, ...plainSamples(written), ...incidents(), ...causes(), ...serversAdvice(), ...ends()]
}

/** Of each rule that has no sample of its own: as it fires just above its limit. */
function plainSamples(written: readonly Sample[]): Sample[] {
  const shown = new Set(written.flatMap(({ notifications }) => notifications.map(({ rule }) => rule)))
  return RULE_IDS.filter((id) => !shown.has(id)).map((id) => {
    const { limit = 1 } = specOf(id)
    const [backend = 'vllm'] = backendsOf(id)
    const value = beyondLimit(id, 1.1)
    return { name: id, notifications: [notification(id, { value, limit, context: context({ backend }) })] }
  })
}

/** A notification of the watcher itself. */
function ofWatcher(rule: Notification['rule'], over: Partial<Notification> = {}): Notification {
  const { endpoint: _, context: __, limit: ___, ...rest } = notification(rule, { reason: 'told-once', ...over })
  return rest
}

const busyNumbers: Numbers = {
  waiting: 42,
  running: 16,
  requests_per_second: 0.84,
  kv_cache: 0.61,
  tokens_per_second: 1240,
  queue_wait: 9.4,
  ttft_p99: 14.2,
}
const loadGrew: Verdict = { kind: 'load-grew', arrivals: 3, tokensPerSecond: 1.02, timePerToken: 1.1 }
const busy = context({ numbers: busyNumbers, verdict: loadGrew, waitingPerMinute: 3 })
const nearlyFull = context({ numbers: { ...busyNumbers, kv_cache: 0.93 }, kvAt: 'engine 1', verdict: loadGrew })

function queues(): Sample[] {
  const last = { firedAt: SAMPLE_NOW - 4 * 60 * MINUTE }
  const over = {
    reason: 'resolved',
    firedAt: SAMPLE_NOW - 47 * MINUTE,
    endedAt: SAMPLE_NOW,
    peak: 97,
    priority: 4,
  } as const
  const late = {
    ...over,
    reason: 'late',
    firedAt: SAMPLE_NOW - 6 * 60 * MINUTE,
    endedAt: SAMPLE_NOW - 5 * 60 * MINUTE,
  } as const
  const quiet = context({
    numbers: { waiting: 2, running: 11, kv_cache: 0.38, tokens_per_second: 910, queue_wait: 0.2 },
    spark: [...SPARK].reverse(),
  })
  return [
    { name: 'queue: load grew', notifications: [notification('waiting', { value: 42, context: busy })] },
    {
      name: 'queue: one request, nothing else known',
      notifications: [notification('waiting', { value: 1, limit: 0, context: context({ spark: [], numbers: {} }) })],
    },
    {
      name: 'queue: still, and it drains',
      notifications: [
        notification('waiting', {
          reason: 'repeated',
          value: 35,
          ...last,
          context: context({ numbers: { ...busyNumbers, waiting: 35 }, verdict: loadGrew, waitingPerMinute: -2 }),
        }),
      ],
    },
    { name: 'queue: over', notifications: [notification('waiting', { ...over, ended: 'clear', context: quiet })] },
    {
      name: 'queue: ended by a restart',
      notifications: [
        notification('waiting', {
          ...over,
          ended: 'restarted',
          context: context({ numbers: { waiting: 0, running: 0 }, restarted: true }),
        }),
      ],
    },
    {
      name: 'first token: closed as idle',
      notifications: [notification('ttft', { ...over, peak: 8.2, ended: 'idle', context: context({ spark: [] }) })],
    },
    {
      name: 'queue: told late',
      notifications: [notification('waiting', late)],
    },
    {
      name: 'queue: told late, of many times',
      notifications: [notification('waiting', { ...late, times: 12 })],
    },
    {
      name: 'queue: perhaps told before',
      notifications: [notification('waiting', { value: 42, context: busy, maybeSent: true })],
    },
    {
      name: 'queue, KV cache and first token at once; errors over',
      notifications: [
        notification('waiting', { value: 42, context: nearlyFull }),
        notification('kv_cache', { value: 0.93, context: nearlyFull }),
        notification('ttft', { value: 10, atLeast: true }),
        notification('errors', { ...over, peak: 0.12 }),
      ],
    },
    {
      name: 'queue of TGI: nothing finishes',
      notifications: [
        notification('waiting', {
          value: 25,
          context: context({
            backend: 'tgi',
            numbers: { waiting: 25, running: 0, requests_per_second: 0 },
            noProgress: true,
            verdict: { kind: 'stalled' },
          }),
        }),
      ],
    },
    {
      name: 'queue of TEI: load grew',
      notifications: [
        notification('waiting', {
          value: 120,
          context: context({
            backend: 'tei',
            model: 'bge-m3',
            numbers: { waiting: 120, requests_per_second: 40 },
            verdict: { kind: 'load-grew', arrivals: 2.4 },
          }),
        }),
      ],
    },
    {
      name: 'queue of SGLang: load grew',
      notifications: [
        notification('waiting', {
          value: 64,
          context: context({
            backend: 'sglang',
            numbers: { ...busyNumbers, waiting: 64, kv_cache: 0.4 },
            verdict: loadGrew,
          }),
        }),
      ],
    },
    {
      name: 'queue of llama.cpp: load grew',
      notifications: [
        notification('waiting', {
          value: 22,
          context: context({ backend: 'llamacpp', numbers: { waiting: 22, running: 4 }, verdict: loadGrew }),
        }),
      ],
    },
    { name: 'admission limit', notifications: [notification('inflight', { value: 58, limit: 48, context: busy })] },
    {
      name: 'growth',
      notifications: [
        notification('growth', { value: 11, context: context({ numbers: { ...busyNumbers, waiting: 14 } }) }),
      ],
    },
    {
      name: 'mean wait',
      notifications: [notification('queue_wait', { value: 9.4, context: context({ numbers: busyNumbers }) })],
    },
  ]
}

function engines(): Sample[] {
  const full = context({
    numbers: { ...busyNumbers, kv_cache: 0.96 },
    kvAt: 'engine 1',
    kvPerMinute: 0.01,
    settings: { num_gpu_blocks: '27840', block_size: '16', gpu_memory_utilization: '0.9' },
    verdict: { kind: 'cache-full', preemptions: 6 },
  })
  const slow = context({
    numbers: { running: 18, waiting: 3, tokens_per_second: 420 },
    gpu: { utilisation: 1, temperature: 88 },
    verdict: { kind: 'broke', arrivals: 1.1, tokensPerSecond: 0.35, timePerToken: 3 },
  })
  return [
    { name: 'KV cache', notifications: [notification('kv_cache', { value: 0.96, context: full })] },
    {
      name: 'KV cache, no memory left to give',
      notifications: [
        notification('kv_cache', { value: 0.96, context: { ...full, settings: { gpu_memory_utilization: '0.95' } } }),
      ],
    },
    {
      name: 'KV cache of SGLang',
      notifications: [notification('kv_cache', { value: 0.96, context: { ...full, backend: 'sglang', settings: {} } })],
    },
    {
      name: 'first token',
      notifications: [
        notification('ttft', { value: 4.1, context: context({ numbers: { ...busyNumbers, waiting: 6 } }) }),
      ],
    },
    {
      name: 'first token, beyond the last bucket',
      notifications: [notification('ttft', { value: 10, atLeast: true, context: busy })],
    },
    { name: 'time per token', notifications: [notification('itl', { value: 0.31, limit: 0.2, context: slow })] },
    {
      name: 'each token takes longer',
      notifications: [
        notification('token_time', { value: 1.98, usual: 0.0313, context: context({ numbers: { running: 1 } }) }),
      ],
    },
    {
      name: 'objective missed',
      notifications: [notification('slo', { value: 0.912, within: 500, context: busy })],
    },
    {
      name: 'nothing leaves the queue',
      notifications: [
        notification('stuck', {
          value: 660,
          context: context({ numbers: { waiting: 14, running: 1, kv_cache: 0.7 } }),
        }),
      ],
    },
    {
      name: 'requests for a sleeping engine',
      notifications: [
        notification('stuck', {
          value: 300,
          held: { by: 'asleep' },
          context: context({ numbers: { waiting: 3, running: 0 } }),
        }),
      ],
    },
    {
      name: 'one engine of several stands still',
      notifications: [
        notification('stalled', { value: 2, subject: 'engine 2', held: { running: 0, waiting: 5 }, context: busy }),
      ],
    },
    {
      name: 'an engine called unhealthy',
      notifications: [
        notification('stalled', {
          value: 0,
          subject: 'engine 2',
          held: { running: 3, waiting: 1, by: 'unhealthy' },
          context: busy,
        }),
      ],
    },
    {
      name: 'only deferred requests, and none moves',
      notifications: [
        notification('stalled', {
          value: 2,
          held: { by: 'deferred' },
          context: context({ numbers: { waiting: 14, running: 0, waiting_deferred: 14 }, noProgress: true }),
        }),
      ],
    },
    {
      name: 'prompts are read again and again',
      notifications: [
        notification('stalled', {
          value: 0,
          held: { by: 'rereading' },
          context: context({ numbers: { waiting: 4, running: 2, kv_cache: 0.98 } }),
        }),
      ],
    },
    {
      name: 'few requests that wait long',
      notifications: [
        notification('queue_wait', {
          value: 41,
          span: 14 * MINUTE,
          context: context({ numbers: { waiting: 5, running: 1, queue_wait: 41 } }),
        }),
      ],
    },
    { name: 'prefix hits', notifications: [notification('prefix_hits', { value: 0.65, usual: 0.34 })] },
    {
      name: 'prefix hits after a restart',
      notifications: [
        notification('prefix_hits', {
          value: 0.65,
          usual: 0.34,
          context: context({ restarted: true, verdict: { kind: 'restarted' } }),
        }),
      ],
    },
    {
      name: 'prefix caching switched off',
      notifications: [
        notification('prefix_hits', {
          value: 1,
          usual: 0.34,
          context: context({ settings: { enable_prefix_caching: 'False' } }),
        }),
      ],
    },
    {
      name: 'prefix caching switched off: V0',
      notifications: [
        notification('prefix_hits', {
          value: 1,
          usual: 0.34,
          context: context({ engine: 'v0', settings: { enable_prefix_caching: 'False' } }),
        }),
      ],
    },
    {
      name: 'prefix caching switched off: V1',
      notifications: [
        notification('prefix_hits', {
          value: 1,
          usual: 0.34,
          context: context({ engine: 'v1', settings: { enable_prefix_caching: 'False' } }),
        }),
      ],
    },
    {
      name: 'throughput: something broke',
      notifications: [notification('throughput', { value: 0.65, usual: 1200, context: slow })],
    },
    {
      name: 'throughput: the GPU beside it reports an XID',
      notifications: [
        notification('throughput', {
          value: 0.65,
          usual: 1200,
          context: { ...slow, gpu: { utilisation: 0.4, temperature: 71, xid: 63 } },
        }),
      ],
    },
    {
      name: 'stalled',
      notifications: [
        notification('stalled', {
          value: 3,
          context: context({
            numbers: { running: 35, waiting: 115, kv_cache: 0.99 },
            noProgress: true,
            verdict: { kind: 'stalled' },
          }),
        }),
      ],
    },
    {
      name: 'errors',
      notifications: [
        notification('errors', {
          value: 0.12,
          context: context({ numbers: { waiting: 4, running: 9, failed_share: 0.12 } }),
        }),
      ],
    },
    { name: 'preemptions', notifications: [notification('preemptions', { value: 2.4, context: full })] },
    { name: 'sibling', notifications: [notification('sibling', { value: 1.8, usual: 0.021 })] },
  ]
}

function verdicts(): Sample[] {
  const kinds: Verdict[] = [
    { kind: 'load-grew', arrivals: 2.6, tokensPerSecond: 1.6 },
    { kind: 'broke', arrivals: 0.9, tokensPerSecond: 0.3, timePerToken: 3.2 },
    { kind: 'heavier', arrivals: 1, promptTokens: 8, outputTokens: 1.1 },
    { kind: 'heavier', arrivals: 1, promptTokens: 1, outputTokens: 2.5 },
    { kind: 'cache-full', preemptions: 5 },
    { kind: 'restarted' },
  ]
  return kinds.map((verdict) => ({
    name: `verdict: ${verdict.kind}`,
    notifications: [
      notification('waiting', {
        value: 42,
        context: context({
          numbers: verdict.kind === 'cache-full' ? { ...busyNumbers, kv_cache: 0.99 } : busyNumbers,
          verdict,
        }),
      }),
    ],
  }))
}

function downs(): Sample[] {
  const failures: Record<Failure['kind'], Failure> = {
    refused: { kind: 'refused', code: 'ECONNREFUSED' },
    unreachable: { kind: 'unreachable', code: 'EHOSTUNREACH' },
    'name-not-found': { kind: 'name-not-found', code: 'ENOTFOUND' },
    timeout: { kind: 'timeout' },
    cut: { kind: 'cut', code: 'UND_ERR_SOCKET' },
    tls: { kind: 'tls', code: 'CERT_HAS_EXPIRED' },
    proxy: { kind: 'proxy', status: 407, detail: 'proxy.corp:3128' },
    'not-http': { kind: 'not-http', code: 'HTTPParserError', detail: 'Missing expected CR after header value' },
    'not-authorised': { kind: 'not-authorised', status: 401, detail: 'Authentication required' },
    'not-found': { kind: 'not-found', status: 404 },
    http: { kind: 'http', status: 500, detail: 'Internal Server Error' },
    redirected: { kind: 'redirected', status: 307, detail: 'https://10.0.0.5/metrics' },
    'redirect-loop': { kind: 'redirect-loop', status: 302 },
    'not-prometheus': { kind: 'not-prometheus', detail: 'Sign in' },
    compressed: { kind: 'compressed' },
    'too-large': { kind: 'too-large' },
    'headers-too-large': { kind: 'headers-too-large', code: 'UND_ERR_HEADERS_OVERFLOW' },
    'stream-error': { kind: 'stream-error', detail: 'CUDA error: out of memory' },
    'bad-answer': { kind: 'bad-answer' },
    other: { kind: 'other' },
  }
  const dead = context({ numbers: { up: 0 }, spark: [] })
  const ofOllama: AlertContext = {
    ...dead,
    backend: 'ollama',
    url: 'http://10.0.0.9:11434',
    model: 'qwen3:8b',
    canary: { status: 'failed', requestId: 'qb-7f3a' },
  }
  const all = FAILURE_KINDS.map((kind) => ({
    name: `down: ${kind}`,
    notifications: [notification('down', { value: 3, failure: failures[kind], context: dead })],
  }))
  return [
    ...all,
    {
      name: 'down: declared compressed, and is not',
      notifications: [
        notification('down', { value: 3, failure: { kind: 'compressed', code: 'Z_DATA_ERROR' }, context: dead }),
      ],
    },
    {
      name: 'down: an empty page',
      notifications: [notification('down', { value: 3, failure: { kind: 'not-prometheus' }, context: dead })],
    },
    {
      name: 'down: overloaded',
      notifications: [
        notification('down', {
          value: 3,
          failure: { kind: 'http', status: 503, detail: 'Model is overloaded' },
          context: { ...dead, backend: 'tgi' },
        }),
      ],
    },
    ...(['http', 'not-found', 'not-authorised'] as const).map((kind) => ({
      name: `down: canary: ${kind}`,
      notifications: [notification('down', { value: 3, failure: failures[kind], endpoint: 'box', context: ofOllama })],
    })),
    {
      name: 'down: canary times out',
      notifications: [
        notification('down', {
          value: 3,
          failure: failures.timeout,
          endpoint: 'box',
          context: ofOllama,
        }),
      ],
    },
    {
      name: 'down: metrics of SGLang are off',
      notifications: [
        notification('down', { value: 3, failure: failures['not-found'], context: { ...dead, backend: 'sglang' } }),
      ],
    },
    {
      name: 'down: metrics of llama.cpp are off',
      notifications: [
        notification('down', {
          value: 3,
          failure: { kind: 'http', status: 501 },
          context: { ...dead, backend: 'llamacpp' },
        }),
      ],
    },
    {
      name: 'down: over',
      notifications: [
        notification('down', {
          reason: 'resolved',
          firedAt: SAMPLE_NOW - 12 * MINUTE,
          endedAt: SAMPLE_NOW,
          ended: 'clear',
          failure: failures.refused,
          context: context({ spark: [] }),
        }),
      ],
    },
  ]
}

function blinds(): Sample[] {
  return [
    {
      name: 'blind: series missing',
      notifications: [
        notification('blind', { value: 2, missing: ['kv_cache', 'waiting'], context: context({ spark: [] }) }),
      ],
    },
    {
      name: 'blind: a list of endpoints is broken',
      notifications: [
        notification('blind', {
          value: 2,
          endpoint: 'sources',
          unread: ['http://sd.local/vllm.json'],
          context: { backend: 'vllm', url: '', numbers: {}, of: 3 },
        }),
      ],
    },
    {
      name: 'canary: a gateway holds the request',
      notifications: [
        notification('canary', {
          endpoint: 'api',
          value: 12.4,
          atLeast: true,
          context: context({
            backend: 'openai',
            url: 'http://10.0.0.7:8000/v1',
            spark: [],
            canary: { status: 'parked' },
          }),
        }),
      ],
    },
    {
      name: 'blind: model of another name',
      notifications: [
        notification('blind', { value: 2, modelMissing: 'llama-3.1-70b', context: context({ spark: [] }) }),
      ],
    },
    {
      name: 'blind: Ollama does not know the model',
      notifications: [
        notification('blind', {
          value: 2,
          endpoint: 'box',
          modelMissing: 'qwen3:8b',
          context: context({
            backend: 'ollama',
            url: 'http://10.0.0.9:11434',
            model: 'qwen3:8b',
            spark: [],
            canary: { status: 'model-missing', detail: "model 'qwen3:8b' not found" },
          }),
        }),
      ],
    },
  ]
}

function gpus(): Sample[] {
  const node = context({
    backend: 'dcgm',
    url: 'http://10.0.0.5:9400/metrics',
    model: 'NVIDIA H100 80GB HBM3',
    spark: [],
  })
  const lost = { endpoint: 'node-1', context: node, subject: 'GPU-5fd4f087-86f3-7a43-b711-4771313afc50' }
  const gpu = { ...lost, subjectName: 'gpu 3, NVIDIA H100 80GB HBM3' }
  const xids = [13, 31, 43, 45, 48, 63, 64, 74, 79, 94, 95, 119, 154, 999]
  return [
    { name: 'GPU memory', notifications: [notification('gpu_memory', { ...gpu, value: 0.972 })] },
    { name: 'GPU temperature', notifications: [notification('gpu_temperature', { ...gpu, value: 91 })] },
    ...xids.map((code) => ({
      name: `GPU XID ${code}`,
      notifications: [notification('gpu_xid', { ...gpu, value: code })],
    })),
    {
      name: 'GPU XID: over',
      notifications: [
        notification('gpu_xid', {
          ...gpu,
          reason: 'resolved',
          value: 0,
          peak: 63,
          firedAt: SAMPLE_NOW - 90 * MINUTE,
          endedAt: SAMPLE_NOW,
          ended: 'clear',
        }),
      ],
    },
    { name: 'GPU lost', notifications: [notification('gpu_lost', lost)] },
    {
      name: 'two GPUs hot',
      notifications: [
        notification('gpu_temperature', { ...gpu, value: 91 }),
        notification('gpu_temperature', {
          ...gpu,
          subject: 'GPU-0b2',
          subjectName: 'gpu 5, NVIDIA H100 80GB HBM3',
          value: 87,
        }),
      ],
    },
  ]
}

function gateways(): Sample[] {
  const gateway = context({
    backend: 'gateway',
    url: 'http://10.0.0.2:8080/metrics',
    spark: [],
    numbers: { running: 64, kv_cache: 0.92 },
  })
  const at = { endpoint: 'gw', context: gateway }
  const rules: [RuleId, Partial<Notification>][] = [
    ['observer', {}],
    ['upstream', { subject: 'vllm-b' }],
    ['rejected', { value: 17, subject: 'kv_pressure' }],
    ['stale', { value: 3 }],
    ['queue_full', { value: 21 }],
    ['parked', { value: 1 }],
    ['inflight', { value: 64, limit: 64 }],
    ['kv_cache', { value: 0.92 }],
  ]
  return rules.map(([rule, over]) => ({
    name: `gateway: ${rule}`,
    notifications: [notification(rule, { ...at, ...over })],
  }))
}

function canaries(): Sample[] {
  const box = context({
    backend: 'ollama',
    url: 'http://10.0.0.9:11434',
    model: 'qwen3:8b',
    spark: [0.2, 0.3, 0.2, 1.4, 6.2],
    sparkMinutes: 5,
    canary: { status: 'answered', requestId: 'qb-7f3a' },
  })
  const api = { ...box, backend: 'openai', url: 'http://10.0.0.7:8000/v1' } as const
  const at = { endpoint: 'box', context: box }
  return [
    { name: 'canary of Ollama', notifications: [notification('canary', { ...at, value: 6.2 })] },
    {
      name: 'canary of Ollama, partly on the CPU',
      notifications: [
        notification('canary', {
          ...at,
          value: 6.2,
          context: { ...box, canary: { status: 'cold-load', vramShare: 0.71 } },
        }),
      ],
    },
    {
      name: 'canary of an OpenAI-compatible server',
      notifications: [notification('canary', { ...at, value: 7.5, context: api })],
    },
    {
      name: 'canary: over',
      notifications: [
        notification('canary', {
          ...at,
          reason: 'resolved',
          peak: 11.3,
          firedAt: SAMPLE_NOW - 8 * MINUTE,
          endedAt: SAMPLE_NOW,
          ended: 'clear',
        }),
      ],
    },
    {
      name: 'busy: Ollama',
      notifications: [
        notification('busy', {
          ...at,
          context: {
            ...box,
            spark: [],
            canary: { status: 'busy', detail: 'server busy, please try again.  maximum pending requests exceeded' },
          },
        }),
      ],
    },
    {
      name: 'busy: OpenAI-compatible',
      notifications: [
        notification('busy', {
          ...at,
          context: { ...api, spark: [], canary: { status: 'busy', detail: 'rate limit' } },
        }),
      ],
    },
    {
      name: 'busy: a hosted service is overloaded',
      notifications: [
        notification('busy', {
          ...at,
          refusal: 'overloaded',
          context: { ...api, spark: [], canary: { status: 'busy', detail: 'Overloaded' } },
        }),
      ],
    },
    {
      name: 'canary: where its seconds went',
      notifications: [
        notification('canary', {
          ...at,
          value: 6.2,
          context: {
            ...box,
            numbers: {
              canary_total: 6.43,
              canary_wait: 6.2,
              canary_load: 0.04,
              canary_prefill: 0.16,
              canary_decode: 0.03,
            },
          },
        }),
      ],
    },
    {
      name: 'canary rate',
      notifications: [
        notification('canary_rate', {
          ...at,
          value: 0.81,
          usual: 47,
          limit: 0.5,
          context: { ...box, spark: [], canary: { status: 'answered', vramShare: 0.4 } },
        }),
      ],
    },
    {
      name: 'wrong answer',
      notifications: [
        notification('wrong_answer', {
          ...at,
          value: 1,
          answer: { text: 'The the of of 4 4 4 and the 4 of the of', expected: '/\\b42\\b/' },
          context: { ...box, spark: [] },
        }),
      ],
    },
    {
      name: 'quota',
      notifications: [
        notification('quota', {
          ...at,
          value: 0.08,
          limit: 0.1,
          quota: { what: 'requests', left: 40, of: 500 },
          context: { ...api, url: 'https://api.example.com/v1', spark: [] },
        }),
      ],
    },
    {
      name: 'another model answers',
      notifications: [
        notification('blind', {
          ...at,
          value: 2,
          modelMissing: 'mid',
          answeredBy: 'models/large.gguf',
          context: { ...api, model: 'mid', spark: [], canary: { status: 'model-missing' } },
        }),
      ],
    },
    {
      name: 'cold load',
      notifications: [
        notification('cold_load', {
          ...at,
          value: 103,
          limit: 30,
          context: { ...box, spark: [], canary: { status: 'cold-load' } },
        }),
      ],
    },
    {
      name: 'another model holds the memory',
      notifications: [
        notification('canary', { ...at, context: { ...box, spark: [], canary: { status: 'other-model' } } }),
      ],
    },
  ]
}

function beats(): Sample[] {
  const worker = context({ backend: 'heartbeat-check', url: '', spark: [], numbers: {} })
  const { model: _, ...bare } = worker
  const at = { endpoint: 'indexer', context: bare }
  const beat = { interval: MINUTE, grace: MINUTE / 2, never: false }
  return [
    {
      name: 'heartbeat: late',
      notifications: [notification('heartbeat', { ...at, beat: { ...beat, age: 4.2 * MINUTE } })],
    },
    {
      name: 'heartbeat: never seen',
      notifications: [notification('heartbeat', { ...at, beat: { ...beat, never: true } })],
    },
    {
      name: 'heartbeat: failed',
      notifications: [
        notification('heartbeat', {
          ...at,
          beat: { ...beat, age: 5_000, failed: { exit: 3, body: 'disk full\nat /data' } },
        }),
      ],
    },
    {
      name: 'heartbeat: by its calendar',
      notifications: [
        notification('heartbeat', {
          ...at,
          beat: {
            ...beat,
            grace: 60 * MINUTE,
            age: 25 * 60 * MINUTE,
            due: { at: '03:00', zone: 'Europe/Berlin', text: '0 3 * * *' },
          },
        }),
      ],
    },
    {
      name: 'heartbeat: stands still',
      notifications: [
        notification('heartbeat', {
          ...at,
          beat: { ...beat, age: 4_000, stands: true, progress: { n: 412, of: 1_000, stoodFor: 25 * MINUTE } },
        }),
      ],
    },
    {
      name: 'overrun',
      notifications: [
        notification('overrun', {
          ...at,
          run: {
            for: 190 * MINUTE,
            usual: 50 * MINUTE,
            limit: 150 * MINUTE,
            progress: { n: 412, of: 1_000, stoodFor: 20_000, left: 240 * MINUTE },
          },
        }),
      ],
    },
    {
      name: 'overrun: by its limit, without a word of progress',
      notifications: [notification('overrun', { ...at, run: { for: 121 * MINUTE, limit: 120 * MINUTE } })],
    },
    {
      name: 'heartbeat: over',
      notifications: [
        notification('heartbeat', {
          ...at,
          reason: 'resolved',
          firedAt: SAMPLE_NOW - 26 * 60 * MINUTE,
          endedAt: SAMPLE_NOW,
          ended: 'clear',
        }),
      ],
    },
  ]
}

function lives(): Sample[] {
  return [
    {
      name: 'the watcher did not run',
      notifications: [
        ofWatcher('gap', {
          subject: 'vllm',
          firedAt: SAMPLE_NOW - 47 * MINUTE,
          endedAt: SAMPLE_NOW,
          gap: { length: 47 * MINUTE, interval: MINUTE },
        }),
      ],
    },
    {
      name: 'the certificate of a push server ends',
      notifications: [
        ofWatcher('tls_expiry', {
          subject: 'team',
          value: 9.4,
          limit: 14,
          certificateEnds: SAMPLE_NOW + 9.4 * 24 * 60 * MINUTE,
        }),
      ],
    },
    {
      name: 'silenced',
      notifications: [
        ofWatcher('silence', {
          subject: 'chat/a',
          priority: 4,
          silence: { from: SAMPLE_NOW, until: SAMPLE_NOW + 60 * MINUTE, by: 'anna', comment: 'new driver' },
        }),
      ],
    },
    {
      name: 'silenced by a link',
      notifications: [
        ofWatcher('silence', {
          subject: 'chat/a',
          priority: 4,
          silence: { from: SAMPLE_NOW, until: SAMPLE_NOW + 60 * MINUTE, by: 'link' },
        }),
      ],
    },
    {
      name: 'state broken',
      notifications: [ofWatcher('state-broken', { subject: 'queuebell/vllm.broken-2026-11-30T03-12-00.000Z.json' })],
    },
  ]
}

function many(): Sample[] {
  const names = Array.from({ length: 20 }, (_, index) => `chat/r${index + 1}`)
  const gone = (kind: Failure['kind'], code: string) =>
    names.map((endpoint) =>
      notification('down', {
        endpoint,
        value: 3,
        failure: { kind, code },
        context: context({ of: 20, spark: [], numbers: { up: 0 } }),
      }),
    )
  const back = names.map((endpoint) =>
    notification('down', {
      endpoint,
      reason: 'resolved',
      firedAt: SAMPLE_NOW - 9 * MINUTE,
      endedAt: SAMPLE_NOW,
      ended: 'clear',
      context: context({ of: 20 }),
    }),
  )
  const wide = context({ of: 20, numbers: busyNumbers })
  const some = [
    notification('waiting', { endpoint: 'chat/r1', value: 42, context: wide }),
    notification('stalled', { endpoint: 'chat/r2', value: 2, context: wide }),
    notification('kv_cache', { endpoint: 'chat/r3', value: 0.93, context: wide }),
    notification('down', { endpoint: 'chat/r4', value: 3, failure: { kind: 'timeout' }, context: wide }),
    notification('ttft', {
      endpoint: 'chat/r5',
      reason: 'resolved',
      firedAt: SAMPLE_NOW - 9 * MINUTE,
      endedAt: SAMPLE_NOW,
      peak: 6,
      context: wide,
    }),
  ]
  return [
    { name: 'all endpoints out of reach', notifications: gone('timeout', 'UND_ERR_CONNECT_TIMEOUT') },
    {
      name: 'all endpoints refuse the watcher',
      notifications: gone('not-authorised', '').map((notification) => ({
        ...notification,
        failure: { kind: 'not-authorised', status: 401 } as const,
      })),
    },
    { name: 'all endpoints are back', notifications: back },
    { name: 'digest', notifications: some },
    {
      name: 'digest of many',
      notifications: names
        .slice(0, 19)
        .map((endpoint, index) => notification('waiting', { endpoint, value: 30 + index, context: wide })),
    },
    {
      name: 'digest: all over',
      notifications: names.slice(0, 5).map((endpoint) =>
        notification('waiting', {
          endpoint,
          reason: 'resolved',
          firedAt: SAMPLE_NOW - 20 * MINUTE,
          endedAt: SAMPLE_NOW,
          peak: 60,
          context: wide,
        }),
      ),
    },
  ]
}
