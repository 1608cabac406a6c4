import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import parsePrometheusTextFormat from 'parse-prometheus-text-format'
import { describe, expect, test } from 'vitest'
import { TABLES } from '../../src/backends/backends.ts'
import type { ScrapedBackend } from '../../src/model/backend.ts'
import type { Readings } from '../../src/model/signals.ts'
import { createPageReader } from '../../src/scrape/page-reader.ts'
import { pageOf, readingsOf, totalOf } from './reading.ts'

const FOLDER = path.resolve('../shared/metrics')
const areThere = existsSync(FOLDER)
const skipped = areThere ? '' : ' (skipped: ../shared/metrics is not there)'
const read = (file: string) => readFileSync(path.join(FOLDER, file))

/** What a person read in a body: gauges, totals over label sets, and of each histogram its bounds, and count and sum over label sets. */
interface Expected {
  backend: ScrapedBackend
  file: string
  server: string | undefined
  model?: string
  gauges?: Record<string, number>
  totals?: Record<string, number>
  histograms?: Record<string, [bounds: number, count: number, sum: number]>
  subjects?: Readings['subjects']
  startedAt?: number
  faults?: string[]
  malformed?: number
}

const NO_REMAPS = { gpu_remap_failed: 0, gpu_remapped_rows: 0 }
const GPU = (n: number) => `GPU-00000000-0000-0000-0000-00000000000${n}`

