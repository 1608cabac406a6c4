import type { Watching } from './watcher.ts'

/** What is told of one incident: `<reason> <rule>`, with `|` between rules of which one may be first. */
export type Expected = string

export interface Incident {
  /** The servers that it needs, by the names of their files. */
  needs: readonly string[]
  name: string
  /** Starts what it needs and says how it is watched. */
  prepare(): Promise<Prepared>
}

export interface Prepared {
  functions: readonly string[]
  env: Record<string, string>
  /** Both watchers on one state: each thing is told once, by either. */
  shared?: boolean
  every?: number
  /** @returns what really happened, by the server's own log or interface. */
  happen(watching: Watching): Promise<string>
  told: readonly Expected[]
  /** It may be over before the server itself has published it: then nothing is told. */
  maybeUnseen?: boolean
  /** Must stand in what was told; must not stand in it. */
  says?: RegExp
  never?: RegExp
  /** Anything else that must hold; says what is wrong. */
  check?(watching: Watching): Promise<string[]>
  end(): Promise<void>
}
