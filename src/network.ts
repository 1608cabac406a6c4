import type { Config } from './model/config.ts'
import type { IO } from './model/io.ts'
import type { Observation } from './model/observation.ts'
import { type ObserveOptions, observe } from './observe.ts'
import { ping } from './push/ping.ts'
import { push } from './push/push.ts'
import type { load } from './targets/load.ts'

/** What a run does over the network beside its store: ask where endpoints are and how they are, push, ping. */
export interface Network {
  observe(config: Config, io: IO, options: ObserveOptions): Promise<Observation[]>
  push: typeof push
  ping: typeof ping
  /** The real one unless another is given. */
  load?: typeof load
}

export const NETWORK: Network = { observe, push, ping }
