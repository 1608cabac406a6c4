/** The package has no types. Given one sample line without TYPE lines, it answers one untyped family with one sample. */
declare module 'parse-prometheus-text-format' {
  interface ParsedFamily {
    name: string
    help: string
    type: string
    metrics: readonly { value?: string; labels?: Record<string, string>; timestamp_ms?: string }[]
  }
  /** @throws where a line cannot be read; the whole text is lost then. */
  export default function parsePrometheusTextFormat(text: string): ParsedFamily[]
}
