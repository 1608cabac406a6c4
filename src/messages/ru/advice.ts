import type { SpeltFlag } from '../../verdict/flags.ts'
import type { Catalogue } from '../texts.ts'
import { whatHolds } from './engine-rules.ts'
import { faultRulesRu } from './fault-rules.ts'
import { hardwareRulesRu } from './hardware-rules.ts'
import { n, tokens } from './phrases.ts'
import { serverRulesRu } from './server-rules.ts'
import { xidRemedy } from './xids.ts'

const LONGER = { prompts: 'длинные промпты', answers: 'длинные ответы', both: 'длинные промпты и ответы' }

/** ` Сервер может отказывать сразу: --max-num-queued-reqs (vLLM 0.30.0).` */
function also(what: string, flag: SpeltFlag | undefined): string {
  return flag === undefined ? '' : ` ${what}: ${flag.name} (${flag.server}).`
}
const OFFLOAD = 'Вытесненное можно держать в памяти CPU'

/** ` (вмещает 445 тыс. токенов)`. */
function holds(count: number | undefined): string {
  return count === undefined ? '' : ` (вмещает ${tokens(count)})`
}

export const adviceRu: Catalogue['advice'] = {
  'more-replicas': ({ flag }) =>
    `Добавьте реплику или ограничьте поток запросов на шлюзе.${also('Сервер умеет и сам отказывать лишним', flag)}`,
  'look-which': () =>
    'Если запросов больше обычного, добавьте реплику или ограничьте поток запросов на шлюзе; если нет, смотрите GPU (nvidia-smi) и лог сервера.',
  'shorter-requests': ({ what }) => `Ограничьте ${LONGER[what]} на шлюзе или выделите под них отдельную реплику.`,
  'long-or-slow': () =>
    'Запросов завершается столько же, сколько приходит: либо они длинные, либо движок медленный. Смотрите GPU (nvidia-smi) и лог сервера.',
  'check-server': () => 'Дело не в нагрузке: смотрите GPU (nvidia-smi) и лог сервера.',
  'spread-engines': () =>
    'Смотрите, как запросы распределяются по движкам (data parallel, sticky-сессии): на остальных есть место.',
  'spread-replicas': () =>
    'Смотрите маршрутизацию перед репликами (sticky-сессии, маршрутизация по префиксу, устаревший список реплик): на остальных есть место.',
  'kv-transfer': faultRulesRu.transfer.todo,
  'draft-fits': ({ flag }) =>
    `Не менялись ли модель, черновая модель или характер промптов? Если угадывать не удаётся, без спекулятивного декодирования${flag === undefined ? '' : ` (${flag.name}, ${flag.server})`} быстрее.`,
  wake: () => whatHolds('asleep'),
  deferred: () => whatHolds('deferred'),
  'gpu-gone': hardwareRulesRu.gpu_lost.todo,
  'gpu-held-down': hardwareRulesRu.gpu_throttle.todo,
  'look-at-gpu': () =>
    'Смотрите GPU (nvidia-smi: частоты, температура, чужие процессы; dmesg: Xid), затем перезапустите сервер.',
  'restart-hung': () =>
    '/health при этом может отвечать 200. Отправьте запрос вручную; если висит, сохраните лог и перезапустите сервер.',
  'why-restarted': () =>
    'Ищите причину в конце лога до перезапуска; проверьте, не сработал ли OOM killer (dmesg, код завершения 137).',
  'cache-warms-up': () => 'После перезапуска префикс-кэш прогреется сам: делать ничего не нужно.',
  routing: () =>
    'Смотрите маршрутизацию: запросы с общим началом должны попадать на одну реплику. Не менялся ли системный промпт?',
  'take-out': () =>
    'Выведите реплику из балансировки, проверьте её GPU (nvidia-smi: частоты, температура) и перезапустите.',
  'behind-gateway': () => 'Проверьте движки за шлюзом и его собственный лог: какой из них отказывает?',
  'read-log': () => 'Смотрите лог сервера: нехватка памяти и ошибки загрузки модели видны прежде всего там.',
  'vllm-more-at-once': ({ kv }) => `KV-кэш занят на ${n.percent(kv)}, max_num_seqs можно поднять.`,
  'vllm-more-cache': ({ utilisation, tokens: count, flag }) =>
    `Поднимите gpu_memory_utilization${utilisation === undefined ? '' : ` (сейчас ${utilisation})`} или снизьте max_num_seqs: KV-кэша не хватает для такой нагрузки${holds(count)}.${also(OFFLOAD, flag)}`,
  'vllm-less-at-once': ({ utilisation, tokens: count, flag }) =>
    `Снизьте max_num_seqs: KV-кэша не хватает для такой нагрузки${holds(count)}, а поднимать gpu_memory_utilization${utilisation === undefined ? '' : ` (${utilisation})`} уже некуда.${also(OFFLOAD, flag)}`,
  'vllm-fixed-cache': ({ bytes }) =>
    `Поднимите --kv-cache-memory-bytes (сейчас ${n.count(bytes / 2 ** 30)} ГиБ; пока он задан, --gpu-memory-utilization не действует) или снизьте --max-num-seqs.`,
  'vllm-prefix-caching-off': ({ engine }) => {
    if (engine === 'v0')
      return 'Кэш префиксов выключен, в движке V0 так по умолчанию: добавьте --enable-prefix-caching.'
    if (engine === 'v1')
      return 'Кэш префиксов выключили, в движке V1 он включён по умолчанию: уберите --no-enable-prefix-caching.'
    return 'На этом сервере выключен enable_prefix_caching: включите.'
  },
  'sglang-more-at-once': ({ kv }) =>
    `KV-пул занят на ${n.percent(kv)}: можно поднять --max-running-requests или снизить --schedule-conservativeness.`,
  'sglang-more-cache': ({ flag }) =>
    `Поднимите немного --mem-fraction-static или снизьте --max-running-requests.${also(OFFLOAD, flag)}`,
  'tgi-more-at-once': () => 'Если в памяти GPU есть место, можно поднять --max-batch-total-tokens.',
  'tei-more-at-once': () => 'Если в памяти GPU есть место, можно поднять --max-batch-tokens.',
  'llamacpp-more-at-once': () =>
    'Если хватает памяти, поднимите --parallel, а с ним и --ctx-size: слоты делят контекст между собой.',
  'llamacpp-more-cache': () => 'Поднимите --ctx-size или снизьте --parallel: слоты делят контекст между собой.',
  'llamacpp-router': () =>
    'Сервер работает в режиме роутера: укажите его собственный адрес или допишите к этому ?model=ИМЯ&autoload=false.',
  'trtllm-more-at-once': ({ kv }) => `KV-кэш заполнен на ${n.percent(kv)}: можно поднять --max_batch_size.`,
  'trtllm-more-cache': () =>
    'Поднимите free_gpu_memory_fraction в kv_cache_config файла --config или снизьте --max_batch_size.',
  'trtllm-metrics': () =>
    'Метрики лежат по адресу /prometheus/metrics и есть только с return_perf_metrics: true в файле --config.',
  'lmdeploy-more-at-once': ({ kv }) => `KV-кэш заполнен на ${n.percent(kv)}: можно поднять --max-batch-size.`,
  'lmdeploy-more-cache': () => 'Поднимите --cache-max-entry-count или снизьте --max-batch-size.',
  'lmdeploy-metrics': () => 'Запустите сервер с --enable-metrics.',
  'mistralrs-more-at-once': ({ kv }) => `KV-кэш заполнен на ${n.percent(kv)}: можно поднять --max-seqs.`,
  'mistralrs-more-cache': () => 'Дайте paged attention больше памяти GPU или снизьте --max-seqs.',
  'triton-more-at-once': () =>
    'Если память GPU позволяет, поднимите count в instance_group или max_batch_size в config.pbtxt.',
  'triton-more-cache': () => 'Поднимите kv_cache_free_gpu_mem_fraction в config.pbtxt или снизьте max_batch_size.',
  'dynamo-more-workers': () =>
    'Увеличьте replicas у воркеров. Когда воркер считается занятым, решает --active-decode-blocks-threshold фронтенда.',
  'epp-more-replicas': () =>
    'Увеличьте replicas за InferencePool. Сколько запросов может ждать, решает flowControl в EndpointPickerConfig.',
  'litellm-more-deployments': () =>
    'Добавьте развёртывание в model_list файла config.yaml или назовите fallbacks в его router_settings.',
  'litellm-metrics': () => 'Для метрик нужно callbacks: ["prometheus"] в litellm_settings файла config.yaml.',
  'router-more-backends': () =>
    'Проверьте движки за роутером и его --static-backends, --k8s-label-selector или --worker-urls: все ли там?',
  'genai-more-backends': () =>
    'Проверьте бэкенды маршрута (AIServiceBackend): добавьте ещё один или запасной с priority.',
  'ray-serve-status': () =>
    'Смотрите serve status и лог развёртывания: реплика упала или не проходит проверку состояния.',
  'ray-serve-more-replicas': () =>
    'Поднимите max_replicas в autoscaling_config или num_replicas в конфигурации Serve; см. serve status.',
  'ollama-more-at-once': () =>
    'Поднимите OLLAMA_NUM_PARALLEL, если хватает памяти (каждому слоту нужен свой контекст), или добавьте машину.',
  'ollama-queue': () =>
    'Ждёт больше OLLAMA_MAX_QUEUE запросов. В длинной очереди просто дольше ждут: поднимите OLLAMA_NUM_PARALLEL или ограничьте поток запросов на шлюзе.',
  'ollama-other-model': () => 'Смотрите OLLAMA_MAX_LOADED_MODELS или возьмите модель меньше.',
  'ollama-pull': () => 'Проверьте имя и тег (ollama list) или скачайте модель (ollama pull).',
  'ollama-vram': ({ share }) =>
    `В памяти GPU только ${n.percent(share)} модели, остальное выполняется на CPU: возьмите модель или контекст меньше.`,
  'openai-model': () => 'Сверьте имя модели с /v1/models.',
  'blocks-held': () =>
    'Блоки утекли, часто после прерванных запросов или передач: размеры менять незачем. Перезапуск освободит их; запишите версию.',
  'vllm-metrics': () =>
    'Сервер запущен с --disable-log-stats или обновлён и метрики переименованы? Подробности покажет npm run doctor.',
  'sglang-metrics': () => 'Запустите сервер с --enable-metrics.',
  'llamacpp-metrics': () => 'Запустите сервер с --metrics.',
  'mend-gpu': ({ code }) => xidRemedy(code),
  'gateway-upstream': serverRulesRu.upstream.todo,
  'gateway-rejected': serverRulesRu.rejected.todo,
  'gateway-cache': () => 'Добавьте реплику или принимайте меньше запросов одновременно.',
  'own-network': () => 'Все сразу и с одной причиной: сначала проверьте сеть мониторинга (VPC, NAT, DNS, VPN).',
}
