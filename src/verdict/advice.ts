import { TABLES } from '../backends/backends.ts'
import type { BackendTable, FlagUse, ScrapedBackend } from '../model/backend.ts'
import { defined } from '../model/defined.ts'
import type { VerdictKind } from '../model/explanation.ts'
import type { AlertContext, Notification } from '../model/notification.ts'
import type { Advice } from './advice-kinds.ts'
import { flagOf } from './flags.ts'

/** The KV cache has room for more requests at once below this share. */
const ROOM = 0.75
/** `gpu_memory_utilization` from here on leaves no room to raise it. */
const UTILISATION_TOP = 0.95

/** What helps where the verdict does not say, by what the endpoint shows. */
type ByContext = (context: AlertContext) => Advice[]

/**
 * Advice of a rule about an engine: by the verdict, else what `unexplained` says. A gateway has no engine of its own,
 * so only the rule says what helps there.
 */
export function ofEngine(unexplained: ByContext = lookWhich, onGateway: ByContext = refusesRequests) {
  return ({ context }: Notification): Advice[] => {
    if (!context) return []
    return tableOf(context)?.isGateway ? onGateway(context) : byVerdict(context, unexplained)
  }
}

/** Which setting of the server helps too, where its version has one. */
const USES: Partial<Record<Advice['key'], FlagUse>> = {
  'more-replicas': 'queue-cap',
  'draft-fits': 'draft',
  'vllm-more-cache': 'offload',
  'vllm-less-at-once': 'offload',
  'sglang-more-cache': 'offload',
}

/** The piece with that setting, as the server's version spells it. */
export function spelt(piece: Advice, { context }: Notification): Advice {
  const use = USES[piece.key]
  const table = tableOf(context)
  // A queue with a cap that has turned something away needs no cap.
  if (use === 'queue-cap' && (context?.numbers.admission_rejected ?? 0) > 0) return piece
  const flag = use && table && flagOf(table, use, context?.version)
  return flag ? ({ ...piece, flag } as Advice) : piece
}

/** Whether a piece could name a setting if the server's version were known. */
export function wantsVersion(piece: Advice, { context }: Notification): boolean {
  const use = USES[piece.key]
  return use !== undefined && context?.version === undefined && tableOf(context)?.flags?.[use] !== undefined
}

function tableOf(context: AlertContext | undefined): BackendTable | undefined {
  return TABLES[context?.backend as ScrapedBackend]
}

function byVerdict(context: AlertContext, unexplained: ByContext): Advice[] {
  const kind: VerdictKind | undefined = context.verdict?.kind
  switch (kind) {
    case 'stalled':
      return [{ key: 'restart-hung' }]
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
      return [{ key: 'look-at-gpu' }]
    case 'imbalance':
      return [{ key: context.verdict?.uneven?.of === 'engines' ? 'spread-engines' : 'spread-replicas' }]
    case 'transfer':
      return [{ key: 'kv-transfer' }]
    case 'draft':
      return [{ key: 'draft-fits' }]
    case 'asleep':
      return [{ key: 'wake' }]
    case 'deferred':
      return [{ key: 'deferred' }]
    case undefined:
      return unexplained(context)
    default:
      return kind satisfies never
  }
}

/** Arrivals are up at this many times the usual; without a past, where so many times more come than finish. */
const MORE = 1.25

/**
 * Without a verdict: what comes and what finishes says where to look. Only where neither is known, the reader has to find
 * out. Without a past, requests that are long from the first on look like an engine that is slow.
 */
function lookWhich({ flow }: AlertContext): Advice[] {
  if (!flow) return [{ key: 'look-which' }]
  if (flow.came > MORE * (flow.usual ?? flow.finished)) return [{ key: 'more-replicas' }]
  return [{ key: flow.usual === undefined ? 'long-or-slow' : 'check-server' }]
}

export function lookAtGpu(): Advice[] {
  return [{ key: 'look-at-gpu' }]
}

export function takeOut(): Advice[] {
  return [{ key: 'take-out' }]
}

