/** Measures the overhead of the executor: one call, prepare and execute, with a tool that does nothing. */
import { defineTool, ModelRetry, type Tool } from '@mulligan/core'
import { createExecutor, type ParsedCall } from '@mulligan/core/executor'
import { z } from 'zod'
import { type Go, inMicroseconds, inTurns } from './measure.ts'
import { median } from './stats.ts'
import type { Row, Table } from './table.ts'

const AIM = 20
const CALLS = 20

const about = { name: 'look', description: 'Does nothing.', effect: 'read' } as const
const withZod = defineTool({
  ...about,
  input: z.object({ path: z.string(), limit: z.int().min(1).max(100).optional(), mode: z.enum(['fast', 'full']).optional() }),
  execute: ({ path }) => path,
})
const withJsonSchema = defineTool({
  ...about,
  input: {
    type: 'object',
    properties: {
      path: { type: 'string' },
      limit: { type: 'integer', minimum: 1, maximum: 100 },
      mode: { type: 'string', enum: ['fast', 'full'] },
    },
    required: ['path'],
    additionalProperties: false,
  },
  execute: (input) => (input as { path: string }).path,
})
const saysRetry = defineTool({
  ...about,
  input: z.object({ path: z.string() }),
  execute: ({ path }) => {
    if (path.startsWith('no')) throw new ModelRetry('No such file.', { parameter: 'path', value: path, suggestion: 'src/main.ts' })
    return path
  },
})

let nextTurn = 0

/** A turn of {@link CALLS} calls with a new executor, whose creation counts as part of the first call. Wrong calls alternate with correct ones, because the tool would be closed otherwise. */
function turnOf(tool: Tool, input: (path: string) => object, expected: 'ok' | 'retry'): Go {
  const tools = [tool]
  return async () => {
    const turn = nextTurn++
    const samples: number[] = []
    let start = performance.now()
    const executor = createExecutor({ tools })
    async function one(step: number, sent: object, comesTo: string): Promise<void> {
      const call: ParsedCall = { id: `t${turn}/${step}/0`, step, ordinal: 0, name: tool.name, input: JSON.stringify(sent) }
      const prepared = await executor.prepare(call)
      if (prepared.kind === 'approval') throw new Error('the call requires approval')
      const { result } = prepared.kind === 'ready' ? await executor.execute(prepared.call) : prepared.record
      const status = result.ok ? 'ok' : result.status
      if (status !== comesTo) throw new Error(`the call returned ${status} instead of ${comesTo}`)
    }
    for (let step = 1; step <= CALLS; step++) {
      await one(step, input(`src/${turn}/${step}.ts`), expected)
      samples.push(performance.now() - start)
      if (expected === 'retry') await one(step, { path: `src/right/${turn}/${step}.ts` }, 'ok')
      start = performance.now()
    }
    return samples
  }
}

export async function bench(): Promise<Table> {
  const samples = await inTurns(
    {
      'zod input': turnOf(withZod, (path) => ({ path, limit: 5, mode: 'fast' }), 'ok'),
      'JSON Schema input': turnOf(withJsonSchema, (path) => ({ path, limit: 5, mode: 'fast' }), 'ok'),
      'zod input, two values to coerce': turnOf(withZod, (path) => ({ path, limit: '5', mode: 'FAST' }), 'ok'),
      'wrong input: `retry` with the call to make instead': turnOf(withZod, (path) => ({ path, limit: 500 }), 'retry'),
      'the tool throws `ModelRetry` with a suggestion': turnOf(saysRetry, (path) => ({ path: `no/${path}` }), 'retry'),
    },
    { warmUp: 300, rounds: 500 },
  )
  const rows = Object.entries(samples).map(([subject, ms]): Row => {
    const values = inMicroseconds(ms)
    return { subject, values, aim: { says: `median ≤ ${AIM} µs`, met: median(ms) * 1000 <= AIM } }
  })
  const note = `A new executor every ${CALLS} calls, as in a turn. Most of the cost of a thrown \`ModelRetry\` is capturing the stack.`
  return { title: 'executor: one call of a tool that does nothing', note, rows }
}
