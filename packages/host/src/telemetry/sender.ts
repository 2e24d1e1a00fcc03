/** Creates spans from the steps and sends them in batches with OpenTelemetry's SDK. Loaded only if they are sent. */
import { type Context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import type { SpanStep } from './spans.ts'

export interface Sender {
  readonly take: (step: SpanStep) => void
  /** Sends the remaining spans. Rejects if that fails. */
  readonly flush: () => Promise<void>
}

/**
 * Creates a sender. Address, headers, certificates, compression, limits and the resource come from the process's own `OTEL_…` variables.
 */
export function openSender(version: string): Sender {
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'mulligan', 'service.version': version }))
    .merge(detectResources({ detectors: [envDetector] }))
  const provider = new TracerProvider({ resource, spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })] })
  const tracer = provider.getTracer('mulligan', version)
  const open = new Map<string, { readonly span: Span; readonly parent: string | undefined }>()

  function take(step: SpanStep): void {
    if (step.do === 'start') {
      const parent = step.parent === undefined ? undefined : open.get(step.parent)?.span
      const context: Context = parent ? trace.setSpan(ROOT_CONTEXT, parent) : ROOT_CONTEXT
      const kind = step.client ? SpanKind.CLIENT : SpanKind.INTERNAL
      const span = tracer.startSpan(step.name, { kind, startTime: step.at, attributes: { ...step.attributes } }, context)
      open.set(step.key, { span, parent: step.parent })
      return
    }
    const span = open.get(step.key)?.span
    if (!span) return
    if (step.do === 'note') {
      span.addEvent(step.name, { ...step.attributes }, step.at)
      return
    }
    for (const [key, inner] of open) if (inner.parent === step.key) cutOff(key, inner.span, step.at)
    open.delete(step.key)
    span.setAttributes({ ...step.attributes })
    if (step.failed) span.setStatus({ code: SpanStatusCode.ERROR })
    span.end(step.at)
  }

  /** Ends a span that has no end of its own because the turn was cut off. */
  function cutOff(key: string, span: Span, at: number): void {
    open.delete(key)
    span.setAttribute('error.type', 'unfinished')
    span.setStatus({ code: SpanStatusCode.ERROR })
    span.end(at)
  }

  async function flush(): Promise<void> {
    for (const [key, { span }] of [...open].reverse()) cutOff(key, span, Date.now())
    await provider.shutdown()
  }

  return { take, flush }
}
