/** Observing changes nothing, and reports what the engine would have done. */
import { call, type Script, say } from '@mulligan/testing'
import { isStepCount, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { glm, MODES } from './agent.fixture.ts'
import { run, searchTool } from './mulligan.fixture.ts'

const done = say('Done.')
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replace(/call_\w+|[0-9a-f-]{36}/g, 'id'))
const stopWhen = isStepCount(6)

describe.each(MODES)('%s', (mode) => {
  const same = () => call('search', { query: 'tea' })
  it.each<readonly [string, () => Script, readonly string[]]>([
    ['a healthy call', () => [same(), done], []],
    ['wrong arguments', () => [call('search', { query: 'x' }), done], ['tool.result retry', 'tool.retry']],
    ['an unknown tool', () => [call('fly', {}), done], ['tool.result retry', 'tool.retry']],
    ['a leaked call', () => [say(glm('search', { query: 'tea' }))], ['tool.repaired envelope']],
    ['numbers as text', () => [call('search', { query: 'tea', limit: '3' }), done], ['tool.repaired type']],
    ['a loop', () => [same(), same(), same(), same(), done], ['guard.warning', 'guard.warning', 'tool.result blocked']],
    [
      'a reply that is cut off',
      () => [call('search', { query: 'tea' }, { finish: 'length' })],
      ['tool.result cancelled', 'tool.result retry', 'tool.retry'],
    ],
  ])('%s', async (_, script, expected) => {
    const { tools } = searchTool()
    const { events, ...ours } = await run(mode, tools, script(), { stopWhen, engine: { mode: 'observe' } })
    const { events: __, ...bare } = await run(mode, tools, script(), { stopWhen, bare: true })
    expect(plain(ours)).toEqual(plain(bare))
    const told = events.flatMap((event) => {
      if (event.type === 'tool.repaired') return [`${event.type} ${event.repair.kind}`]
      if (event.type === 'tool.result') return event.result.ok ? [] : [`${event.type} ${event.result.status}`]
      return /retry|warning|concluding/.test(event.type) ? [event.type] : []
    })
    expect(told).toEqual(expected)
  })

  it('limits, long results, timeouts: told or left, and never enforced', async () => {
    let end = (_: string): void => undefined
    const slow = tool({
      inputSchema: z.object({}),
      execute: () =>
        new Promise<string>((resolve) => {
          end = resolve
        }),
    })
    const engine = {
      mode: 'observe' as const,
      graceMs: 1,
      limits: { requests: 1 },
      maxResultTokens: 10,
      tools: { slow: { timeout: 0.01 } },
    }
    const onEvent = (event: { readonly type: string }) => void (event.type === 'tool.result' && end('x'.repeat(500)))
    const { results, events, bodies, text } = await run(mode, { slow }, [call('slow', {}), done], {
      stopWhen,
      engine: { ...engine, onEvent },
    })
    expect([results, text]).toEqual([['x'.repeat(500)], 'Done.'])
    expect(JSON.stringify(bodies[1])).toContain('x'.repeat(500))
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'tool.result', result: expect.objectContaining({ status: 'indeterminate' }) }),
    )
    expect(events).toContainEqual({ type: 'turn.concluding', step: 1, by: 'requests' })
  })

  it('the settings of the user stay as they are', async () => {
    const { tools } = searchTool()
    const asked: string[] = []
    const { calls: made } = await run(mode, tools, [call('search', { q: 'tea' }), done], {
      stopWhen,
      engine: { mode: 'observe' },
      repairToolCall: async ({ toolCall }) => {
        asked.push(toolCall.input)
        return { ...toolCall, input: '{"query":"jam"}' }
      },
    })
    expect([asked, made]).toEqual([['{"q":"tea"}'], [{ toolName: 'search', input: { query: 'jam' }, invalid: false }]])
  })
})
