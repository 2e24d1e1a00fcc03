/** A turn that is stopped, or whose process ends: no effect happens twice, and nothing is said not to have happened that may have. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openaiChat } from '../api/openai-chat.ts'
import type { ToolEvent } from '../events.ts'
import { defineTool } from '../tool.ts'
import type { SavedTurn, TurnOptions } from './options.ts'
import { startTurn } from './start-turn.ts'

type Options = Partial<Omit<TurnOptions<never, never, never, never>, 'api' | 'tools' | 'state'>>

const reply = (...paths: readonly string[]) => ({
  message: {
    role: 'assistant',
    tool_calls: paths.map((path, at) => ({
      id: `c${at}`,
      type: 'function',
      function: { name: 'save_note', arguments: JSON.stringify({ path }) },
    })),
  },
})

function saving(execute?: () => Promise<void>) {
  const saved: string[] = []
  const save = defineTool({
    name: 'save_note',
    description: 'Saves a note.',
    effect: 'write',
    input: z.object({ path: z.string() }),
    target: ({ path }) => path,
    execute: async ({ path }) => {
      saved.push(path)
      await execute?.()
    },
  })
  return { save, saved }
}

/** The state at the start of a call of `path`, which never ends, and what was saved by then. */
async function interrupted(path: string, ...paths: readonly string[]): Promise<{ state: () => SavedTurn; saved: readonly string[] }> {
  const { promise: begun, resolve } = Promise.withResolvers<string>()
  const { save, saved } = saving(() => (saved.at(-1) === path ? new Promise(() => undefined) : Promise.resolve()))
  const onEvent = (event: ToolEvent): void => {
    if (event.type === 'tool.started' && saved.length === paths.indexOf(path)) resolve(JSON.stringify(turn.state()))
  }
  const turn = startTurn({ api: openaiChat, tools: [save], approve: () => true, onEvent })
  void turn.reply(reply(...paths))
  const text = await begun
  return { state: () => JSON.parse(text), saved }
}

async function continued(state: SavedTurn, given: ReturnType<typeof reply>, options: Options = {}) {
  const { save, saved } = saving()
  const asked: string[] = []
  const approve = ({ target, reason }: { target: string; reason: string }): boolean => asked.push(`${target}: ${reason}`) > 0
  const turn = startTurn({ api: openaiChat, tools: [save], approve, ...options, state })
  const { results } = await turn.reply(given)
  return { statuses: results.map(({ result }) => (result.ok ? 'ok' : result.status)), saved, asked, turn }
}

describe('a turn whose process ended during an effect', () => {
  it('does not run it again, however often the state is restored', async () => {
    const { state } = await interrupted('a', 'a')
    for (const _ of [1, 2]) {
      const { statuses, saved, turn } = await continued(state(), reply('a'))
      expect([statuses, saved]).toEqual([['indeterminate'], []])
      expect(turn.state().executor.indeterminate.calls).toHaveLength(1)
    }
  })

  it('does not run the effects before it again either', async () => {
    const { state } = await interrupted('b', 'a', 'b', 'c')
    const { statuses, saved } = await continued(state(), reply('a', 'b', 'c'))
    expect([statuses, saved]).toEqual([['indeterminate', 'indeterminate', 'ok'], ['c']])
  })

  it.each<[string, Options]>([
    ['its requests are used up', { limits: { requests: 1 } }],
    ['its calls are used up', { limits: { calls: 1 } }],
    ['it was stopped', { signal: AbortSignal.abort() }],
    ['the policy denies the call now', { policy: () => ({ decision: 'deny', reason: 'no' }) }],
  ])('does not say that the call was not run if %s', async (_, options) => {
    const { state } = await interrupted('a', 'a')
    expect((await continued(state(), reply('a'), options)).statuses).toEqual(['indeterminate'])
  })

  it('asks about a call that might repeat it, if the request was made again', async () => {
    const { state } = await interrupted('a', 'a')
    const { asked, statuses } = await continued(state(), reply('b', 'a'), { policy: () => ({ decision: 'allow', reason: 'all' }) })
    expect(asked).toEqual(['a: a previous `save_note` call (`a`) was cut off; it may have taken effect'])
    expect(statuses).toEqual(['ok', 'ok'])
  })

  it('remembers that it has ended', async () => {
    const turn = startTurn({ api: openaiChat, tools: [] })
    await turn.reply({ message: { content: 'Hi.' } })
    const next = startTurn({ api: openaiChat, tools: [], state: turn.state() })
    await expect(next.reply({ message: { content: 'Hi.' } })).rejects.toThrow('has ended')
  })
})

describe('a turn that is stopped', () => {
  it('does not wait for a person, and a late answer changes nothing', async () => {
    const stop = new AbortController()
    const { save, saved } = saving()
    const { promise: answer, resolve } = Promise.withResolvers<boolean>()
    const approve = (): Promise<boolean> => {
      stop.abort()
      return answer
    }
    const turn = startTurn({ api: openaiChat, tools: [save], approve, signal: stop.signal })
    const { stoppedBy, messages } = await turn.reply(reply('a', 'b'))
    resolve(true)
    await answer
    expect([stoppedBy, messages.length, saved]).toEqual(['aborted', 3, []])
  })
})