/** What lies below the symptom is to be mended, and nothing else helps until then. */
export function ofCause({ context }: Notification): Advice[] {
  const { gpu, upstreams } = context?.cause ?? {}
  if (gpu?.xid) return [{ key: 'mend-gpu', code: gpu.xid }]
  if (gpu?.gone) return [{ key: 'gpu-gone' }]
  if (gpu?.throttle) return [{ key: 'gpu-held-down' }]
  return upstreams === undefined ? [] : [{ key: 'gateway-upstream' }]
}

export function restartHung({ context, held }: Notification): Advice[] {
  return context && held?.by === undefined ? [{ key: 'restart-hung' }] : []
}

/** Where it is known what holds the work, the rule's own words say what helps: neither GPU nor restart nor replica. */
export function whenStuck(notification: Notification): Advice[] {
  return notification.held?.by === undefined ? ofEngine(() => [])(notification) : []
}

/** TGI and TEI call what they refuse above --max-concurrent-requests `overloaded`. */
export function whenFailing({ failedBy }: AlertContext): Advice[] {
  return [{ key: failedBy === 'overloaded' ? 'more-replicas' : 'read-log' }]
}

/** A gateway loads no model: what fails there fails behind it. Only some name the upstream, others a kind of error. */
export function whenGatewayFails({ backend, failedBy }: AlertContext): Advice[] {
  return [{ key: backend === 'gateway' && failedBy !== undefined ? 'gateway-upstream' : 'behind-gateway' }]
}

/**
 * Where room for more requests is made behind each gateway.
 * Dynamo: fault tolerance, request rejection. EPP: llm-d, flow control and EndpointPickerConfig. LiteLLM: proxy
 * configuration, load balancing. vLLM's routers: READMEs of the production stack and of vllm-router. Ray Serve:
 * configuration of a deployment.
 */
export function refusesRequests({ backend }: AlertContext): Advice[] {
  switch (backend) {
    case 'dynamo':
      return [{ key: 'dynamo-more-workers' }]
    case 'epp':
      return [{ key: 'epp-more-replicas' }]
    case 'litellm':
      return [{ key: 'litellm-more-deployments' }]
    case 'router':
      return [{ key: 'router-more-backends' }]
    case 'genai':
      return [{ key: 'genai-more-backends' }]
    case 'ray-serve':
      return [{ key: 'ray-serve-more-replicas' }]
    default:
      return [{ key: 'gateway-rejected' }]
  }
}

/** What a gateway's refusal or dead upstream asks for, where its own settings say it better than the rule does. */
export function onOwnGateway({ context, rule }: Notification): Advice[] {
  // Ray starts replicas itself: more of them do not help against one that fails.
  if (context?.backend === 'ray-serve' && rule === 'upstream') return [{ key: 'ray-serve-status' }]
  return context === undefined || context.backend === 'gateway' || context.backend === 'vllm'
    ? []
    : refusesRequests(context)
}

