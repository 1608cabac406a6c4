import { createHistogram, type Histogram } from './histogram.ts'

/** Upper bounds that vLLM V1 publishes, seconds. */
const TTFT = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560,
]
const PER_TOKEN = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80]
const REQUEST = [0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680]
const ITERATION = [1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384]
const TRANSFER = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 5]
const LENGTH = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000]

export type FinishedReason = 'stop' | 'length' | 'abort' | 'error' | 'repetition'

/** All that a simulated vLLM server counts since its start. */
export interface Totals {
  promptTokens: number
  generationTokens: number
  prefixQueries: number
  prefixHits: number
  preemptions: number
  draftTokens: number
  draftAccepted: number
  failedTransfers: number
  transferTime: Histogram
  finished: Record<FinishedReason, number>
  ttft: Histogram
  itl: Histogram
  timePerToken: Histogram
  e2e: Histogram
  queue: Histogram
  inference: Histogram
  prefill: Histogram
  decode: Histogram
  iterationTokens: Histogram
  requestPrompt: Histogram
  requestGeneration: Histogram
}

export function createTotals(): Totals {
  return {
    promptTokens: 0,
    generationTokens: 0,
    prefixQueries: 0,
    prefixHits: 0,
    preemptions: 0,
    draftTokens: 0,
    draftAccepted: 0,
    failedTransfers: 0,
    transferTime: createHistogram(TRANSFER),
    finished: { stop: 0, length: 0, abort: 0, error: 0, repetition: 0 },
    ttft: createHistogram(TTFT),
    itl: createHistogram(PER_TOKEN),
    timePerToken: createHistogram(PER_TOKEN),
    e2e: createHistogram(REQUEST),
    queue: createHistogram(REQUEST),
    inference: createHistogram(REQUEST),
    prefill: createHistogram(REQUEST),
    decode: createHistogram(REQUEST),
    iterationTokens: createHistogram(ITERATION),
    requestPrompt: createHistogram(LENGTH),
    requestGeneration: createHistogram(LENGTH),
  }
}
