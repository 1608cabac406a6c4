/** Discards a body that nobody reads, to free its socket. Not awaited: on a body that was teed, it waits for the other half. */
export function discard(body: ReadableStream | null): void {
  void body?.cancel().catch(() => {})
}

/**
 * A body's chunks as they arrive; the rest is discarded when the reader stops early.
 * @throws what the stream throws, or the signal's reason once it has aborted.
 */
export async function* chunksOf(
  body: ReadableStream<Uint8Array> | null,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  if (body === null) return
  const reader = body.getReader()
  // Not awaited, for the same reason.
  const cancel = () => void reader.cancel().catch(() => {})
  // fetch rejects the read by itself, except where its decoder got stuck (plain text declared as gzip, one byte first).
  signal.addEventListener('abort', cancel)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      signal.throwIfAborted()
      if (done) return
      yield value
    }
  } finally {
    signal.removeEventListener('abort', cancel)
    cancel()
  }
}