const BODIES: Expected[] = [
  {
    backend: 'vllm',
    file: 'vllm-v0-0.6-busy-vllmcomposer.prom',
    server: 'vLLM V0, or V1 before 0.9.2',
    model: 'mymodelname',
    gauges: { waiting: 2, running: 3, kv_cache: 0 },
    totals: { finished: 6226, preemptions: 0, prompt_tokens: 5453083, generation_tokens: 155722 },
    histograms: {
      ttft: [16, 8499, 5686.670262336731],
      itl: [13, 147223, 6772.65311050415],
      e2e: [10, 6226, 8560.867156982422],
    },
  },
  { backend: 'vllm', file: 'vllm-v0-0.6-headers-only-functionary-pr263.prom', server: 'vLLM V0, or V1 before 0.9.2' },
  {
    backend: 'vllm',
    file: 'vllm-v0-0.10-cpu-after-load-shell-log.prom',
    server: 'vLLM V0, or V1 before 0.9.2',
    model: 'Qwen/Qwen3-0.6B',
    gauges: { waiting: 0, running: 0, kv_cache: 0 },
    totals: { finished: 38, preemptions: 0, prompt_tokens: 43952, generation_tokens: 4874, steps: 1325 },
    histograms: {
      queue_wait: [21, 38, 0.017765522003173828],
      ttft: [22, 69, 4941.843970537186],
      itl: [19, 4805, 662.8116002082825],
      e2e: [21, 38, 902.0056705474854],
    },
  },
  { backend: 'vllm', file: 'vllm-v0-multi-model-lora-partial-vllm-pr11117.prom', server: 'vLLM' },
  {
    backend: 'vllm',
    file: 'vllm-v1-0.8-no-engine-label-partial-production-stack-318.prom',
    server: 'vLLM V0, or V1 before 0.9.2',
    model: 'Qwen/Qwen2.5-Coder-32B-Instruct',
    gauges: { waiting: 0, running: 0, kv_cache: 0 },
    startedAt: 1742624005.57,
  },
  { backend: 'vllm', file: 'vllm-v1-0.10-dp2-api-servers-partial-vllm-pr22227.prom', server: 'vLLM' },
  {
    backend: 'vllm',
    file: 'vllm-v1-2026-05-dp2-partial-gie-issue-2950.prom',
    server: 'vLLM',
    model: 'deepseek-v4-flash-w8a8-mtp',
    gauges: { running: 0 },
  },
  {
    backend: 'vllm',
    file: 'vllm-v1-0.11.x-idle-hardware-aware-router.prom',
    server: 'vLLM V1, 0.9.2 or newer',
    model: 'Qwen/Qwen1.5-0.5B-Chat',
    gauges: { waiting: 0, running: 0, kv_cache: 0 },
    totals: {
      finished: 0,
      preemptions: 0,
      prompt_tokens: 0,
      generation_tokens: 0,
      prefix_queries: 0,
      prefix_hits: 0,
      steps: 0,
    },
    histograms: { queue_wait: [21, 0, 0], ttft: [22, 0, 0], itl: [19, 0, 0], e2e: [21, 0, 0] },
    startedAt: 1762438367.32,
  },
  {
    backend: 'vllm',
    file: 'vllm-v1-2026-09-after-load-lmswitch.prom',
    server: 'vLLM V1, 0.9.2 or newer',
    model: 'deepseek-v4-flash-vision-exp-ablit-dual',
    gauges: { waiting_deferred: 0, asleep: 0, waiting: 0, running: 0, kv_cache: 0 },
    totals: {
      draft_tokens: 106842,
      draft_accepted: 27189,
      finished: 26,
      failed: 0,
      preemptions: 0,
      prompt_tokens: 3675428,
      generation_tokens: 44995,
      prefix_queries: 3675428,
      prefix_hits: 3241216,
      steps: 17833,
    },
    histograms: {
      queue_wait: [21, 26, 0.006842203612904996],
      ttft: [22, 26, 417.90156173706055],
      itl: [19, 26, 0.6654860103620512],
      e2e: [21, 26, 1837.7475888729095],
    },
    startedAt: 1788859833.25,
  },
  {
    backend: 'vllm',
    file: 'vllm-0.28-2026-09-a10-after-load-first-part.prom',
    server: 'vLLM V1, 0.9.2 or newer',
    model: 'Qwen/Qwen3-8B-AWQ',
    gauges: { waiting_deferred: 0, asleep: 0, waiting: 0, running: 0, kv_cache: 0 },
    totals: {
      finished: 168,
      failed: 0,
      preemptions: 0,
      prompt_tokens: 811227,
      generation_tokens: 74322,
      prefix_queries: 811227,
      prefix_hits: 730928,
    },
    startedAt: 1789056783.8,
  },
  {
    backend: 'vllm',
    file: 'vllm-metal-2026-07-stuck-capacity-partial.prom',
    server: 'vLLM V1, 0.9.2 or newer',
    model: 'org/Model-27B-5bit',
    gauges: { waiting_deferred: 0, waiting: 6, running: 0, kv_cache: 0 },
  },
  {
    backend: 'vllm',
    file: 'vllm-nim-1.x-unprefixed-datadog.prom',
    server: 'NVIDIA NIM',
    model: 'meta/llama-3.1-8b-instruct',
    gauges: { waiting: 0, running: 1, kv_cache: 0.0002848191398461977 },
    totals: { finished: 5, failed: 0, prompt_tokens: 109, generation_tokens: 174 },
    histograms: {
      ttft: [16, 5, 0.6119842529296875],
      itl: [13, 169, 1.856855869293213],
      e2e: [10, 5, 2.4688401222229004],
    },
    startedAt: 1730312854.9,
  },
  {
    backend: 'vllm',
    file: 'ray-vllm-0.6-ray2.32-partial-datadog.prom',
    server: 'vLLM under Ray Serve',
    model: 'neuralmagic/Meta-Llama-3.1-70B-Instruct-FP8',
    gauges: { waiting: 0, running: 0, kv_cache: 5.882698982295764e-5 },
    totals: { prompt_tokens: 58, generation_tokens: 300 },
    histograms: { itl: [13, 299, 16.178537607192993] },
    startedAt: 1718140558.3,
  },
  {
    backend: 'tgi',
    file: 'tgi-3.x-after-load-nearly-complete-datadog.prom',
    server: 'TGI',
    gauges: { waiting: 0, running: 0 },
    totals: { finished: 109, prompt_tokens: 662, steps: 1525 },
    histograms: {
      queue_wait: [35, 109, 295.275961956],
      itl: [35, 109, 8.643160945],
      e2e: [35, 109, 541.2140316159999],
    },
  },
  { backend: 'tgi', file: 'tgi-1.x-no-queue-gauge-partial-gke-tutorial.prom', server: 'TGI', totals: { steps: 293 } },
  {
    backend: 'tei',
    file: 'tei-1.x-partial-opea-docs.prom',
    server: 'TEI',
    gauges: { waiting: 0 },
    totals: { finished: 2 },
  },
  {
    backend: 'sglang',
    file: 'sglang-0.4-saturated-sglang-docs.prom',
    server: 'SGLang',
    model: 'meta-llama/Llama-3.1-8B-Instruct',
    gauges: { waiting: 2826, running: 162, kv_cache: 0.28, hit_share: 0.007507552643049313 },
    totals: {
      finished: 11228,
      prompt_tokens: 8128902,
      generation_tokens: 7557572,
      prefix_queries: 8128902,
      steps: 7400757,
    },
    histograms: {
      ttft: [20, 11008, 2351897.9474117756],
      itl: [18, 7400757, 866964.5791549598],
      e2e: [15, 11228, 3116093.850019932],
    },
  },
  {
    backend: 'sglang',
    file: 'sglang-0.5.1-partial-sglang-issue13485.prom',
    server: 'SGLang',
    model: 'Qwen-32B',
    gauges: { running: 1, kv_cache: 0 },
  },
  {
    backend: 'sglang',
    file: 'sglang-2024-09-prototype-names-partial-sglang-pr1461.prom',
    server: 'SGLang',
    model: 'google/gemma-2-9b-it',
    gauges: { waiting: 0, running: 0, kv_cache: 0 },
    faults: ['hit_share out-of-range'],
  },
  {
    backend: 'sglang',
    file: 'sglang-2026-02-via-smg-gateway-underscore-names-partial-smg-pr813.prom',
    server: 'SGLang behind its model gateway',
    model: 'meta-llama/Llama-3.1-8B-Instruct',
    gauges: { hit_share: 0 },
    totals: { steps: 55 },
  },
  {
    backend: 'sglang',
    file: 'sglang-0.5-is-streaming-realtime-modes-sample-partial.prom',
    server: 'SGLang',
    model: 'qwen3',
    gauges: { waiting: 3, running: 7, kv_cache: 0.66 },
    totals: {
      prompt_tokens: 8128902,
      generation_tokens: 7557572,
      prefix_queries: 8128902,
      steps: 15686474,
    },
  },
  {
    backend: 'sglang',
    file: 'sglang-pd-aborted-partial-sglang-pr7944.prom',
    server: 'SGLang',
    model: '/models/R1',
    gauges: { running: 0, kv_cache: 0 },
    totals: { finished: 217, prefix_hits: 2688 }, // 157 were aborted: by their clients,
  },
  {
    backend: 'llamacpp',
    file: 'llamacpp-2024-windows-nan-idle-before-first-request.prom',
    server: 'llama.cpp before May 2025',
    gauges: { waiting: 0, running: 0, kv_cache: 0 },
    totals: { prompt_seconds: 0, decode_seconds: 0, prompt_tokens: 0, generation_tokens: 0, steps: 0 },
    malformed: 1,
  },
  {
    backend: 'llamacpp',
    file: 'llamacpp-2025-01-partial-escaped-comments-llama.cpp-pr11512.txt',
    server: 'llama.cpp',
    gauges: { waiting: 0, running: 0 },
    malformed: 4,
  },
  {
    backend: 'llamacpp',
    file: 'llamacpp-2025-partial-llama.cpp-pr13196.prom',
    server: 'llama.cpp',
    totals: { prompt_seconds: 8.168, decode_seconds: 29.567, prompt_tokens: 143, generation_tokens: 673 },
  },
  {
    backend: 'llamacpp',
    file: 'llamacpp-2026-n-tokens-max-after-load.prom',
    server: 'llama.cpp of 2025 or newer',
    gauges: { waiting: 0, running: 0 },
    totals: {
      prompt_seconds: 32.378,
      decode_seconds: 469.376,
      prompt_tokens: 26129,
      generation_tokens: 10911,
      steps: 10420,
    },
  },
  {
    backend: 'llamacpp',
    file: 'llamacpp-v0.5.0-counters-above-1e6.prom',
    server: 'llama.cpp of 2025 or newer',
    gauges: { waiting: 0, running: 0 },
    totals: {
      draft_tokens: 0,
      draft_accepted: 0,
      prompt_seconds: 187.669,
      decode_seconds: 380.778,
      prompt_tokens: 1063080,
      generation_tokens: 50285,
      prefix_queries: 1063080,
      prefix_hits: 0,
      steps: 25758,
    },
  },
  {
    backend: 'llamacpp',
    file: 'llamacpp-v0.5.0-fresh.prom',
    server: 'llama.cpp of 2025 or newer',
    gauges: { waiting: 0, running: 0 },
    totals: {
      draft_tokens: 0,
      draft_accepted: 0,
      prompt_seconds: 0,
      decode_seconds: 0,
      prompt_tokens: 0,
      generation_tokens: 0,
      prefix_queries: 0,
      prefix_hits: 0,
      steps: 0,
    },
  },
  {
    backend: 'llamacpp',
    file: 'llamacpp-v0.5.0-overload-np2-40clients.prom',
    server: 'llama.cpp of 2025 or newer',
    gauges: { waiting: 38, running: 2 },
    totals: {
      draft_tokens: 0,
      draft_accepted: 0,
      prompt_seconds: 9.77401,
      decode_seconds: 125.329,
      prompt_tokens: 1816,
      generation_tokens: 4269,
      prefix_queries: 2256,
      prefix_hits: 440,
      steps: 3334,
    },
  },
  {
    backend: 'llamacpp',
    file: 'llamacpp-v0.5.0-router-model-tiny-b.prom',
    server: 'llama.cpp of 2025 or newer',
    gauges: { waiting: 0, running: 0 },
    totals: {
      draft_tokens: 0,
      draft_accepted: 0,
      prompt_seconds: 0,
      decode_seconds: 0,
      prompt_tokens: 0,
      generation_tokens: 0,
      prefix_queries: 0,
      prefix_hits: 0,
      steps: 0,
    },
  },
  {
    backend: 'dynamo',
    file: 'dynamo-frontend-2026-01-one-request.prom',
    server: 'Dynamo frontend',
    model: 'qwen/qwen3-0.6b',
    gauges: { waiting: 0, running: 0 },
    totals: { finished: 1, prompt_tokens: 33, generation_tokens: 300, prefix_queries: 33, steps: 300 },
    histograms: {
      ttft: [18, 1, 1.5625701570000001],
      itl: [13, 299, 0.6126917290000005],
      e2e: [10, 1, 2.177646729],
    },
  },
  {
    backend: 'epp',
    file: 'epp-llm_d_epp-names-llm-d-router-testdata-fixture.prom',
    server: 'llm-d router (EPP)',
    model: 'm10',
    gauges: { waiting: 0.4, running: 2, kv_cache: 0.3 },
    totals: { finished: 4, failed: 3 }, // not ResourceExhausted
    histograms: { ttft: [35, 4, 1.79], itl: [13, 4, 0.056], e2e: [35, 4, 1.79] },
  },
  {
    backend: 'litellm',
    file: 'litellm-1.95-partial-datadog.prom',
    server: 'LiteLLM proxy',
    model: 'mock-fail',
    totals: { finished: 24, failed: 2 },
    faults: ['e2e cut-histogram'],
  },
  {
    backend: 'triton',
    file: 'triton-8models-partial-datadog.prom',
    server: 'Triton',
    model: 'simple_string',
    gauges: { waiting: 0 },
    totals: { finished: 3, failed: 0, steps: 3 },
    histograms: { queue_wait: [0, 3, 145 / 1e6], e2e: [0, 3, 1.327965] },
  },
  {
    backend: 'triton',
    file: 'triton-first-response-histogram-docs-no-bucket-suffix-partial.prom',
    server: undefined,
    model: 'my_model',
    faults: ['ttft cut-histogram'],
  },
  {
    backend: 'triton',
    file: 'triton-tensorrtllm-backend-readme-partial.prom',
    server: 'Triton with TensorRT-LLM',
    model: 'tensorrt_llm',
    gauges: { waiting: 1, running: 1, kv_cache: 0.4875 },
    totals: { steps: 0 },
  },
  {
    backend: 'dcgm',
    file: 'dcgm-exporter-2.x-3.x-t4-stitched-datadog.prom',
    server: 'DCGM exporter',
    subjects: {
      [GPU(0)]: { gpu_utilisation: 0, gpu_memory: 0, gpu_temperature: 25, gpu_xid: 0 },
      [GPU(1)]: { gpu_memory: 0.000008, gpu_throttle: 1 },
    },
  },
  {
    backend: 'dcgm',
    file: 'dcgm-exporter-3.x-mig-8gpu-partial.prom',
    server: 'DCGM exporter',
    subjects: {
      [`${GPU(0)}/mig 3`]: { gpu_memory: 10 / 19967 },
      [`${GPU(0)}/mig 5`]: { gpu_memory: 10 / 19967 },
      [`${GPU(0)}/mig 6`]: { gpu_memory: 10 / 19967, gpu_xid: 0 },
      ...Object.fromEntries(
        [1, 2, 3, 4, 5, 6, 7].map((n) => [GPU(n), { gpu_memory: 2 / 81228, gpu_xid: 0, ...NO_REMAPS }]),
      ),
    },
  },
  {
    backend: 'dcgm',
    file: 'dcgm-exporter-4.x-l4-k8s-ai-conformance-kops.prom',
    server: 'DCGM exporter with profiling (4.x)',
    subjects: { [GPU(0)]: { gpu_utilisation: 0, gpu_memory: 0, gpu_temperature: 31, ...NO_REMAPS } },
  },
  {
    backend: 'dcgm',
    file: 'dcgm-exporter-4.x-t4-busy-nometa-k8s-ai-conformance-ericsson.prom',
    server: 'DCGM exporter with profiling (4.x)',
    subjects: { [GPU(0)]: { gpu_utilisation: 0.91, gpu_memory: 5120 / 14911, gpu_temperature: 74 } },
  },
  {
    backend: 'dcgm',
    file: 'dcgm-exporter-4.x-vgpu-a100-40c-k8s-ai-conformance-vks135.prom',
    server: 'DCGM exporter',
    subjects: { [GPU(0)]: { gpu_utilisation: 0, gpu_memory: 0 } },
  },
  {
    backend: 'dcgm',
    file: 'dcgm-exporter-4.x-vgpu-a100-8c-xid-err-labels-vks.prom',
    server: 'DCGM exporter',
    subjects: { [GPU(0)]: { gpu_utilisation: 0, gpu_memory: 0, gpu_xid: 0 } },
  },
  {
    backend: 'dcgm',
    file: 'dcgm-exporter-readme-space-in-labels-int64-sentinel-partial.prom',
    server: 'DCGM exporter',
  },
]

