/** Whether and where spans are sent, as set by OpenTelemetry's own variables. */
import type { Env } from '../common/env.ts'

export type Exporting =
  | { readonly on: false /** For the person: what was asked for and is not done. */; readonly notice?: string }
  | { readonly on: true /** Without credentials, for the person. */; readonly host: string; readonly content: boolean }

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
    return { on: false, notice: `No trace is sent: OTEL_TRACES_EXPORTER=${exporter} is not known here; there are otlp and none.` }
  const protocol = env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] || env['OTEL_EXPORTER_OTLP_PROTOCOL']
  // What takes protobuf over HTTP takes JSON under the same address; gRPC has another port.
  if (protocol === 'grpc')
    return { on: false, notice: 'No trace is sent: OTEL_EXPORTER_OTLP_PROTOCOL=grpc is not supported; http/json is.' }
  const url = URL.parse(endpoint ?? 'http://localhost:4318')
  // Read as it is by the exporter, which would otherwise take localhost in its place.
  if (url === null || !/^https?:$/.test(url.protocol)) {
    const variable = own === undefined ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'
    return { on: false, notice: `No trace is sent: ${variable} is not an address of http or https.` }
  }
  return { on: true, host: url.host, content: isTrue(env['OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT']) }
}

const isTrue = (value: string | undefined): boolean => value?.trim().toLowerCase() === 'true'
