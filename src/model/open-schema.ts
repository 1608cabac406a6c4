import * as z from 'zod/mini'

/**
 * Fields that are not known here stay: another version may have written them, and may read them again. The type has ours
 * alone. Unchecked fields are for the type only: they are left out of what is checked, which every run does.
 */
export function open<S extends z.core.$ZodLooseShape>(shape: S): z.ZodMiniObject<S, z.core.$strip> {
  const checked = Object.entries(shape).filter(([, field]) => field !== anything)
  return z.looseObject(Object.fromEntries(checked)) as unknown as z.ZodMiniObject<S, z.core.$strip>
}

/** One of our names. Another version may have more of them, so any text is read as one. */
export function name<T extends string>(): z.ZodMiniType<T> {
  return text as unknown as z.ZodMiniType<T>
}

/** A field that a message can be written without: whatever is there, the notification can be told. */
export function unchecked<T>(): z.ZodMiniExactOptional<z.ZodMiniType<T>> {
  return anything as unknown as z.ZodMiniExactOptional<z.ZodMiniType<T>>
}

export const number = z.number()
export const text = z.string()
export const texts = z.array(text)
// Made once and used for many fields: every function makes these when it starts.
export const maybeNumber = z.exactOptional(number)
export const maybeText = z.exactOptional(text)
export const maybeTexts = z.exactOptional(texts)
const anything = z.exactOptional(z.unknown())