describe.skipIf(!areThere)(`captured bodies${skipped}`, () => {
  test.each(BODIES)('$file', (expected) => {
    const readings = readingsOf(expected.backend, read(expected.file))
    expect(shown(readings)).toEqual({
      server: expected.server,
      model: expected.model,
      gauges: expected.gauges ?? {},
      totals: expected.totals ?? {},
      histograms: expected.histograms ?? {},
      subjects: expected.subjects ?? {},
      startedAt: expected.startedAt,
      faults: expected.faults ?? [],
      malformed: expected.malformed ?? 0,
    })
  })

  test('every captured text body of a server we have a table for is in the list above', () => {
    const ours = readdirSync(FOLDER).filter((file) =>
      /^(?:vllm|ray|tgi|tei|sglang|llamacpp|dynamo|epp|litellm|triton|dcgm)-.*\.(?:prom|txt)$/.test(file),
    )
    expect(BODIES.map(({ file }) => file).sort()).toEqual(ours.sort())
  })

  test('a body as a human sees it: TTFT of the newest vLLM, bucket by bucket', () => {
    const { ttft } = readingsOf('vllm', read('vllm-v1-2026-09-after-load-lmswitch.prom')).histograms
    const [reading] = Object.values(ttft ?? {})
    expect(reading?.bounds).toEqual([
      0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560,
    ])
    expect(reading?.counts).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 9, 14, 18, 18, 18, 23, 25, 25, 25, 26, 26, 26])
  })

  test('the settings of the engine are read whole, also from a label block of a kilobyte', () => {
    const { settings } = readingsOf('vllm', read('vllm-v1-2026-09-after-load-lmswitch.prom'))
    expect(settings).toMatchObject({
      block_size: '4',
      cache_dtype: 'nvfp4_ds_mla',
      enable_prefix_caching: 'True',
      gpu_memory_utilization: '0.835',
      kv_cache_dtype_skip_layers: '[]',
    })
  })

  test('a GPU has a name for people', () => {
    const busy = readingsOf('dcgm', read('dcgm-exporter-4.x-t4-busy-nometa-k8s-ai-conformance-ericsson.prom'))
    expect(busy.subjectNames).toEqual({ [GPU(0)]: 'gpu 0, Tesla T4' })
  })

  test.each(Object.keys(TABLES) as ScrapedBackend[])(
    'no captured body of whatever server troubles the reader of %s',
    (backend) => {
      for (const file of readdirSync(FOLDER).filter((name) => /\.[a-z]+$/.test(name)))
        expect(() => readingsOf(backend, read(file)), file).not.toThrow()
    },
  )
})

