/** Beginnings of the variables of the system, of clouds and of other programs. */
const FAMILIES = [
  'AWS_',
  'NODE_',
  'KUBERNETES_',
  'LAMBDA_',
  'NPM_',
  'OTEL_',
  'PROMETHEUS_',
  'CUDA_',
  'NVIDIA_',
  'NCCL_',
  'HF_',
  'HUGGING_FACE_',
  'TORCH_',
  'PYTORCH_',
  'PYTHON',
  'DOCKER_',
  'COMPOSE_',
  'GOTIFY_',
  'NTFY_',
  'GITHUB_',
  'CI_',
  'SSH_',
  'XDG_',
  'LC_',
  'SYSTEMD_',
  '_',
]

/** https://docs.vllm.ai/en/latest/configuration/env_vars.html, by the words that follow `VLLM_`. */
const VLLM =
  /^VLLM_(API_KEY|HOST_IP|PORT|RPC_|USE_|CACHE_|CONFIG_|LOGGING_|LOG_(STATS|BATCHSIZE)|CONFIGURE_|ATTENTION_|FLASH|PP_|CPU_|GPU_(SYNC|MEM)|XLA_|TPU_|ROCM_|WORKER_|IMAGE_|VIDEO_|AUDIO_|MM_|MEDIA_|PLUGINS|TORCH_|TEST_|SKIP_|DISABLE[D_]|ENABLE_|ALLOW_|KEEP_|ENGINE_|NCCL_|NO_|DO_NOT_|USAGE_|DEBUG_|TRACE_|RAY_|DP_|EP_|MOE_|FUSED_|NVFP4|MXFP4|ALL2ALL_|NIXL_|MOONCAKE_|P2P_|V1_|SERVER_DEV|ASSETS_|TARGET_DEVICE|MAIN_|PRECOMPILED|BUILD|CUDART|TUNED|LORA_|SLEEP_|OBJECT_|MSGPACK|EXECUTE_|KV_(CACHE_LAYOUT|EVENTS)|LOOPBACK_IP|PROCESS_NAME_|HTTP_TIMEOUT|SERVICE_(HOST|PORT))/

/** https://docs.ollama.com/faq and `ollama serve --help`. */
const OLLAMA =
  /^OLLAMA_(HOST|MODELS|ORIGINS|DEBUG|KEEP_ALIVE|NUM_PARALLEL|MAX_|FLASH_ATTENTION|KV_CACHE_TYPE|LOAD_TIMEOUT|GPU_OVERHEAD|NO|CONTEXT_LENGTH|SCHED_SPREAD|LLM_LIBRARY|MULTIUSER_CACHE|NEW_ENGINE|INTEL_GPU|VULKAN|TMPDIR|RUNNERS_DIR|EDITOR|AUTH|REMOTES|API_KEY|SERVICE_(HOST|PORT))/

/** Names that are near to ours, or stand in many a `.env`, and belong to others. */
const NAMES = new Set(
  (
    'PATH HOME USER LOGNAME SHELL PWD OLDPWD TERM LANG LANGUAGE TZ HOSTNAME EDITOR PAGER TMPDIR TEMP TMP UID GID ' +
    'HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY SSL_CERT_FILE SSL_CERT_DIR PORT HOST DEBUG LOGLEVEL BASE_URL ' +
    'OPENAI_API_KEY OPENAI_BASE_URL OPENAI_ORGANIZATION OPENAI_API_BASE ANTHROPIC_API_KEY ' +
    'LITELLM_MODE LITELLM_LOG LITELLM_MASTER_KEY LITELLM_SALT_KEY'
  ).split(' '),
)

/** Whether a variable is the system's or another program's, so that it is no misspelt one of ours. */
export function isForeign(name: string): boolean {
  if (NAMES.has(name.toUpperCase()) || VLLM.test(name) || OLLAMA.test(name)) return true
  return FAMILIES.some((family) => name.toUpperCase().startsWith(family))
}
