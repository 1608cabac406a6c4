type Optional<T> = { [K in keyof T]: undefined extends T[K] ? K : never }[keyof T]

/** The same object without the fields that are `undefined`: an absent field and an unknown one are one thing in state and result. */
export function defined<T extends object>(
  value: T,
): Omit<T, Optional<T>> & { [K in Optional<T>]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as never
}