/** The parser data of the Prometheus projects. */
const CORPORA = [
  'prometheus-common-expfmt-text.prom',
  'prometheus-promtestdata.txt',
  'promtool-metrics-test.prom',
  'prometheus-textparse-alltypes.237mfs.prom.txt',
  'prometheus-textparse-alltypes.5mfs.om.txt',
  'prometheus-omtestdata.txt',
  'prometheus-textparse-1histogram.om.txt',
  'promtool-dump-openmetrics-test.prom',
]

describe.skipIf(!areThere)(`parser corpora${skipped}`, () => {
  const corpora = 'parser-corpora'

  test.each(CORPORA)('%s holds no line that we cannot read', (file) => {
    const text = read(path.join(corpora, file))
    const lines = linesOf(text)
    const { malformed, sampleCount, comments } = pageOf('vllm', text)
    expect(malformed).toBe(0)
    expect(comments).toBe(lines.filter((line) => line.startsWith('#')).length)
    expect(sampleCount).toBe(lines.filter((line) => !line.startsWith('#')).length)
  })

  test.each(CORPORA)('%s yields what the package reads in each line by itself', (file) => {
    const text = read(path.join(corpora, file))
    const expected = new Map<string, number>()
    for (const line of linesOf(text)) {
      // An exemplar is not for the package.
      const [family] = line.startsWith('#') ? [] : parsePrometheusTextFormat(`${line.split(' # ')[0]}\n`)
      const sample = family?.metrics[0]
      if (family && sample) expected.set(keyOf(family.name, sample.labels ?? {}), numberOf(sample.value ?? ''))
    }
    expect(expected.size).toBeGreaterThan(0)
    expect(allOf(text)).toEqual(expected)
  })

  const cases = areThere
    ? read(path.join(corpora, 'openmetrics-parser-cases.jsonl'))
        .toString('utf8')
        .trim()
        .split('\n')
        .map((line): { name: string; shouldParse: boolean; text: string } => JSON.parse(line))
    : []

  test.each(cases)('OpenMetrics case $name', ({ shouldParse, text }) => {
    const { malformed, sampleCount } = pageOf('vllm', text)
    const samples =
      text
        .split('# EOF')[0]
        ?.split('\n')
        .filter((line) => line !== '' && !line.startsWith('#')) ?? []
    expect(sampleCount + malformed).toBeLessThanOrEqual(samples.length)
    if (shouldParse) expect([malformed, sampleCount]).toEqual([0, samples.length])
  })
})

