import { describe, expect, test } from 'vitest'
import { BACKENDS } from '../../src/backends/backends.ts'
import { CATALOGUES } from '../../src/messages/compose.ts'
import { todosOf } from '../../src/messages/context-lines.ts'
import type { Backend } from '../../src/model/backend.ts'
import { VERDICTS, type VerdictKind } from '../../src/model/explanation.ts'
import { FAILURE_KINDS } from '../../src/model/failure.ts'
import type { AlertContext, Notification, Numbers } from '../../src/model/notification.ts'
import { advice, rulesOf } from '../../src/rules/rules.ts'
import { spelt } from '../../src/verdict/advice.ts'
import { play } from '../playing.ts'

/** Settings that each server has; a setting of one may not be told to the owner of another. */
const SETTINGS: Partial<Record<Backend, RegExp>> = {
  vllm: /max[-_]num[-_]seqs|gpu[-_]memory[-_]utilization|kv-cache-memory-bytes|enable[-_]prefix[-_]caching|--disable-log-stats|--kv-offloading-size|--max-num-queued-reqs|--speculative-config/,
  sglang:
    /--mem-fraction-static|--max-running-requests|--schedule-conservativeness|--enable-metrics|--enable-hierarchical-cache|--max-queued-requests|--speculative-algorithm/,
  tgi: /--max-batch-total-tokens/,
  tei: /--max-batch-tokens/,
  llamacpp: /--parallel|--ctx-size|--metrics/,
  ollama: /OLLAMA_|ollama (list|pull)/,
  trtllm: /--max_batch_size|free_gpu_memory_fraction|--config|return_perf_metrics/,
  lmdeploy: /--max-batch-size|--cache-max-entry-count|--enable-metrics/,
  mistralrs: /--max-seqs/,
  triton: /instance_group|max_batch_size|kv_cache_free_gpu_mem_fraction/,
  dynamo: /--active-decode-blocks-threshold/,
  router: /--static-backends|--k8s-label-selector|--worker-urls/,
}
const ANY_SETTING = /--[a-z]|[a-z]+_[a-z]+_[a-z]+|OLLAMA_/
const KINDS: (VerdictKind | undefined)[] = [undefined, ...VERDICTS]

function factOf(backend: Backend, rule: Notification['rule'], over: Partial<AlertContext> = {}): Notification {
  const context: AlertContext = { backend, url: 'http://h', numbers: {}, of: 1, ...over }
  return { id: '1', incident: '1', reason: 'fired', rule, endpoint: 'a', priority: 8, at: 0, firedAt: 0, context }
}

/** Every advice that a server's owner can get, in both languages. */
function textsFor(backend: Backend): string[] {
  const facts = rulesOf(backend).flatMap((rule) =>
    KINDS.flatMap((kind) =>
      [0.3, 0.8, 0.97, undefined].flatMap((kv) => [
        factOf(backend, rule, {
          ...(kind ? { verdict: { kind } } : {}),
          numbers: kv === undefined ? {} : { kv_cache: kv },
          version: '99.0',
        }),
        {
          ...factOf(backend, rule, { settings: { gpu_memory_utilization: '0.96' }, canary: { status: 'other-model' } }),
          modelMissing: 'm',
        },
      ]),
    ),
  )
  const downs = FAILURE_KINDS.flatMap((kind) =>
    [undefined, 401, 404, 429, 501, 503].map((status) => ({
      ...factOf(backend, 'down'),
      failure: { kind, ...(status ? { status } : {}) },
    })),
  )
  return [...facts, ...downs].flatMap((fact) =>
    [CATALOGUES.en, CATALOGUES.ru].flatMap((catalogue) => todosOf(fact, catalogue)),
  )
}

test.each([...BACKENDS])('advice for %s never names a setting that this server does not have', (backend) => {
  for (const text of new Set(textsFor(backend))) {
    const own = SETTINGS[backend]
    const foreign = own ? text.replaceAll(new RegExp(own, 'g'), '') : text
    expect(foreign).not.toMatch(/--(?!gpu-reset)[a-z]|max_num_seqs|gpu_memory_util|enable_prefix|OLLAMA_|ollama /)
  }
})

