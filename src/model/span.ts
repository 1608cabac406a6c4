/** Facts of a span; names as OpenTelemetry's conventions have them where there is one. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>

/** One step of a run as a trace shows it. There is none unless a collector is configured. */
export interface Span {
  child(name: string, attributes?: SpanAttributes): Span
  set(attributes: SpanAttributes): void
  /** The step went wrong: of a scrape its failure's kind. */
  fail(kind: string): void
  end(): void
  /** For a request whose server traces too: its spans hang under this one. https://www.w3.org/TR/trace-context/ */
  traceparent: string
}