function linesOf(text: Buffer): string[] {
  return text
    .toString('utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** A body through a table that wants every name in it. */
function allOf(text: Buffer): Map<string, number> {
  const names = [...new Set(linesOf(text).map((line) => /^[a-zA-Z_:][\w:]*/.exec(line)?.[0] ?? ''))].filter(
    (name) => name !== '',
  )
  const isBucket = (name: string) => name.endsWith('_bucket')
  const from = (wanted: readonly string[]) => ({ from: wanted.map((name) => ({ name })) })
  const signals = {
    e2e: from(names.filter(isBucket).map((name) => name.slice(0, -'_bucket'.length))),
    waiting: from(names.filter((name) => !isBucket(name))),
  }
  const reader = createPageReader({ signals, modelLabels: [], repeats: [], ignored: [], recognise: [] })
  reader.push(text)
  const page = reader.end()
  const found = new Map<string, number>()
  for (const [name, samples] of page.samples)
    for (const { labels, value } of samples) found.set(keyOf(name, labels.values), value)
  for (const [name, series] of page.buckets)
    for (const { labels, bounds, counts } of series)
      bounds.forEach((le, i) => {
        found.set(keyOf(name, { ...labels.values, le: String(le) }), counts[i] ?? Number.NaN)
      })
  return found
}

/** Labels in one order, without empty ones; bounds as numbers. */
function keyOf(name: string, labels: Record<string, string>): string {
  const pairs = Object.entries(labels).filter(([, value]) => value !== '')
  const isBucket = name.endsWith('_bucket')
  return JSON.stringify([name, pairs.map(([k, v]) => [k, isBucket && k === 'le' ? String(numberOf(v)) : v]).sort()])
}

function numberOf(text: string): number {
  return /^[+-]?inf$/i.test(text) ? (text.startsWith('-') ? -Infinity : Infinity) : Number(text)
}

function shown(readings: Readings) {
  const { server, model, gauges, counters, histograms, subjects, startedAt, faults, malformed } = readings
  const ofHistogram = (sets: NonNullable<(typeof histograms)['ttft']>) => {
    const all = Object.values(sets)
    // Of one set as it stands on the page; a sum of several is as exact as its addition.
    const total = (of: (one: (typeof all)[number]) => number) =>
      all.length === 1 ? of(all[0] as (typeof all)[number]) : Number(all.reduce((n, one) => n + of(one), 0).toFixed(9))
    return [all[0]?.bounds.length, total(({ counts }) => counts.at(-1) ?? 0), total(({ sum }) => sum ?? Number.NaN)]
  }
  return {
    server,
    model,
    gauges: mapped(gauges, ({ value }) => value),
    totals: mapped(counters, totalOf),
    histograms: mapped(histograms, ofHistogram),
    subjects,
    startedAt,
    faults: faults.map(({ signal, what }) => `${signal} ${what}`),
    malformed,
  }
}

function mapped<T, U>(record: Partial<Record<string, T>>, by: (value: T) => U): Record<string, U> {
  const entries = Object.entries(record).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, by(value)] as const],
  )
  return Object.fromEntries(entries)
}