test('the table of settings is not empty words: each server with settings is told one of its own', () => {
  for (const [backend, own] of Object.entries(SETTINGS)) {
    const texts = textsFor(backend as Backend)
    expect(
      texts.some((text) => own.test(text) && ANY_SETTING.test(text)),
      backend,
    ).toBe(true)
  }
})

const keys = (fact: Notification) => advice(fact).map((piece) => piece.key)

/** [story, fact, advice] */
const DIRECTIONS: [string, Notification, string[]][] = [
  [
    'load grew and the cache has room',
    factOf('vllm', 'waiting', { verdict: { kind: 'load-grew' }, numbers: { kv_cache: 0.61 } }),
    ['more-replicas', 'vllm-more-at-once'],
  ],
  [
    'load grew and the cache has no room',
    factOf('vllm', 'waiting', { verdict: { kind: 'load-grew' }, numbers: { kv_cache: 0.9 } }),
    ['more-replicas'],
  ],
  [
    'load grew and the cache is unknown',
    factOf('vllm', 'waiting', { verdict: { kind: 'load-grew' } }),
    ['more-replicas'],
  ],
  [
    'cache full, memory can be given',
    factOf('vllm', 'kv_cache', { verdict: { kind: 'cache-full' }, settings: { gpu_memory_utilization: '0.9' } }),
    ['vllm-more-cache', 'more-replicas'],
  ],
  [
    'cache full, memory is all given',
    factOf('vllm', 'kv_cache', { verdict: { kind: 'cache-full' }, settings: { gpu_memory_utilization: '0.97' } }),
    ['vllm-less-at-once', 'more-replicas'],
  ],
  [
    'cache full, its size was given in bytes: the share of the memory would change nothing',
    factOf('vllm', 'kv_cache', {
      verdict: { kind: 'cache-full' },
      settings: { gpu_memory_utilization: '0.9', kv_cache_memory_bytes: '6442450944' },
    }),
    ['vllm-fixed-cache', 'more-replicas'],
  ],
  ['it broke', factOf('vllm', 'throughput', { verdict: { kind: 'broke' } }), ['look-at-gpu']],
  [
    'it broke and the GPU says why: nothing else helps',
    factOf('vllm', 'throughput', { verdict: { kind: 'broke' }, cause: { gpu: { name: 'gpu 3', xid: 79 } } }),
    ['mend-gpu'],
  ],
  ['hits fell', factOf('vllm', 'prefix_hits'), ['routing']],
  ['hits fell after a restart', factOf('vllm', 'prefix_hits', { restarted: true }), ['cache-warms-up']],
  ['case 38, 39: stalled', factOf('vllm', 'stalled', { verdict: { kind: 'stalled' } }), ['restart-hung']],
  ['case 63: model not on the server', { ...factOf('ollama', 'blind'), modelMissing: 'm' }, ['ollama-pull']],
  ['no verdict and no numbers', factOf('vllm', 'waiting'), ['look-which']],
  [
    'no verdict, and more comes than usual',
    factOf('vllm', 'waiting', { flow: { came: 2, finished: 1, usual: 1 } }),
    ['more-replicas'],
  ],
  [
    'no verdict, and as much comes as usual',
    factOf('vllm', 'waiting', { flow: { came: 1.1, finished: 0.5, usual: 1 } }),
    ['check-server'],
  ],
  [
    'no past, and more comes than finishes',
    factOf('vllm', 'waiting', { flow: { came: 2, finished: 1 } }),
    ['more-replicas'],
  ],
  [
    'no past, and all that comes finishes',
    factOf('vllm', 'ttft', { flow: { came: 1, finished: 1 } }),
    ['long-or-slow'],
  ],
  ['a deployment of Ray is unhealthy', factOf('ray-serve', 'upstream'), ['ray-serve-status']],
  ['requests fail at a router that does not say of which engine', factOf('router', 'errors'), ['behind-gateway']],
  [
    'requests fail at a gateway that names the upstream',
    factOf('gateway', 'errors', { failedBy: 'b' }),
    ['gateway-upstream'],
  ],
  [
    'an XID that was there before the trouble is no cause of it',
    factOf('vllm', 'throughput', { verdict: { kind: 'broke' }, gpu: { xid: 31 } }),
    ['look-at-gpu'],
  ],
  ['the queue is spread unevenly', factOf('vllm', 'waiting', { verdict: { kind: 'imbalance' } }), ['spread-replicas']],
  ['a dead upstream', factOf('gateway', 'kv_cache', { cause: { upstreams: 'b' } }), ['gateway-upstream']],
  ['an XID of 0 is no error', { ...factOf('dcgm', 'gpu_xid'), value: 0 }, []],
]

