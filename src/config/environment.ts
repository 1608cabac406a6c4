import { type Backend, prefixOf } from '../model/backend.ts'
import type { Setting } from './setting.ts'
import type { Value } from './values.ts'

/** The environment while it is read: what was found wrong, odd or secret gathers here. */
export interface Environment {
  /** Trimmed; an empty text counts as not set. */
  texts: Map<string, string>
  problems: Set<string>
  warnings: Set<string>
  secrets: Set<string>
}

/** One variable that is set, as it was understood; `undefined` when it was not. */
export interface Found<T> {
  name: string
  value: T | undefined
}

export function environmentOf(env: Readonly<Record<string, string | undefined>>): Environment {
  const texts = new Map<string, string>()
  for (const [name, text] of Object.entries(env)) {
    const trimmed = text?.trim()
    if (trimmed) texts.set(name, trimmed)
  }
  return { texts, problems: new Set(), warnings: new Set(), secrets: new Set() }
}

const QUOTED = /^(["'`])(.*)\1$|^[“”„«](.*)[“”»]$/s

/** A text without the quotation marks around it, which docker's `--env-file` and word processors leave there. */
export function unquoted(text: string): string {
  const [, , straight, curly] = QUOTED.exec(text) ?? []
  return (straight ?? curly ?? text).trim()
}

/** Reads the first of several variables that is set, most specific first. What it may not be becomes a problem. */
export function find<T>(env: Environment, names: readonly string[], value: Value<T>): Found<T> | undefined {
  for (const name of names) {
    const text = env.texts.get(name)
    if (text !== undefined) return { name, value: understand(env, name, text, value) }
  }
  return undefined
}

/** Reads a variable of the table; its default where it is not set, or not understood. */
export function read<T, D>(env: Environment, name: string, setting: Setting<T, D>): T | D {
  return find(env, [name], setting.value)?.value ?? setting.fallback
}

export function isSet(env: Environment, name: string): boolean {
  return env.texts.has(name)
}

/**
 * @returns the names under which a setting of one endpoint may stand, most specific first:
 * `VLLM_CHAT_A_MODEL`, `VLLM_CHAT_MODEL`, `VLLM_MODEL`.
 */
export function namesFor(backend: Backend, scopes: readonly string[], setting: string): string[] {
  return [...scopes.map((scope) => `${prefixOf(backend)}_${scope}_${setting}`), `${prefixOf(backend)}_${setting}`]
}

/** The part of a variable's name that stands for an endpoint or a group: `chat/a` → `CHAT_A`. */
export function variableOf(name: string): string {
  return name.toUpperCase().replace(/[/-]/g, '_')
}

/** Understands the text of one variable; what it may not be becomes a problem that names it and shows no secret. */
export function understand<T>(env: Environment, name: string, text: string, value: Value<T>): T | undefined {
  if (value.secret) env.secrets.add(text)
  const parsed = value.schema.safeParse(text)
  if (parsed.success) return parsed.data
  const shown = value.plain && text.length <= SHOWN ? ` is ${text}` : ''
  env.problems.add(`${name}${shown}: ${parsed.error.issues[0]?.message ?? `may be ${value.mayBe}`}`)
  return undefined
}

/** Longer texts are not repeated: they may be something else that slipped into the wrong variable. */
const SHOWN = 12
