/** Sends the events of each turn as OpenTelemetry spans if OpenTelemetry's standard variables are set. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { AgentEvent } from '@mulligan/agent'
import type { Env } from '../common/env.ts'
import type { Sender } from './sender.ts'
import { createSpanMapper, type SpanStep } from './spans.ts'

export interface Telemetry {
  readonly event: (event: AgentEvent) => void
  /** Sends the remaining spans. Resolves within two seconds, whatever the collector does, and never rejects. */
  readonly close: () => Promise<void>
}

export interface TelemetryOptions {
  readonly version: string
  /** Called with one line for the user if traces were requested but are not sent. */
  readonly tell: (line: string) => void
}

const FLUSH_MS = 2000

/** Starts sending traces. @returns undefined if none are requested: then nothing is loaded or sent */
export function openTelemetry(env: Env, { version, tell }: TelemetryOptions): Telemetry | undefined {
  const exporting = exportingOf(env)
  if (exporting.on && !isOfProcess(env)) {
    tell('No trace is sent: the OTEL_… variables of this workspace differ from those of the process, which OpenTelemetry reads.')
    return undefined
  }
  if (!exporting.on) {
    if (exporting.notice !== undefined) tell(exporting.notice)
    return undefined
  }
  const stepsOf = createSpanMapper(exporting)
  let waiting: SpanStep[] = []
  let sender: Promise<Sender | undefined> | undefined

  const load = (): Promise<Sender | undefined> =>
    import('./sender.ts')
      .then(({ openSender }) => openSender(version))
      .catch((error: unknown) => {
        tell(`No trace is sent: OpenTelemetry could not be loaded (${messageOf(error)}).`)
        return undefined
      })

  /** Passes on the waiting steps. Each step has its own time, so the delay does not matter. */
  function handOn(): Promise<Sender | undefined> {
    const steps = waiting
    waiting = []
    sender ??= load()
    return sender.then((opened) => {
      for (const step of steps) opened?.take(step)
      return opened
    })
  }

  return {
    event: (event) => {
      waiting.push(...stepsOf(event))
      if (!BEFORE_REQUEST.has(event.type) && waiting.length > 0) void handOn()
    },
    close: async () => {
      if (waiting.length === 0 && sender === undefined) return
      const sent = handOn()
        .then((opened) => opened?.flush())
        .then(
          () => undefined,
          (error: unknown) => messageOf(error),
        )
      const late = new AbortController()
      const inTime = sleep(FLUSH_MS, `no answer within ${FLUSH_MS / 1000} seconds`, late).catch(() => undefined)
      const failure = await Promise.race([sent, inTime])
      late.abort()
      if (failure !== undefined) tell(`Traces did not reach ${exporting.host}: ${failure}`)
    },
  }
}

/**
 * Whether the variables are those of the process. OpenTelemetry's SDK reads the address, headers and certificates from there, so with other
 * variables the traces would go elsewhere.
 */
const isOfProcess = (env: Env): boolean =>
  Object.entries(env).every(([name, value]) => !name.startsWith('OTEL_') || process.env[name] === value) &&
  Object.keys(process.env).every((name) => !name.startsWith('OTEL_') || name in env)

/** Nothing is loaded before the first request has been sent, because that would delay it. */
const BEFORE_REQUEST: ReadonlySet<AgentEvent['type']> = new Set(['session.created', 'turn.started', 'message.created'])

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).split('\n')[0] as string

/** Whether and where spans are sent, according to OpenTelemetry's own variables. */
type Exporting =
  | { readonly on: false /** For the user: what was requested but is not done. */; readonly notice?: string }
  | { readonly on: true /** Host without credentials, for display. */; readonly host: string; readonly content: boolean }

const OFF: Exporting = { on: false }

export function exportingOf(env: Env): Exporting {
  if (isTrue(env['OTEL_SDK_DISABLED'])) return OFF
  const exporter = env['OTEL_TRACES_EXPORTER']?.trim().toLowerCase() || undefined
  const named = exporter === undefined ? [] : exporter.split(',').map((one) => one.trim())
  if (named.includes('none')) return OFF
  const own = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']?.trim() || undefined
  const endpoint = own ?? (env['OTEL_EXPORTER_OTLP_ENDPOINT']?.trim() || undefined)
  if (endpoint === undefined && exporter === undefined) return OFF
  if (exporter !== undefined && !named.includes('otlp'))
    return { on: false, notice: `No trace is sent: OTEL_TRACES_EXPORTER=${exporter} is not supported; use otlp or none.` }
  const protocol = env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] || env['OTEL_EXPORTER_OTLP_PROTOCOL']
  // Collectors that accept protobuf over HTTP accept JSON at the same address; gRPC uses another port.
  if (protocol === 'grpc')
    return { on: false, notice: 'No trace is sent: OTEL_EXPORTER_OTLP_PROTOCOL=grpc is not supported; use http/json.' }
  const url = URL.parse(endpoint ?? 'http://localhost:4318')
  // Reject a bad address here: the exporter would silently use localhost instead.
  if (url === null || !/^https?:$/.test(url.protocol)) {
    const variable = own === undefined ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'
    return { on: false, notice: `No trace is sent: ${variable} is not an http or https URL.` }
  }
  return { on: true, host: url.host, content: isTrue(env['OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT']) }
}

const isTrue = (value: string | undefined): boolean => value?.trim().toLowerCase() === 'true'
