import type { SpeltFlag } from '../../verdict/flags.ts'
import type { Catalogue } from '../texts.ts'
import { whatHolds } from './engine-rules.ts'
import { faultRulesEn } from './fault-rules.ts'
import { hardwareRulesEn } from './hardware-rules.ts'
import { n } from './phrases.ts'
import { serverRulesEn } from './server-rules.ts'
import { xidRemedy } from './xids.ts'

const LONGER = { prompts: 'long prompts', answers: 'long answers', both: 'long prompts and answers' }

/** ` Or let it refuse what it cannot serve soon: --max-num-queued-reqs (vLLM 0.30.0).` */
function also(what: string, flag: SpeltFlag | undefined): string {
  return flag === undefined ? '' : ` ${what}: ${flag.name} (${flag.server}).`
}
const OFFLOAD = 'What it drops can be kept in CPU memory'

/** `; it holds 445 k tokens`. */
function holds(tokens: number | undefined): string {
  return tokens === undefined ? '' : ` (it holds ${n.large(tokens)} tokens)`
}

export const adviceEn: Catalogue['advice'] = {
  'more-replicas': ({ flag }) =>
    `Add a replica or rate-limit at the gateway.${also('The server can refuse early by itself', flag)}`,
  'look-which': () =>
    'If traffic is up, add a replica or rate-limit at the gateway; if not, check the GPU (nvidia-smi) and the server log.',
  'shorter-requests': ({ what }) => `Limit ${LONGER[what]} at the gateway, or give them a replica of their own.`,
  'long-or-slow': () =>
    'As many finish as come: requests are long, or the engine is slow. Check the GPU (nvidia-smi) and the server log.',
  'check-server': () => 'Traffic is not the cause: check the GPU (nvidia-smi) and the server log.',
  'spread-engines': () =>
    'Look at how requests are spread over the engines (data-parallel balancing, sticky sessions): there is room on the others.',
  'spread-replicas': () =>
    'Look at the routing in front (sticky sessions, prefix routing, a stale list of replicas): there is room on the others.',
  'kv-transfer': faultRulesEn.transfer.todo,
  'draft-fits': ({ flag }) =>
    `Did model, draft or the kind of prompts change? Where the draft no longer fits, it is faster without speculative decoding${flag === undefined ? '' : ` (${flag.name} of ${flag.server})`}.`,
  wake: () => whatHolds('asleep'),
  deferred: () => whatHolds('deferred'),
  'gpu-gone': hardwareRulesEn.gpu_lost.todo,
  'gpu-held-down': hardwareRulesEn.gpu_throttle.todo,
  'look-at-gpu': () =>
    'Look at the GPU (nvidia-smi: clocks, temperature, other processes; dmesg: Xid), then restart the server.',
  'restart-hung': () =>
    '/health may still say 200. Try one request by hand; if it hangs, save the log and restart the server.',
  'why-restarted': () =>
    'See why: end of the log before the restart, and whether memory ran out (dmesg, exit code 137).',
  'cache-warms-up': () => 'After a restart the prefix cache fills by itself: nothing to do.',
  routing: () =>
    'Look at routing: requests with the same beginning should reach the same replica. Did the system prompt change?',
  'take-out': () =>
    'Take this replica out of rotation, then look at its GPU (nvidia-smi: clocks, temperature) and restart it.',
  'behind-gateway': () => 'Look at the engines behind it, and in its own log: which of them fails?',
  'read-log': () => 'Read the server log: out of memory and failed model loads show up there first.',
  'vllm-more-at-once': ({ kv }) => `KV cache is ${n.percent(kv)} full: max_num_seqs can be raised.`,
  'vllm-more-cache': ({ utilisation, tokens, flag }) =>
    `Raise gpu_memory_utilization${utilisation === undefined ? '' : ` (now ${utilisation})`} or lower max_num_seqs: the KV cache is too small for what runs${holds(tokens)}.${also(OFFLOAD, flag)}`,
  'vllm-less-at-once': ({ utilisation, tokens, flag }) =>
    `Lower max_num_seqs: the KV cache is too small for what runs${holds(tokens)}, and gpu_memory_utilization${utilisation === undefined ? '' : ` (${utilisation})`} leaves nothing to raise.${also(OFFLOAD, flag)}`,
  'vllm-fixed-cache': ({ bytes }) =>
    `Raise --kv-cache-memory-bytes (now ${n.count(bytes / 2 ** 30)} GiB; while it is set, --gpu-memory-utilization counts for nothing) or lower --max-num-seqs.`,
  'vllm-prefix-caching-off': ({ engine }) => {
    if (engine === 'v0')
      return 'Prefix caching is off, as in every V0 engine that is not told: start it with --enable-prefix-caching.'
    if (engine === 'v1')
      return 'Prefix caching was switched off, on a V1 engine it is on by itself: take --no-enable-prefix-caching out.'
    return 'enable_prefix_caching is off on this server: switch it on.'
  },
  'sglang-more-at-once': ({ kv }) =>
    `KV pool is ${n.percent(kv)} full: --max-running-requests can be raised, --schedule-conservativeness lowered.`,
  'sglang-more-cache': ({ flag }) =>
    `Raise --mem-fraction-static a little or lower --max-running-requests.${also(OFFLOAD, flag)}`,
  'tgi-more-at-once': () => 'If GPU memory has room, --max-batch-total-tokens can be raised.',
  'tei-more-at-once': () => 'If GPU memory has room, --max-batch-tokens can be raised.',
  'llamacpp-more-at-once': () =>
    'If memory has room, raise --parallel, and --ctx-size with it: slots share the context.',
  'llamacpp-more-cache': () => 'Raise --ctx-size or lower --parallel: slots share the context.',
  'llamacpp-router': () =>
    'The server is in router mode: give its own address, or put ?model=NAME&autoload=false into this one.',
  'trtllm-more-at-once': ({ kv }) => `KV cache is ${n.percent(kv)} full: --max_batch_size can be raised.`,
  'trtllm-more-cache': () =>
    'Raise free_gpu_memory_fraction in the kv_cache_config of the --config file, or lower --max_batch_size.',
  'trtllm-metrics': () =>
    'Metrics are at /prometheus/metrics, and only with return_perf_metrics: true in the --config file.',
  'lmdeploy-more-at-once': ({ kv }) => `KV cache is ${n.percent(kv)} full: --max-batch-size can be raised.`,
  'lmdeploy-more-cache': () => 'Raise --cache-max-entry-count or lower --max-batch-size.',
  'lmdeploy-metrics': () => 'Start the server with --enable-metrics.',
  'mistralrs-more-at-once': ({ kv }) => `KV cache is ${n.percent(kv)} full: --max-seqs can be raised.`,
  'mistralrs-more-cache': () => 'Give paged attention more GPU memory, or lower --max-seqs.',
  'triton-more-at-once': () =>
    'If GPU memory has room, raise count of instance_group or max_batch_size in config.pbtxt.',
  'triton-more-cache': () => 'Raise kv_cache_free_gpu_mem_fraction in config.pbtxt, or lower max_batch_size.',
  'dynamo-more-workers': () =>
    'Raise replicas of the workers. When a worker counts as busy, --active-decode-blocks-threshold of the frontend says.',
  'epp-more-replicas': () =>
    'Raise replicas behind the InferencePool. How much may wait, flowControl in the EndpointPickerConfig says.',
  'litellm-more-deployments': () =>
    'Add a deployment to model_list in config.yaml, or name fallbacks in its router_settings.',
  'litellm-metrics': () => 'Metrics need callbacks: ["prometheus"] in litellm_settings of config.yaml.',
  'router-more-backends': () =>
    'Look at the engines behind the router, and at --static-backends, --k8s-label-selector or --worker-urls: is one missing?',
  'genai-more-backends': () =>
    'Look at the backends of the route (AIServiceBackend): add one, or a fallback by priority.',
  'ray-serve-status': () =>
    'See serve status and the log of the deployment: a replica crashed or fails its health check.',
  'ray-serve-more-replicas': () =>
    'Raise max_replicas in autoscaling_config, or num_replicas, in the Serve config; see serve status.',
  'ollama-more-at-once': () =>
    'Raise OLLAMA_NUM_PARALLEL if memory allows (each slot needs its own context), or add a machine.',
  'ollama-queue': () =>
    'More than OLLAMA_MAX_QUEUE requests wait. A longer queue only waits longer: raise OLLAMA_NUM_PARALLEL, or rate-limit at the gateway.',
  'ollama-other-model': () => 'See OLLAMA_MAX_LOADED_MODELS, or use a smaller model.',
  'ollama-pull': () => 'Check name and tag (ollama list), or pull the model.',
  'ollama-vram': ({ share }) =>
    `Only ${n.percent(share)} of the model lies in GPU memory, the rest runs on the CPU: use a smaller model or context.`,
  'openai-model': () => 'Check the model name against /v1/models.',
  'blocks-held': () =>
    'The blocks leaked, often after aborted requests or transfers: nothing to resize. A restart frees them; note the version.',
  'vllm-metrics': () =>
    'Was the server started with --disable-log-stats, or upgraded to new metric names? npm run doctor tells.',
  'sglang-metrics': () => 'Start the server with --enable-metrics.',
  'llamacpp-metrics': () => 'Start the server with --metrics.',
  'mend-gpu': ({ code }) => xidRemedy(code),
  'gateway-upstream': serverRulesEn.upstream.todo,
  'gateway-rejected': serverRulesEn.rejected.todo,
  'gateway-cache': () => 'Add a replica or admit fewer requests at once.',
  'own-network': () => "All at once with one cause: suspect the watcher's own network first (VPC, NAT, DNS, VPN).",
}
