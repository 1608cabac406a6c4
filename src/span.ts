import type { Span, SpanAttributes } from './model/span.ts'
import type { Store } from './model/store.ts'

/** Does something as a step of a trace; without a trace, does it. What is thrown is the span's failure, and thrown on. */
export async function inSpan<T>(
  parent: Span | undefined,
  name: string,
  attributes: SpanAttributes,
  act: (span: Span | undefined) => Promise<T> | T,
): Promise<T> {
  const span = parent?.child(name, attributes)
  try {
    return await act(span)
  } catch (error) {
    span?.fail(error instanceof Error ? error.name : 'Error')
    throw error
  } finally {
    span?.end()
  }
}

/** The same store, with each conditional write as a step. */
export function withSaveSpans(store: Store, trace: Span | undefined): Store {
  if (!trace) return store
  return {
    ...store,
    save: (key, text, version) =>
      inSpan(trace, 'save', { 'queuebell.bytes': Buffer.byteLength(text) }, async (span) => {
        const saved = await store.save(key, text, version)
        if (saved === 'conflict') span?.fail('conflict')
        return saved
      }),
  }
}
