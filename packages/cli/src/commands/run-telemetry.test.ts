/** Tests the command with a separate collector, and what reaches it. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { call, calls, say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { place, using } from '../../test/cli.fixture.ts'
import { collector } from './collector.fixture.ts'

const TRACE = fileURLToPath(new URL('../../test/trace-imports.fixture.ts', import.meta.url))

const SECRETS = ['the-prompt', 'the-answer', 'no-such-file', 'of-the-file']
const SCRIPT = [
  calls(['read_file', { path: 'no-such-file' }], ['read_file', { file_path: 'a.txt', limit: '5' }]),
  call('write_file', { path: 'b.txt', content: 'of-the-file' }),
  say('the-answer'),
]

async function turn(env: Readonly<Record<string, string>>) {
  using here = place({ 'a.txt': 'of-the-file\n' })
  await using model = await scriptedModel(SCRIPT)
  return await here.run(['the-prompt', ...using(model)], { env })
}

describe.concurrent('a turn with a collector', () => {
  it('is a trace: the turn, its requests and its calls, and nothing of what was said', async () => {
    await using to = await collector()
    const { code, stderr } = await turn({
      OTEL_EXPORTER_OTLP_ENDPOINT: to.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-team=blue',
      OTEL_SERVICE_NAME: 'my-agent',
    })
    expect(code).toBe(4)
    expect(stderr).not.toContain('Traces')
    expect(to.requests.map(({ path, headers }) => [path, headers['x-team'], headers['content-type']])).toEqual([
      ['/v1/traces', 'blue', 'application/json'],
    ])
    expect(to.resource()).toMatchObject({ 'service.name': 'my-agent' })
    const spans = to.spans()
    const root = spans.find(({ name }) => name === 'invoke_agent build')
    expect(root?.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': 'openai-compatible',
      'gen_ai.request.model': 'scripted',
      'mulligan.requests': 3,
    })
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1)
    const inner = spans.filter((span) => span !== root)
    expect(inner.every(({ parentSpanId }) => parentSpanId === root?.spanId)).toBe(true)
    const told = inner.map(({ name, kind, status, attributes: a }) => [name, kind, status.code, a['mulligan.status'], a['error.type']])
    expect(told.filter(([name]) => name === 'chat scripted')).toEqual(Array(3).fill(['chat scripted', 3, 0, undefined, undefined]))
    expect(told.filter(([name]) => name !== 'chat scripted').sort()).toEqual([
      ['execute_tool read_file', 1, 0, 'ok', undefined],
      ['execute_tool read_file', 1, 2, 'retry', 'not_found'],
      ['execute_tool write_file', 1, 2, 'denied', 'permission'],
    ])
    const chat = inner.find(({ name }) => name === 'chat scripted')
    expect(chat?.attributes).toMatchObject({ 'gen_ai.response.finish_reasons': ['tool-calls'] })
    expect(chat?.attributes['gen_ai.usage.input_tokens']).toBeGreaterThan(0)
    const notes = inner
      .flatMap(({ events }) => events)
      .map(({ name, attributes: a }) => [name, a['mulligan.repair.kind'] ?? a['mulligan.answer']])
    expect(notes).toContainEqual(['mulligan.repaired', 'type'])
    expect(notes).toContainEqual(['mulligan.approval.resolved', 'nobody'])
    for (const secret of SECRETS) expect(to.requests[0]?.body).not.toContain(secret)
  })

  it('has the contents where that is asked for', async () => {
    await using to = await collector()
    await turn({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${to.url}/in`, OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' })
    expect(to.requests[0]?.path).toBe('/in')
    for (const secret of SECRETS) expect(to.requests[0]?.body).toContain(secret)
  })

  it('is sent nowhere without the variables, and nothing of OpenTelemetry is loaded', async () => {
    await using to = await collector()
    const loaded = async (env: Readonly<Record<string, string>>): Promise<boolean> => {
      using here = place()
      await using model = await scriptedModel([say('the-answer')])
      const TRACE_FILE = join(here.dir, 'trace')
      await here.run(['the-prompt', ...using(model)], { env: { ...env, TRACE_FILE }, execArgv: ['--import', TRACE] })
      return here.read('trace').includes('@opentelemetry/')
    }
    expect(await loaded({ OTEL_SERVICE_NAME: 'x', OTEL_EXPORTER_OTLP_HEADERS: 'x-team=blue' })).toBe(false)
    expect(to.requests).toEqual([])
    expect(await loaded({ OTEL_EXPORTER_OTLP_ENDPOINT: to.url })).toBe(true)
    expect(to.requests).toHaveLength(1)
  })

  it.each([
    ['takes and never answers', true],
    ['does not exist', false],
  ])('a collector that %s changes nothing but a line on stderr', async (_, there) => {
    await using to = await collector({ hangs: true })
    const { code, stdout, stderr } = await turn({ OTEL_EXPORTER_OTLP_ENDPOINT: there ? to.url : 'http://127.0.0.1:9' })
    expect([code, stdout]).toEqual([4, expect.stringContaining('the-answer')])
    expect(stderr).toContain('Traces did not reach 127.0.0.1:')
  })
})
