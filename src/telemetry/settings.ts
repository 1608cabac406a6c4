type Variables = Readonly<Record<string, string | undefined>>

export type Protocol = 'http/protobuf' | 'http/json'

export interface Exporter {
  url: string
  headers: Record<string, string>
  protocol: Protocol
}

/** What is sent where; variables and their meaning are OpenTelemetry's own. */
export interface TelemetrySettings {
  traces?: Exporter
  metrics?: Exporter
  /** Of the resource: `service.name` and what else is said. */
  attributes: Record<string, string>
  warnings: string[]
}

/**
 * Reads OpenTelemetry's variables: https://opentelemetry.io/docs/specs/otel/protocol/exporter/
 * @returns `undefined` where no collector is named, or all is switched off; warnings alone where its address is none.
 */
export function telemetrySettings(env: Variables): TelemetrySettings | undefined {
  if (env.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true') return undefined
  const warnings: string[] = []
  const traces = env.OTEL_TRACES_EXPORTER?.trim() === 'none' ? undefined : exporterOf('TRACES', env, warnings)
  const metrics = env.OTEL_METRICS_EXPORTER?.trim() === 'otlp' ? exporterOf('METRICS', env, warnings) : undefined
  if (!traces && !metrics && warnings.length === 0) return undefined
  const attributes = {
    'service.name': env.OTEL_SERVICE_NAME?.trim() || 'queuebell',
    ...pairs(env.OTEL_RESOURCE_ATTRIBUTES),
    ...(env.OTEL_SERVICE_NAME?.trim() && { 'service.name': env.OTEL_SERVICE_NAME.trim() }),
    ...(env.AWS_LAMBDA_FUNCTION_NAME && { 'faas.name': env.AWS_LAMBDA_FUNCTION_NAME }),
  }
  return { ...(traces && { traces }), ...(metrics && { metrics }), attributes, warnings: [...new Set(warnings)] }
}

function exporterOf(signal: 'TRACES' | 'METRICS', env: Variables, warnings: string[]): Exporter | undefined {
  const of = (setting: string) =>
    env[`OTEL_EXPORTER_OTLP_${signal}_${setting}`]?.trim() || env[`OTEL_EXPORTER_OTLP_${setting}`]?.trim() || undefined
  const own = env[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`]?.trim()
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT?.trim()
  // A signal's own address is taken as it is; to the common one the signal's path is added.
  const url = own || (base && `${base.replace(/\/+$/, '')}/v1/${signal.toLowerCase()}`)
  if (!url) return undefined
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    warnings.push(
      'OTEL_EXPORTER_OTLP_ENDPOINT is no http or https address, such as http://127.0.0.1:4318: nothing is sent',
    )
    return undefined
  }
  const protocol = of('PROTOCOL') ?? 'http/protobuf'
  if (protocol !== 'http/protobuf' && protocol !== 'http/json')
    warnings.push(
      `OTEL_EXPORTER_OTLP_PROTOCOL=${protocol.slice(0, 20)} is not spoken here: http/protobuf is used, to the collector's HTTP port (4318)`,
    )
  return { url, headers: pairs(of('HEADERS')), protocol: protocol === 'http/json' ? protocol : 'http/protobuf' }
}

/** `a=1,b=2`, percent-encoded as the W3C's baggage. */
function pairs(text: string | undefined): Record<string, string> {
  const found = (text ?? '').split(',').flatMap((pair): [string, string][] => {
    const at = pair.indexOf('=')
    return at < 1 ? [] : [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())]]
  })
  return Object.fromEntries(found)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