test.each(DIRECTIONS)('%s', (_, fact, expected) => {
  expect(keys(fact)).toEqual(expected)
})

test('settings that are no numbers are not told', () => {
  const fact = factOf('vllm', 'kv_cache', {
    settings: { gpu_memory_utilization: 'None', num_gpu_blocks: '-5', block_size: '16' },
  })
  expect(advice(fact)).toEqual([{ key: 'vllm-more-cache' }])
})

test('every XID that is explained in one language is explained in the other', () => {
  expect(Object.keys(CATALOGUES.ru.xids)).toEqual(Object.keys(CATALOGUES.en.xids))
  for (const code of [13, 31, 43, 45, 48, 63, 64, 74, 79, 94, 95]) expect(CATALOGUES.en.xids[code]).toBeTruthy()
})

test('requests that fail because there are too many of them are no matter for the log', () => {
  expect(advice(factOf('tgi', 'errors', { failedBy: 'overloaded' }))).toEqual([{ key: 'more-replicas' }])
  expect(advice(factOf('tgi', 'errors', { failedBy: 'generation' }))).toEqual([{ key: 'read-log' }])
})

test('a server whose own cap turns requests away is not told to set one', () => {
  const flag = (numbers: Numbers) =>
    spelt({ key: 'more-replicas' }, factOf('vllm', 'waiting', { version: '0.32.0', numbers }))
  expect(flag({ admission_rejected: 0 })).toMatchObject({ flag: { name: '--max-num-queued-reqs' } })
  expect(flag({ admission_rejected: 420 })).toEqual({ key: 'more-replicas' })
})

describe('the same trouble on three versions of vLLM, by what their pages tell', () => {
  const page = (more: Record<string, number>) => vllmPage(more)
  const V0 = { 'vllm:gpu_cache_usage_perc{model_name="m"}': 0.99 }
  const EARLY_V1 = {
    ...V0,
    'vllm:gpu_prefix_cache_queries_total{model_name="m"}': 1,
    'vllm:gpu_prefix_cache_hits_total{model_name="m"}': 0,
  }
  const V1 = { 'vllm:kv_cache_usage_perc{model_name="m"}': 0.99 }

  test.each([
    ['V0', V0, 'v0'],
    ['V1 before 0.9.2', EARLY_V1, 'v1'],
    ['V1', V1, 'v1'],
  ] as const)('%s', (_, cache, engine) => {
    const settings = { 'vllm:cache_config_info{enable_prefix_caching="False",gpu_memory_utilization="0.9"}': 1 }
    const { told } = play('vllm', [page({ ...cache, ...settings }), page({ ...cache, ...settings })], {
      KV_CACHE_FOR: '0s',
    })
    const [fact] = told.filter(({ rule }) => rule === 'kv_cache')
    expect(fact?.context?.engine).toBe(engine)
    const hits = fact && advice({ ...fact, rule: 'prefix_hits' })
    expect(hits).toEqual([{ key: 'vllm-prefix-caching-off', engine }])
  })
})

function vllmPage(more: Record<string, number>): string {
  const samples = {
    'vllm:num_requests_waiting{model_name="m"}': 0,
    'vllm:num_requests_running{model_name="m"}': 4,
    ...more,
  }
  return `${Object.entries(samples)
    .map(([name, value]) => `${name} ${value}`)
    .join('\n')}\n`
}
