/** What can be turned while the engine runs. */
export interface Knobs {
  /** Requests a second; they arrive independently of each other (Poisson). */
  arrivals: number
  /** Means, in tokens; lengths spread log-normally around them. */
  promptTokens: number
  outputTokens: number
  /** Share of a prompt that is found in the prefix cache. */
  prefixShare: number
  /** KV cache, in tokens. */
  cacheTokens: number
  /** Every step takes this many times as long: 3 is a GPU slowed to a third. */
  slowdown: number
  /** No step is made; the page keeps its last values, as vLLM's does when its engine core hangs. */
  hung: boolean
  /** Share of requests that end with `error`. */
  errorShare: number
  /** It sleeps: what runs is finished, and nobody is let in. */
  asleep: boolean
  /** Tokens that a draft model proposes at each step of a request (0: there is none), and how likely each is accepted. */
  draftTokens: number
  acceptShare: number
  /** Mean seconds in which a prompt's KV blocks come from a prefill node (0: there is none), and the share of tries that fail. */
  transferSeconds: number
  transferFailShare: number
  /** Share of requests that first wait for a free adapter slot, and the mean seconds of that. */
  adapterShare: number
  adapterSeconds: number
}

/** What is fixed while the process lives. */
export interface Machine {
  seed: number
  model: string
  /** `--max-num-seqs`: requests computed at once. */
  maxNumSeqs: number
  /** `--max-num-batched-tokens`: tokens of one step; longer prompts are read in several. */
  maxBatchedTokens: number
  maxModelLength: number
  blockSize: number
  /** Seconds of one step, of each sequence in it, and of each prompt token in it. */
  stepSeconds: number
  sequenceSeconds: number
  promptTokenSeconds: number
}

/** A small model on one GPU: about 600 tokens a second at 16 sequences, about 3 requests a second. */
export const DEFAULT_MACHINE: Machine = {
  seed: 1,
  model: 'llama-3.1-8b',
  maxNumSeqs: 16,
  maxBatchedTokens: 2048,
  maxModelLength: 16_384,
  blockSize: 16,
  stepSeconds: 0.018,
  sequenceSeconds: 0.0004,
  promptTokenSeconds: 0.000_03,
}

export const DEFAULT_KNOBS: Knobs = {
  arrivals: 2,
  promptTokens: 400,
  outputTokens: 180,
  prefixShare: 0.3,
  cacheTokens: 24_000,
  slowdown: 1,
  hung: false,
  errorShare: 0,
  asleep: false,
  draftTokens: 0,
  acceptShare: 0.7,
  transferSeconds: 0,
  transferFailShare: 0,
  adapterShare: 0,
  adapterSeconds: 10,
}