/**
 * Higher concurrency, only where the server says that its cache has room.
 * vLLM: docs.vllm.ai, configuration/optimization (max_num_seqs bounds the batch, the KV cache must hold it).
 * SGLang: docs.sglang.io, hyperparameter tuning (queue long and token usage low: the server is too conservative).
 * TGI: huggingface.co/docs/text-generation-inference, launcher (max-batch-total-tokens bounds the batch).
 * TEI: huggingface.co/docs/text-embeddings-inference, CLI arguments (max-batch-tokens).
 * llama.cpp: tools/server/README (--parallel is the number of slots, which share --ctx-size).
 * TensorRT-LLM: commands/trtllm-serve (--max_batch_size; kv_cache_config of its YAML). LMDeploy: `lmdeploy serve
 * api_server --help`. mistral.rs: docs/CMD_LINE_DOCS. Triton: user guide, model configuration (config.pbtxt).
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
    case 'trtllm':
      return hasRoom ? [{ key: 'trtllm-more-at-once', kv }] : []
    case 'lmdeploy':
      return hasRoom ? [{ key: 'lmdeploy-more-at-once', kv }] : []
    case 'mistralrs':
      return hasRoom ? [{ key: 'mistralrs-more-at-once', kv }] : []
    case 'triton':
      return kv === undefined || hasRoom ? [{ key: 'triton-more-at-once' }] : []
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
export function cacheFull(context: AlertContext): Advice[] {
  switch (context.backend) {
    case 'vllm': {
      const bytes = settingOf(context, 'kv_cache_memory_bytes', 1e15)
      if (bytes !== undefined) return [{ key: 'vllm-fixed-cache', bytes }]
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
    case 'trtllm':
      return [{ key: 'trtllm-more-cache' }]
    case 'lmdeploy':
      return [{ key: 'lmdeploy-more-cache' }]
    case 'mistralrs':
      return [{ key: 'mistralrs-more-cache' }]
    case 'triton':
      return [{ key: 'triton-more-cache' }]
    default:
      return []
  }
}

/** Full with nothing running, it is not too small: its blocks are not given back (transfers that were aborted, a leak). */
export function whenCacheFull(notification: Notification): Advice[] {
  if (notification.context?.numbers.running === 0) return [{ key: 'blocks-held' }]
  return ofEngine(cacheFull, () => [{ key: 'gateway-cache' }])(notification)
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

/** Requests with one beginning must meet at one replica; after a restart the cache is empty and fills by itself. */
export function whenHitsFell({ context }: Notification): Advice[] {
  if (!context) return []
  const { backend, verdict, restarted, settings } = context
  if (verdict?.kind === 'stalled') return [{ key: 'restart-hung' }]
  if (restarted || verdict?.kind === 'restarted') return [{ key: 'cache-warms-up' }]
  const isOff = /^false$/i.test(settings?.enable_prefix_caching ?? '')
  if (backend !== 'vllm' || !isOff) return [{ key: 'routing' }]
  return [{ key: 'vllm-prefix-caching-off', ...defined({ engine: context.engine }) }]
}

/** Metrics have to be switched on: SGLang answers 404 without --enable-metrics, llama.cpp 501 without --metrics. */
export function whenDown({ failure, context }: Notification): Advice[] {
  if (failure?.kind === 'not-found' && context?.backend === 'sglang') return [{ key: 'sglang-metrics' }]
  if (failure?.status === 501 && context?.backend === 'llamacpp') return [{ key: 'llamacpp-metrics' }]
  if (failure?.status === 400 && context?.backend === 'llamacpp') return [{ key: 'llamacpp-router' }]
  const isElsewhere = failure?.kind === 'not-found' || failure?.kind === 'not-prometheus'
  if (isElsewhere && context?.backend === 'trtllm') return [{ key: 'trtllm-metrics' }]
  if (failure?.kind === 'not-found' && context?.backend === 'litellm') return [{ key: 'litellm-metrics' }]
  if (failure?.kind === 'not-found' && context?.backend === 'lmdeploy') return [{ key: 'lmdeploy-metrics' }]
  return []
}

/** vLLM: --disable-log-stats takes the `vllm:` families away. Ollama: docs/faq and `ollama pull`. */
export function whenBlind({ context, unread, modelMissing, missing, doubted }: Notification): Advice[] {
  if (unread !== undefined) return []
  if (modelMissing !== undefined) {
    if (context?.backend === 'ollama') return [{ key: 'ollama-pull' }]
    return context?.backend === 'openai' ? [{ key: 'openai-model' }] : []
  }
  const isOnlyDoubted = doubted !== undefined && missing === undefined
  return context?.backend === 'vllm' && !isOnlyDoubted ? [{ key: 'vllm-metrics' }] : []
}

/** What slows a single request down: less of the model in the GPU, its clocks, or others beside it. */
export function slowCanaryRate({ context }: Notification): Advice[] {
  const share = context?.canary?.vramShare
  return context?.backend === 'ollama' && share !== undefined && share < 0.99 ? [{ key: 'ollama-vram', share }] : []
}

/** Ollama: docs/faq, "How does Ollama handle concurrent requests" and "How do I keep a model loaded in memory". */
export function slowCanary({ context }: Notification): Advice[] {
  if (context?.backend !== 'ollama') return []
  if (context.canary?.status === 'other-model') return [{ key: 'ollama-other-model' }]
  const share = context.canary?.vramShare
  if (share !== undefined && share < 0.99) return [{ key: 'ollama-vram', share }, { key: 'ollama-more-at-once' }]
  return [{ key: 'ollama-more-at-once' }]
}
