import { defined } from '../model/defined.ts'
import type { Value } from './values.ts'

/** One variable: what it may be, what holds without it, what it means. Times in milliseconds. */
export interface Setting<T, D> {
  value: Value<T>
  fallback: D
  meaning: string
  /** The default in words, where it is not the same for all. */
  fallbackText?: string
}

export function setting<T, const D>(of: Value<T>, fallback: D, meaning: string, fallbackText?: string): Setting<T, D> {
  return { value: of, fallback, meaning, ...defined({ fallbackText }) }
}
