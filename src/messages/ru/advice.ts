import type { Catalogue } from '../texts.ts'
import { failuresRu } from './failures.ts'
import { capital, n, tokens } from './phrases.ts'
import { xidsRu } from './xids.ts'

const LONGER = { prompts: 'длинные промпты', answers: 'длинные ответы', both: 'длинные промпты и ответы' }

/** ` (вмещает 445 тыс. токенов)`. */
function holds(count: number | undefined): string {
  return count === undefined ? '' : ` (вмещает ${tokens(count)})`
}

export const adviceRu: Catalogue['advice'] = {
  'more-replicas': () => 'Добавьте реплику или включите троттлинг на входе.',
  'look-which': () =>
    'Если запросов больше обычного, добавьте реплику или включите троттлинг; если нет, смотрите GPU (nvidia-smi) и лог сервера.',
  'shorter-requests': ({ what }) => `Ограничьте ${LONGER[what]} на входе или выделите под них отдельную реплику.`,
  'look-at-gpu': () =>
    'Смотрите GPU (nvidia-smi: частоты, температура, чужие процессы; dmesg: Xid), затем перезапустите сервер.',
  'restart-hung': () =>
    '/health при этом может отвечать 200. Отправьте запрос вручную; если висит, сохраните лог и перезапустите сервер.',
  'why-restarted': () =>
    'Выясните причину: конец лога перед перезапуском, не кончилась ли память (dmesg, код выхода 137).',
  'cache-warms-up': () => 'После перезапуска префикс-кэш прогреется сам: делать ничего не нужно.',
  routing: () =>
    'Смотрите маршрутизацию: запросы с общим началом должны попадать на одну реплику. Не менялся ли системный промпт?',
  'take-out': () =>
    'Выведите реплику из балансировки, проверьте её GPU (nvidia-smi: частоты, температура) и перезапустите.',
  'read-log': () => 'Смотрите лог сервера: нехватка памяти и сбои загрузки видны там первыми.',
  'vllm-more-at-once': ({ kv }) => `KV-кэш занят на ${n.percent(kv)}, max_num_seqs можно поднять.`,
  'vllm-more-cache': ({ utilisation, tokens: count }) =>
    `Поднимите gpu_memory_utilization${utilisation === undefined ? '' : ` (сейчас ${utilisation})`} или снизьте max_num_seqs: KV-кэш мал для такой работы${holds(count)}.`,
  'vllm-less-at-once': ({ utilisation, tokens: count }) =>
    `Снизьте max_num_seqs: KV-кэш мал для такой работы${holds(count)}, а поднимать gpu_memory_utilization${utilisation === undefined ? '' : ` (${utilisation})`} уже некуда.`,
  'vllm-prefix-caching-off': () => 'На этом сервере выключен enable_prefix_caching: включите.',
  'sglang-more-at-once': ({ kv }) =>
    `KV-пул занят на ${n.percent(kv)}: можно поднять --max-running-requests или снизить --schedule-conservativeness.`,
  'sglang-more-cache': () => 'Поднимите немного --mem-fraction-static или снизьте --max-running-requests.',
  'tgi-more-at-once': () => 'Если в памяти GPU есть место, можно поднять --max-batch-total-tokens.',
  'tei-more-at-once': () => 'Если в памяти GPU есть место, можно поднять --max-batch-tokens.',
  'llamacpp-more-at-once': () =>
    'Если хватает памяти, поднимите --parallel, а с ним и --ctx-size: слоты делят контекст между собой.',
  'llamacpp-more-cache': () => 'Поднимите --ctx-size или снизьте --parallel: слоты делят контекст между собой.',
  'ollama-more-at-once': () =>
    'Поднимите OLLAMA_NUM_PARALLEL, если хватает памяти (каждому слоту нужен свой контекст), или добавьте машину.',
  'ollama-queue': () =>
    'Ждёт больше OLLAMA_MAX_QUEUE запросов. В длинной очереди просто дольше ждут: поднимите OLLAMA_NUM_PARALLEL или включите троттлинг.',
  'ollama-keep-alive': () => 'Поднимите OLLAMA_KEEP_ALIVE, чтобы модель не выгружалась между запросами.',
  'ollama-other-model': () => 'Смотрите OLLAMA_MAX_LOADED_MODELS или возьмите модель меньше.',
  'ollama-pull': () => 'Проверьте имя и тег (ollama list) или скачайте модель (ollama pull).',
  'ollama-vram': ({ share }) =>
    `В памяти GPU только ${n.percent(share)} модели, остальное считает CPU: возьмите модель или контекст меньше.`,
  'openai-busy': () => 'Добавьте реплику или включите троттлинг на входе.',
  'openai-slow': () => 'Смотрите очередь и GPU сервера; если выросла нагрузка, добавьте реплику.',
  'openai-model': () => 'Сверьте имя модели с /v1/models.',
  'vllm-metrics': () =>
    'Сервер запущен с --disable-log-stats или обновлён и метрики переименованы? Подробности покажет npm run doctor.',
  'sglang-metrics': () => 'Запустите сервер с --enable-metrics.',
  'llamacpp-metrics': () => 'Запустите сервер с --metrics.',
  'model-name': () => 'Сверьте MODEL этого эндпоинта с именем, которое отдаёт сервер.',
  'metrics-doubted': () =>
    'Поищите на странице метрик NaN, значения вне границ и старые метки времени; часто помогает перезапуск экспортёра.',
  'metrics-missing': () => 'Сервер обновили или это другой порт? Чего не хватает, покажет npm run doctor.',
  'dcgm-memory': () =>
    'Сервер, который резервирует память при старте, останется на этом уровне: тогда GPU_MEMORY_LIMIT=off. Иначе ищите чужие процессы (nvidia-smi).',
  'dcgm-cooling': () => 'Проверьте вентиляторы, обдув и соседние карты; на пределе GPU сам сбросит частоты.',
  'dcgm-lost': () =>
    'Ищите в dmesg Xid 79 (отвалился от шины). Выведите узел из работы; перезагрузка, лучше по питанию, вернёт карту или покажет, что её больше нет.',
  xid: ({ code, isSaid }) => {
    const text = xidsRu[code] ?? 'смотрите каталог Xid у NVIDIA и dmesg; если запросы падают, снимите нагрузку с GPU.'
    return isSaid ? capital(text) : `XID ${code}: ${text}`
  },
  'gateway-observer': () => 'Доступен ли движок со шлюза? Пока нет, шлюз принимает запросы вслепую.',
  'gateway-upstream': () => 'Проверьте этот апстрим: запущен ли он и отвечает ли его health.',
  'gateway-rejected': () =>
    'Лимит работает, как задан: добавьте реплику или поднимите лимит, если у движка есть запас.',
  'gateway-stale': () => 'Состояние движка доходит до шлюза слишком поздно: смотрите период опроса и сеть между ними.',
  'gateway-queue': () => 'Клиенты уже получают ошибки: добавьте реплику или включите троттлинг на входе.',
  'gateway-parked': () => 'Запросы ждут, пока у движка появится место: если надолго, добавьте реплику.',
  'gateway-cache': () => 'Добавьте реплику или принимайте меньше запросов одновременно.',
  'worker-silent': () => 'Жив ли воркер и достаёт ли он до приёмника?',
  'worker-never': () => 'Верны ли у воркера адрес, имя и токен?',
  'worker-failed': () => 'Смотрите лог самого воркера.',
  'watcher-gap': () => 'Смотрите расписание, ошибки и троттлинг функции; локально — не засыпала ли машина.',
  'state-broken': () => 'Копия лежит рядом с состоянием под другим ключом, по ней видно, что случилось.',
  'own-network': () => 'Все сразу и с одной причиной: сначала проверьте сеть самого наблюдателя (VPC, NAT, DNS, VPN).',
  failure: ({ failure, canary }) => failuresRu[failure.kind].todo(failure, canary),
}
