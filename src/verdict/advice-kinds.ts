import type { SpeltFlag } from './flags.ts'

/**
 * What to do where it depends on the verdict or the server, as data; the words are in the catalogues. What depends on
 * the rule alone is the `todo` of the rule's words. The prefix of a key names the only server whose settings its words
 * may contain; keys without a prefix name no setting but `flag`, which is the server's own.
 */
export type Advice =
  | { key: 'more-replicas'; flag?: SpeltFlag }
  | { key: 'look-which' }
  | { key: 'shorter-requests'; what: 'prompts' | 'answers' | 'both' }
  | { key: 'check-server' }
  | { key: 'long-or-slow' }
  | { key: 'look-at-gpu' }
  | { key: 'spread-engines' }
  | { key: 'spread-replicas' }
  | { key: 'kv-transfer' }
  | { key: 'draft-fits'; flag?: SpeltFlag }
  | { key: 'wake' }
  | { key: 'deferred' }
  | { key: 'gpu-gone' }
  | { key: 'gpu-held-down' }
  | { key: 'restart-hung' }
  | { key: 'why-restarted' }
  | { key: 'cache-warms-up' }
  | { key: 'routing' }
  | { key: 'take-out' }
  | { key: 'read-log' }
  | { key: 'behind-gateway' }
  | { key: 'vllm-more-at-once'; kv: number }
  | { key: 'vllm-more-cache'; utilisation?: number; tokens?: number; flag?: SpeltFlag }
  | { key: 'vllm-less-at-once'; utilisation?: number; tokens?: number; flag?: SpeltFlag }
  /** A size that was given in bytes: the share of the memory counts for nothing beside it. */
  | { key: 'vllm-fixed-cache'; bytes: number }
  | { key: 'vllm-prefix-caching-off'; engine?: 'v0' | 'v1' }
  | { key: 'sglang-more-at-once'; kv: number }
  | { key: 'sglang-more-cache'; flag?: SpeltFlag }
  | { key: 'tgi-more-at-once' }
  | { key: 'tei-more-at-once' }
  | { key: 'llamacpp-more-at-once' }
  | { key: 'llamacpp-more-cache' }
  | { key: 'llamacpp-router' }
  | { key: 'trtllm-more-at-once'; kv: number }
  | { key: 'trtllm-more-cache' }
  | { key: 'trtllm-metrics' }
  | { key: 'lmdeploy-more-at-once'; kv: number }
  | { key: 'lmdeploy-more-cache' }
  | { key: 'lmdeploy-metrics' }
  | { key: 'mistralrs-more-at-once'; kv: number }
  | { key: 'mistralrs-more-cache' }
  | { key: 'triton-more-at-once' }
  | { key: 'triton-more-cache' }
  | { key: 'dynamo-more-workers' }
  | { key: 'epp-more-replicas' }
  | { key: 'litellm-more-deployments' }
  | { key: 'litellm-metrics' }
  | { key: 'router-more-backends' }
  | { key: 'genai-more-backends' }
  | { key: 'ray-serve-more-replicas' }
  | { key: 'ray-serve-status' }
  | { key: 'ollama-more-at-once' }
  | { key: 'ollama-queue' }
  | { key: 'ollama-other-model' }
  | { key: 'ollama-pull' }
  | { key: 'ollama-vram'; share: number }
  | { key: 'openai-model' }
  | { key: 'blocks-held' }
  | { key: 'vllm-metrics' }
  | { key: 'sglang-metrics' }
  | { key: 'llamacpp-metrics' }
  | { key: 'mend-gpu'; code: number }
  | { key: 'gateway-upstream' }
  | { key: 'gateway-rejected' }
  | { key: 'gateway-cache' }
  | { key: 'own-network' }
