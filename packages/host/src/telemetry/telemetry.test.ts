import { describe, expect, it } from 'vitest'
import { exportingOf } from './open-telemetry.ts'
import { createSpanMapper } from './spans.ts'

describe('what is asked for', () => {
  it.each([
    [{ OTEL_TRACES_EXPORTER: 'otlp' }, { on: true, host: 'localhost:4318', content: false }],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://user:pass@host/x' }, { on: true, host: 'host', content: false }],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, { on: false }],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://h', OTEL_SDK_DISABLED: 'TRUE' }, { on: false }],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://h', OTEL_TRACES_EXPORTER: 'none' }, { on: false }],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, { on: false, notice: expect.stringContaining('is not an http or https URL') }],
    [{ OTEL_TRACES_EXPORTER: 'zipkin' }, { on: false, notice: expect.stringContaining('zipkin') }],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://h', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
      { on: false, notice: expect.stringContaining('grpc') },
    ],
  ])('%j', (env, expected) => {
    expect(exportingOf(env)).toEqual(expected)
  })
})

it('a late result is a note of the turn, and a long name is cut', () => {
  const stepsOf = createSpanMapper({ content: false })
  const place = { sessionId: 's', turnId: 't', at: 1 }
  const result = { ok: true, data: 'x' } as const
  const late = {
    type: 'tool.result',
    callId: 'c',
    step: 1,
    tool: 'x',
    effect: 'write',
    inputKey: '',
    result,
    attempts: 1,
    durationMs: 1,
  } as const
  expect(stepsOf({ ...place, ...late, late: true })).toEqual([
    expect.objectContaining({ do: 'note', key: 'turn t', name: 'mulligan.late_result' }),
  ])
  const [step] = stepsOf({
    ...place,
    type: 'tool.call',
    callId: 'c',
    step: 1,
    ordinal: 0,
    tool: 'x'.repeat(5000),
    input: {},
    effect: 'read',
  })
  expect(JSON.stringify(step).length).toBeLessThan(1000)
})
