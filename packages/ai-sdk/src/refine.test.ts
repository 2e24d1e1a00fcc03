/** The user's refinement of inputs: the engine decides about what runs. */
import type { Policy } from '@mulligan/core'
import { call, say } from '@mulligan/testing'
import { tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { MODES } from './agent.fixture.ts'
import { run } from './mulligan.fixture.ts'

const done = say('Done.')
const refining = (refine: (input: { path: string }) => unknown) => ({ experimental_refineToolInput: { remove: refine } as never })
const trimmed = refining((input) => ({ path: input.path.trim() }))

function removeTool() {
  const removed: string[] = []
  const remove = tool({ inputSchema: z.object({ path: z.string() }), execute: async ({ path }) => void removed.push(path) })
  return { tools: { remove }, removed }
}

/** Denies changes of `/etc`, and records what it was asked about. */
function guarded() {
  const asked: unknown[] = []
  const policy: Policy = ({ input, target }) => {
    asked.push(input, target)
    return target === '/etc' ? { decision: 'deny', reason: 'No.' } : { decision: 'allow', reason: 'fine' }
  }
  return { asked, engine: { policy, tools: { remove: { target: ({ path }: { path: string }) => path } } } as never }
}

describe.each(MODES)('%s', (mode) => {
  it('policy, target and events are about the refined input', async () => {
    const { tools, removed } = removeTool()
    const { asked, engine } = guarded()
    const { told, events } = await run(mode, tools, [call('remove', { path: ' /etc ' }), done], { engine, ...trimmed })
    expect([removed, asked]).toEqual([[], [{ path: '/etc' }, '/etc']])
    expect(told[0]?.[0]).toMatch(/^denied \(permission\)/)
    expect(events.find(({ type }) => type === 'tool.call')).toMatchObject({ input: { path: '/etc' }, target: '/etc' })
  })

  it('control: a path that is not /etc is removed, with its refined input', async () => {
    const { tools, removed } = removeTool()
    const { results, calls } = await run(mode, tools, [call('remove', { path: ' /tmp ' }), done], { engine: guarded().engine, ...trimmed })
    expect([removed, results.length, calls]).toEqual([['/tmp'], 1, [{ toolName: 'remove', input: { path: '/tmp' }, invalid: false }]])
  })

  it('also for a call that was repaired, and an input that is changed in place', async () => {
    const { tools, removed } = removeTool()
    const script = [call('Remove', { path: ' /etc ' }), call('remove', '{"path": " /tmp ",}'), done]
    const inPlace = refining((input) => Object.assign(input, { path: input.path.trim() }))
    const { told } = await run(mode, tools, script, { engine: guarded().engine, ...inPlace })
    expect([removed, told[0]?.[0]]).toEqual([['/tmp'], expect.stringMatching(/^denied/)])
  })

  it('an input is refined once: what was decided about is what runs and is reported', async () => {
    let times = 0
    const { tools, removed } = removeTool()
    const numbered = refining(({ path }) => ({ path: `${path}${++times}` }))
    const { calls } = await run(mode, tools, [call('remove', { path: 'a' }), call('remove', { path: 'a' }), done], numbered)
    expect([removed, calls.map(({ input }) => input)]).toEqual([
      ['a1', 'a2'],
      [{ path: 'a1' }, { path: 'a2' }],
    ])
  })
})
