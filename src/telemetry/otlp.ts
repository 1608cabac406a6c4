import { type Context, context, type Span as OtelSpan, SpanStatusCode, trace } from '@opentelemetry/api'
import { OTLPMetricExporter as JsonMetrics } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPMetricExporter as ProtoMetrics } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter as JsonTraces } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtoTraces } from '@opentelemetry/exporter-trace-otlp-proto'
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import type { RunResult } from '../model/result.ts'
import type { Span, SpanAttributes } from '../model/span.ts'
import { recordResult } from './metrics.ts'
import type { RunTelemetry, StartRun } from './run-telemetry.ts'
import { type Exporter, type TelemetrySettings, telemetrySettings } from './settings.ts'

/** Spans of one run at most: a run may have some thousand endpoints. */
const MOST_SPANS = 20_000
/** Nothing is sent before the run is over. */
const NEVER = 2 ** 30
/** Below what a run waits for, so that a failure is known before it goes on. Milliseconds. */
const TIMEOUT = 800

export const startRun: StartRun = (env, name, warn) => {
  const settings = telemetrySettings(env)
  for (const warning of settings?.warnings ?? []) warn(warning)
  return settings && (settings.traces || settings.metrics) ? startWith(settings, name) : undefined
}

/** Providers of its own for each run: a function may be frozen right after it, and a gauge says nothing of the next run. */
function startWith(settings: TelemetrySettings, name: string): RunTelemetry {
  const resource = resourceFromAttributes(settings.attributes)
  const failures = new Set<string>()
  const traces = settings.traces && openTraces(settings.traces, resource, failures)
  const metrics = settings.metrics && openMetrics(settings.metrics, resource, failures)
  const root = traces ? spanOf(traces.start('run', { 'queuebell.function': name }), traces.tracer) : NO_SPAN
  return {
    root,
    record: (result: RunResult) => metrics && recordResult(result, metrics.meter),
    async flush(ms) {
      const sending = Promise.allSettled([traces?.flush(), metrics?.flush()])
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<'late'>((resolve) => {
        timer = setTimeout(() => resolve('late'), ms)
      })
      const ended = await Promise.race([sending, late])
      clearTimeout(timer)
      for (const one of ended === 'late' ? [] : ended)
        if (one.status === 'rejected')
          failures.add(one.reason instanceof Error ? one.reason.message : String(one.reason))
      if (ended === 'late') failures.add(`no answer within ${ms} ms`)
      return failures.size > 0 ? [...failures].join('; ') : undefined
    },
  }
}

function openTraces(exporter: Exporter, resource: Resource, failures: Set<string>) {
  const { url, headers } = exporter
  const Traces = exporter.protocol === 'http/json' ? JsonTraces : ProtoTraces
  const sender = noting(new Traces({ url, headers, timeoutMillis: TIMEOUT }), failures)
  const processor = new BatchSpanProcessor(sender, {
    maxQueueSize: MOST_SPANS,
    maxExportBatchSize: MOST_SPANS,
    scheduledDelayMillis: NEVER,
    exportTimeoutMillis: TIMEOUT,
  })
  const provider = new BasicTracerProvider({ resource, spanProcessors: [processor] })
  const tracer = provider.getTracer('queuebell')
  return {
    tracer,
    start: (name: string, attributes: SpanAttributes) => tracer.startSpan(name, { attributes: plain(attributes) }),
    flush: () => provider.shutdown(),
  }
}

function openMetrics(exporter: Exporter, resource: Resource, failures: Set<string>) {
  const { url, headers } = exporter
  const Metrics = exporter.protocol === 'http/json' ? JsonMetrics : ProtoMetrics
  const sender = noting(new Metrics({ url, headers, timeoutMillis: TIMEOUT }), failures)
  const reader = new PeriodicExportingMetricReader({
    exporter: sender,
    exportIntervalMillis: NEVER,
    exportTimeoutMillis: TIMEOUT,
  })
  const provider = new MeterProvider({ resource, readers: [reader] })
  return { meter: provider.getMeter('queuebell'), flush: () => provider.shutdown() }
}

interface Sender {
  export(items: never, done: (result: { code: number; error?: Error }) => void): void
}

/** The packages tell of a failed export in a log of their own alone: here the run hears of it. */
function noting<S extends Sender>(sender: S, failures: Set<string>): S {
  const send = sender.export.bind(sender)
  sender.export = (items, done) =>
    send(items, (result) => {
      if (result.code !== 0) failures.add(reasonOf(result.error))
      // Known and told: not once more by way of a rejection.
      done({ code: 0 })
    })
  return sender
}

function reasonOf(error: Error | undefined): string {
  const cause = error?.cause instanceof Error ? error.cause : error
  const { code } = (cause ?? {}) as { code?: string | number }
  return [code, cause?.message].filter((part) => part !== undefined && part !== '').join(' ') || 'it failed'
}

function spanOf(span: OtelSpan, tracer: ReturnType<BasicTracerProvider['getTracer']>): Span {
  const within: Context = trace.setSpan(context.active(), span)
  const { traceId, spanId } = span.spanContext()
  return {
    child: (name, attributes = {}) => spanOf(tracer.startSpan(name, { attributes: plain(attributes) }, within), tracer),
    set: (attributes) => void span.setAttributes(plain(attributes)),
    fail(kind) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: kind })
      span.setAttribute('error.type', kind)
    },
    end: () => span.end(),
    traceparent: `00-${traceId}-${spanId}-01`,
  }
}

/** Metrics are asked for and traces are not. */
const NO_SPAN: Span = { child: () => NO_SPAN, set() {}, fail() {}, end() {}, traceparent: '' }

function plain(attributes: SpanAttributes): Record<string, string | number | boolean> {
  return Object.fromEntries(
    Object.entries(attributes).filter((pair): pair is [string, string | number | boolean] => pair[1] !== undefined),
  )
}
