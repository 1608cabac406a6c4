import type { Alias, BackendTable } from '../model/backend.ts'

const MICROSECONDS = 1e6
const MILLISECONDS = 1e3

const requests = (type: string): Alias => ({ name: 'nv_trt_llm_request_metrics', labels: { request_type: [type] } })

/** A lifetime sum in µs over the requests that succeeded: a mean, and no quantile. */
const mean = (name: string): Alias => ({ name, count: 'nv_inference_request_success', per: MICROSECONDS })

/**
 * NVIDIA Triton, with the gauges of its TensorRT-LLM backend where that is there. A request to an ensemble is counted for
 * each of its models, so that `TRITON_MODEL` should name one.
 */
export const triton: BackendTable = {
  signals: {
    waiting: { from: [requests('waiting'), { name: 'nv_inference_pending_request_count' }], optional: true },
    running: { from: [requests('scheduled')], optional: true },
    kv_cache: {
      from: [{ name: 'nv_trt_llm_kv_cache_block_metrics', labels: { kv_cache_block_type: ['fraction'] } }],
      combine: 'max',
      optional: true,
    },
    queue_wait: { from: [mean('nv_inference_queue_duration_us')], optional: true },
    ttft: { from: [{ name: 'nv_inference_first_response_histogram_ms', per: MILLISECONDS }], optional: true }, // the first response
    e2e: { from: [mean('nv_inference_request_duration_us')], optional: true },
    finished: { from: [{ name: 'nv_inference_request_success' }], core: true },
    failed: { from: [{ name: 'nv_inference_request_failure', not: { reason: ['CANCELED'] } }], zeroBeside: 'finished' },
    steps: {
      from: [
        { name: 'nv_trt_llm_general_metrics', labels: { general_type: ['iteration_counter'] } },
        { name: 'nv_inference_exec_count' },
      ],
      optional: true,
    },
  },
  port: 8002,
  modelLabels: ['model'],
  repeats: [],
  ignored: [],
  recognise: [
    { series: 'nv_trt_llm_request_metrics', as: 'Triton with TensorRT-LLM' },
    { series: 'nv_inference_pending_request_count', as: 'Triton' },
    { series: 'nv_inference_request_success', as: 'Triton' },
    { series: 'nv_inference_count', as: 'Triton' },
  ],
}
