import type { Backend } from '../model/backend.ts'
import type { Failure } from '../model/failure.ts'
import type { AlertContext, Notification, VerdictKind } from '../model/notification.ts'
import type { Advice } from './advice-kinds.ts'

/** The KV cache has room for more requests at once below this share. */
const ROOM = 0.75
/** `gpu_memory_utilization` from here on leaves no room to raise it. */
const UTILISATION_TOP = 0.95

/** At most two pieces of advice, the most useful first; none where nothing is known to help. */
export function advice(fact: Notification): Advice[] {
  return adviceFor(fact).slice(0, 2)
}

function adviceFor(fact: Notification): Advice[] {
  const { rule, context } = fact
  switch (rule) {
    case 'waiting':
    case 'inflight':
    case 'growth':
    case 'queue_wait':
    case 'ttft':
    case 'itl':
    case 'throughput':
    case 'stalled':
    case 'errors':
    case 'kv_cache':
    case 'preemptions':
    case 'sibling':
    case 'prefix_hits':
      return context ? byVerdict(rule, context) : []
    case 'down':
      return fact.failure ? whenDown(fact.failure, context?.backend) : []
    case 'blind':
      return whenBlind(fact)
    case 'gpu_memory':
      return [{ key: 'dcgm-memory' }]
    case 'gpu_temperature':
      return [{ key: 'dcgm-cooling' }]
    case 'gpu_xid':
      return fact.value ? [{ key: 'xid', code: fact.value, isSaid: true }] : []
    case 'gpu_lost':
      return [{ key: 'dcgm-lost' }]
    case 'observer':
      return [{ key: 'gateway-observer' }]
    case 'upstream':
      return [{ key: 'gateway-upstream' }]
    case 'rejected':
      return [{ key: 'gateway-rejected' }]
    case 'stale':
      return [{ key: 'gateway-stale' }]
    case 'queue_full':
      return [{ key: 'gateway-queue' }]
    case 'parked':
      return [{ key: 'gateway-parked' }]
    case 'canary':
    case 'busy':
    case 'cold_load':
      return whenCanary(rule, context)
    case 'heartbeat':
      if (fact.beat?.failed) return [{ key: 'worker-failed' }]
      return [{ key: fact.beat?.never ? 'worker-never' : 'worker-silent' }]
    case 'gap':
      return [{ key: 'watcher-gap' }]
    case 'state-broken':
      return [{ key: 'state-broken' }]
    default:
      return [] // a rule of another version
  }
}

function byVerdict(rule: string, context: AlertContext): Advice[] {
  const kind: VerdictKind | undefined = context.verdict?.kind
  if (context.backend === 'gateway') return ofGateway(rule, context)
  if (rule === 'stalled' || kind === 'stalled') return [{ key: 'restart-hung' }]
  if (rule === 'prefix_hits') return whenHitsFell(context)
  switch (kind) {
    case 'restarted':
      return [{ key: 'why-restarted' }]
    case 'load-grew':
      return [{ key: 'more-replicas' }, ...moreAtOnce(context)]
    case 'heavier':
      return [
        { key: 'shorter-requests', what: whatIsLonger(context) },
        ...(isCacheNearTop(context) ? cacheFull(context) : []),
      ]
    case 'cache-full':
      return [...cacheFull(context), { key: 'more-replicas' }]
    case 'broke':
      return [...gpuXid(context), { key: 'look-at-gpu' }]
    case undefined:
      return withoutVerdict(rule, context)
    default:
      return kind satisfies never
  }
}

function ofGateway(rule: string, context: AlertContext): Advice[] {
  if (rule === 'errors') return [{ key: context.failedBy === undefined ? 'read-log' : 'gateway-upstream' }]
  return [{ key: rule === 'kv_cache' ? 'gateway-cache' : 'gateway-rejected' }]
}

function withoutVerdict(rule: string, context: AlertContext): Advice[] {
  switch (rule) {
    case 'kv_cache':
    case 'preemptions':
      return cacheFull(context)
    case 'sibling':
      return [...gpuXid(context), { key: 'take-out' }]
    case 'throughput':
    case 'itl':
      return [...gpuXid(context), { key: 'look-at-gpu' }]
    case 'errors':
      // TGI and TEI refuse what is above --max-concurrent-requests, by this name.
      return [{ key: context.failedBy === 'overloaded' ? 'more-replicas' : 'read-log' }]
    default:
      return [...gpuXid(context), { key: 'look-which' }]
  }
}

/**
 * Higher concurrency, only where the server says that its cache has room.
 * vLLM: docs.vllm.ai, configuration/optimization (max_num_seqs bounds the batch, the KV cache must hold it).
 * SGLang: docs.sglang.io, hyperparameter tuning (queue long and token usage low: the server is too conservative).
 * TGI: huggingface.co/docs/text-generation-inference, launcher (max-batch-total-tokens bounds the batch).
 * TEI: huggingface.co/docs/text-embeddings-inference, CLI arguments (max-batch-tokens).
 * llama.cpp: tools/server/README (--parallel is the number of slots, which share --ctx-size).
 */
