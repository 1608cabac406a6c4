import { type ChannelConfig, type Config, functionName } from '../model/config.ts'
import type { Message } from '../model/message.ts'
import type { Notification } from '../model/notification.ts'
import type { State } from '../state/schema.ts'
import { threadOf } from '../state/threads.ts'
import type { Push } from './channel.ts'
import { bare, SHORT_BYTES, writeOrSay } from './write.ts'

/** What a push is made from beside its facts. */
export interface Telling {
  /** As it was saved with the claims. */
  state: State
  config: Config
  /** Epoch milliseconds. */
  now: number
  /** Milliseconds between runs. */
  interval: number
}

/** Facts as a push to one channel. @param problem is told of a message that cannot be written. */
export function pushOf(
  facts: readonly Notification[],
  channel: ChannelConfig,
  telling: Telling,
  problem: (text: string) => void = () => {},
): Push {
  const { config, now } = telling
  return written(facts, channel, telling, (some) => writeOrSay(some, config, channel, now, problem))
}

/** The same push in fewer words, or as its facts alone: for a service that refuses the whole. */
export function lessOf(facts: readonly Notification[], channel: ChannelConfig, telling: Telling) {
  const { config, now } = telling
  return (form: 'shorter' | 'bare'): Push => {
    if (form === 'shorter')
      return written(facts, channel, telling, (some) => writeOrSay(some, config, channel, now, () => {}, SHORT_BYTES))
    const { priority } = pushOf(facts, channel, telling).message
    return written(facts, channel, telling, (some) => bare(some, priority))
  }
}

function written(
  facts: readonly Notification[],
  channel: ChannelConfig,
  { state, config, interval, now }: Telling,
  write: (some: readonly Notification[]) => Message,
): Push {
  return {
    message: write(facts),
    facts: newestOf(facts),
    tell: (fact) => write([fact]),
    threadOf: (incident) => threadOf(state.threads, incident, channel.name),
    functionName: functionName(config),
    interval,
    now,
  }
}

/** One fact an incident: the newest. */
export function newestOf(facts: readonly Notification[]): Notification[] {
  const newest = new Map<string, Notification>()
  for (const fact of facts) {
    const known = newest.get(fact.incident)
    if (!known || known.at <= fact.at) newest.set(fact.incident, fact)
  }
  return [...newest.values()]
}
