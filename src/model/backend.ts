import type { Signal } from './signals.ts'

/** Servers whose readings come from a Prometheus text page: the list of their tables adds itself (`src/backends/backends.ts`). */
// biome-ignore lint/suspicious/noEmptyInterface: it is merged with the list, so that a server's name stands there alone.
export interface ScrapedBackends {}
export type ScrapedBackend = keyof ScrapedBackends & string

/** Functions that have no table: canaries, and the check of the workers. */
export const WITHOUT_TABLE = ['ollama', 'openai', 'heartbeat-check'] as const
export type Backend = ScrapedBackend | (typeof WITHOUT_TABLE)[number]

/** The beginning of a backend's variables: `VLLM_…`, `RAY_SERVE_…`; `heartbeat-check` has `HEARTBEAT_…`. */
export function prefixOf(backend: Backend): string {
  return backend === 'heartbeat-check' ? 'HEARTBEAT' : backend.toUpperCase().replaceAll('-', '_')
}

/** One way a server names a series. */
export interface Alias {
  /** The sample's own name; for a histogram, its name without `_bucket`, `_sum` and `_count`. */
  name: string
  /**
   * Keep only samples whose label has one of these values: `{ finished_reason: ['error'] }`; `5*` is all that begins with 5,
   * and an empty value is a label that is not there.
   */
  labels?: Readonly<Record<string, readonly string[]>>
  /** Keep only samples that have one of these, each as `labels` has it; `*Timeout` is all that ends so. */
  oneOf?: readonly Readonly<Record<string, readonly string[]>>[]
  /** Drop samples whose label has one of these values. */
  not?: Readonly<Record<string, readonly string[]>>
  /** Of failed requests: the server counts them among the finished ones too. */
  among?: boolean
  /** More series whose values are parts of the same quantity and are added where present; the labels asked for hold for them too. */
  plus?: readonly string[]
  /**
   * So many of the published value are one of the signal's unit: 100 for percent, 1000 for milliseconds; of a histogram the
   * bounds and the sum. Divided, since 57 × 0.01 is not 0.57.
   */
  per?: number
  /** The series that this one contains: the value of a gauge is this - that, of each label set, and 0 where they were read apart. */
  less?: string
  /** The series that this one is a part of: the value of a gauge is this / that. A label set without it is passed over. */
  of?: string
  /** In place of a histogram: this series is the sum, and that the count, of what was observed. It has a mean and no quantiles. */
  count?: string
  /** What published values mean in the signal's unit: `{ '2': 0, '*': 1 }`; `*` is any other. A value that is not there cannot be. */
  states?: Readonly<Record<string, number>>
  /** Where this series feeds the signal, rules take these limits for their own defaults: it counts more than others do. */
  limits?: Readonly<Record<string, { limit: number; clear: number }>>
  /** The series, in MiB as this one, that makes the whole together with it; the value is this / (this + rest). Unknown without it. */
  rest?: string
  /** Values by which the server says that it does not measure this: unknown, and no fault. */
  off?: readonly number[]
}

/** The oldest version known to have it, and the first without it; a side that is not known, or has no end, is absent. */
export interface Life {
  since?: string
  until?: string
}

/** What a setting is for. */
export type FlagUse = 'offload' | 'queue-cap' | 'draft'

/** How some versions spell a setting. */
export interface Flag extends Life {
  name: string
}

export interface SignalRow {
  /** Newest first: the first one present on the page wins, they are never added together. */
  from: readonly Alias[]
  /** How a gauge's series become one value; requests add up (default), shares take the maximum, health the minimum. */
  combine?: 'sum' | 'max' | 'min'
  /** The backend cannot be judged without it: missing in a good scrape makes the endpoint blind. */
  core?: boolean
  /** Not every version or set-up of this server has it: its absence is no fault. */
  optional?: true
  /**
   * Values belong to a subject each (GPU, upstream) and are not combined over the endpoint. Of several series of an upstream
   * the worst counts, with `max` the best.
   */
  perSubject?: boolean
  /** A counter that appears with its first event: where it is absent and this signal is there, nothing happened yet. */
  zeroBeside?: Signal
}

/** All that the code knows about a server. */
export interface BackendTable {
  signals: Partial<Record<Signal, SignalRow>>
  /** Labels that name a model, the first one present counts. */
  modelLabels: readonly string[]
  /** Labels over which ranks repeat the same number: the maximum is taken, never the sum. */
  repeats: readonly string[]
  /** The label that names an engine or rank of its own. */
  engineLabel?: string
  /** Labels that never make a series of its own (pods on a GPU, free text beside a code). */
  ignored: readonly string[]
  /** The label that names a priority class, a number of the owner's. */
  classLabel?: string
  /** A label whose empty value marks the total of its other values. */
  totalLabel?: string
  /** The labels that name a subject; an upstream may need several to be named. */
  subject?:
    | { kind: 'gpu'; id: string; number: string; instance: string; name: readonly string[] }
    | { kind: 'upstream'; id: string | readonly string[] }
  /** Tokens of a prompt that are read in one step, in which nothing that is counted moves. */
  readsAtOnce?: number
  /** Significant digits to which values are printed, where they are few: what counts past them stands still on the page. */
  digits?: number
  /**
   * The only labels that are read, `gen_ai_*` all that begin so. Others may name persons, keys or teams, in words of the
   * owner's choosing: they are dropped before anything sees them, and samples that then share a label set add up.
   */
  keeps?: readonly string[]
  /** It stands before engines: what helps is said of them, and it counts a request when it ends, so silence is no standstill. */
  isGateway?: boolean
  /** Where its metrics lie, appended to an address without a path; `metrics` unless said. */
  path?: string
  /** Where it listens unless told otherwise, for examples in problems; 8000 unless said. */
  port?: number
  /** A series with value 1 whose labels are the server's settings. */
  settings?: readonly string[]
  /** Any core series is enough: which ones there are is the owner's choice, and each feeds rules of its own. */
  oneCoreIsEnough?: boolean
  /** Paths beside that of the metrics whose JSON has `version`, newest first. */
  versionAt?: readonly string[]
  /** How the server is called where its version is named. */
  called?: string
  /** Settings that versions spell differently, or that not all of them have; newest first. */
  flags?: Readonly<Partial<Record<FlagUse, readonly Flag[]>>>
  /** Series that not every version has, by their names without the prefix. */
  lives?: Readonly<Record<string, Life>>
  /** Publishes nothing before its first request, so an empty body is healthy. */
  emptyIsHealthy?: boolean
  /** What all of its names begin with: where nothing has to be there, this alone tells its page from another server's. */
  ownNames?: string
  /** How `doctor` recognises the server: a series name and what it says; `instead`: it is none to watch here, and what is. */
  recognise: readonly { series: string; as: string; instead?: string }[]
}
