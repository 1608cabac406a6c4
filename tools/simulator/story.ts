import type { EndpointResult } from '../../src/model/result.ts'
import type { Network } from '../../src/run.ts'
import type { Clock } from './clock.ts'

/** A simulated server on loopback. */
export interface SimulatedServer {
  url: string
  close(): Promise<void>
}

/** What `npm run demo` plays: a server whose load changes, and what the table shows of it. */
export interface Story {
  backend: 'vllm' | 'ollama' | 'openai'
  /** Printed first. */
  introduction: readonly string[]
  open(clock: Clock): Promise<SimulatedServer>
  /** Minutes that were watched before the story begins, untold: a verdict needs an hour of the endpoint's own past. */
  past?: number
  /** Simulated minutes; it ends earlier when the end of the trouble was told. */
  minutes: number
  /** Changes the load at this minute. @returns what changed, in words. */
  turn(minute: number): string | undefined
  /** What reaches the server just before the run of this minute looks. */
  arrive?(minute: number): void
  /** Asks the endpoints on the story's own clock, where the real stopwatch would see nothing of it. */
  observe?: Network['observe']
  /** The variables of the run, beside the push server. */
  environment(url: string): Record<string, string>
  /** What the story has to show beside one push and its end. @returns what was not seen in these results, in words. */
  lacks?(results: readonly EndpointResult[]): string | undefined
  columns: readonly { title: string; width: number; cell(result: EndpointResult): string }[]
}

/** A bar of blocks: 30 requests at 5 a block → `██████`, begun blocks count from their tenth on; cut at 24 blocks. */
export function bar(value: number | undefined, perBlock: number): string {
  if (value === undefined) return ''
  const blocks = Math.ceil(value / perBlock - 0.1)
  return blocks > 24 ? `${'█'.repeat(24)}…` : '█'.repeat(blocks)
}