function moreAtOnce(context: AlertContext): Advice[] {
  const kv = context.numbers.kv_cache
  const hasRoom = kv !== undefined && kv < ROOM
  switch (context.backend) {
    case 'vllm':
      return hasRoom ? [{ key: 'vllm-more-at-once', kv }] : []
    case 'sglang':
      return hasRoom ? [{ key: 'sglang-more-at-once', kv }] : []
    case 'tgi':
      return [{ key: 'tgi-more-at-once' }]
    case 'tei':
      return [{ key: 'tei-more-at-once' }]
    case 'llamacpp':
      return kv === undefined || hasRoom ? [{ key: 'llamacpp-more-at-once' }] : []
    default:
      return []
  }
}

/**
 * More cache or fewer requests in it.
 * vLLM: docs.vllm.ai, configuration/optimization, "Preemption": raise gpu_memory_utilization, lower max_num_seqs.
 * SGLang: docs.sglang.io, hyperparameter tuning (mem-fraction-static is weights + KV pool; max-running-requests).
 * llama.cpp: tools/server/README (--ctx-size is the whole cache, --parallel divides it).
 */
function cacheFull(context: AlertContext): Advice[] {
  switch (context.backend) {
    case 'vllm': {
      const utilisation = settingOf(context, 'gpu_memory_utilization', 1)
      const tokens = cacheTokens(context)
      const key = utilisation !== undefined && utilisation >= UTILISATION_TOP ? 'vllm-less-at-once' : 'vllm-more-cache'
      return [
        { key, ...(utilisation === undefined ? {} : { utilisation }), ...(tokens === undefined ? {} : { tokens }) },
      ]
    }
    case 'sglang':
      return [{ key: 'sglang-more-cache' }]
    case 'llamacpp':
      return [{ key: 'llamacpp-more-cache' }]
    default:
      return []
  }
}

/** Tokens that vLLM's KV cache holds: `num_gpu_blocks` × `block_size` of `vllm:cache_config_info`. */
function cacheTokens(context: AlertContext): number | undefined {
  const blocks = settingOf(context, 'num_gpu_blocks', 1e9)
  const size = settingOf(context, 'block_size', 1e6)
  return blocks === undefined || size === undefined ? undefined : blocks * size
}

function settingOf(context: AlertContext, name: string, max: number): number | undefined {
  const text = context.settings?.[name]
  const value = text !== undefined && /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined
  return value !== undefined && value > 0 && value <= max ? value : undefined
}

function isCacheNearTop(context: AlertContext): boolean {
  return (context.numbers.kv_cache ?? 0) >= 0.9
}

function whatIsLonger(context: AlertContext): 'prompts' | 'answers' | 'both' {
  const prompts = context.verdict?.promptTokens ?? 1
  const answers = context.verdict?.outputTokens ?? 1
  if (prompts >= 1.4 && answers >= 1.4) return 'both'
  return prompts >= answers ? 'prompts' : 'answers'
}

function gpuXid(context: AlertContext): Advice[] {
  return context.gpu?.xid ? [{ key: 'xid', code: context.gpu.xid, isSaid: false }] : []
}

/** Requests with one beginning must meet at one replica; after a restart the cache is empty and fills by itself. */
function whenHitsFell(context: AlertContext): Advice[] {
  if (context.restarted || context.verdict?.kind === 'restarted') return [{ key: 'cache-warms-up' }]
  const isOff = /^false$/i.test(context.settings?.enable_prefix_caching ?? '')
  if (context.backend === 'vllm' && isOff) return [{ key: 'vllm-prefix-caching-off' }]
  return [{ key: 'routing' }]
}

/** Metrics have to be switched on: SGLang answers 404 without --enable-metrics, llama.cpp 501 without --metrics. */
function whenDown(failure: Failure, backend: Backend | undefined): Advice[] {
  if (failure.kind === 'not-found' && backend === 'sglang') return [{ key: 'sglang-metrics' }]
  if (failure.status === 501 && backend === 'llamacpp') return [{ key: 'llamacpp-metrics' }]
  return [{ key: 'failure', failure, canary: backend === 'ollama' || backend === 'openai' }]
}

/** vLLM: --disable-log-stats takes the `vllm:` families away. Ollama: docs/faq and `ollama pull`. */
function whenBlind(fact: Notification): Advice[] {
  const backend = fact.context?.backend
  if (fact.unread !== undefined) return []
  if (fact.modelMissing !== undefined) {
    if (backend === 'ollama') return [{ key: 'ollama-pull' }]
    return [{ key: backend === 'openai' ? 'openai-model' : 'model-name' }]
  }
  if (fact.doubted !== undefined && fact.missing === undefined) return [{ key: 'metrics-doubted' }]
  if (backend === 'vllm') return [{ key: 'vllm-metrics' }]
  return [{ key: 'metrics-missing' }]
}

/** Ollama: docs/faq, "How does Ollama handle concurrent requests" and "How do I keep a model loaded in memory". */
function whenCanary(rule: 'canary' | 'busy' | 'cold_load', context: AlertContext | undefined): Advice[] {
  if (context?.backend !== 'ollama') return [{ key: rule === 'busy' ? 'openai-busy' : 'openai-slow' }]
  if (rule === 'cold_load') return [{ key: 'ollama-keep-alive' }]
  if (rule === 'busy') return [{ key: 'ollama-queue' }]
  if (context.canary?.status === 'other-model') return [{ key: 'ollama-other-model' }]
  const share = context.canary?.vramShare
  if (share !== undefined && share < 0.99) return [{ key: 'ollama-vram', share }, { key: 'ollama-more-at-once' }]
  return [{ key: 'ollama-more-at-once' }]
}
