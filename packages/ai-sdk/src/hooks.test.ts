/** The user's own hooks are called as before, their results apply, and the engine works alongside. */
import type { LanguageModelV4 } from '@ai-sdk/provider'
import { call, calls, lastToolResults, type ScriptedModel, say, scriptedModel } from '@mulligan/testing'
import type { LanguageModel, ModelMessage, ToolSet } from 'ai'
import { generateText, hasToolCall, isStepCount, streamText, tool, wrapLanguageModel } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { MODES, type Mode } from './agent.fixture.ts'
import { mulligan } from './index.ts'
import { modelOf, type RunOptions, run, searchTool, types } from './mulligan.fixture.ts'

type GenerateSettings = Parameters<typeof generateText>[0]

const done = say('Done.')

function sendTool(more: Partial<ToolSet[string]> = {}) {
  const sent: unknown[] = []
  const send = tool({
    inputSchema: z.object({ to: z.string() }),
    execute: async (input) => {
      sent.push(input)
      return 'sent'
    },
  })
  return { tools: { send: { ...send, ...more } } as ToolSet, sent }
}

/** A turn that asks the user, and the turn after the answer. */
async function askedAndAnswered(mode: Mode, options: RunOptions, approved = true, second: RunOptions = options) {
  const { tools, sent } = sendTool()
  const asked = await run(mode, tools, [call('send', { to: 'ann' })], options)
  expect(sent).toEqual([])
  const [approval] = asked.approvals
  const answer = { type: 'tool-approval-response' as const, approvalId: approval?.approvalId ?? '', approved, reason: 'a reason' }
  const messages: ModelMessage[] = [{ role: 'user', content: 'Go on.' }, ...asked.messages, { role: 'tool', content: [answer] }]
  const { prompt: _, ...rest } = { prompt: undefined, ...second }
  const answered = await run(mode, tools, [done], { ...rest, messages, prompt: undefined } as never)
  return { asked, answered, sent, approval }
}

describe.each(MODES)('%s', (mode) => {
  it('prepareStep: asked at each step, and what it says of the step counts', async () => {
    const steps: number[] = []
    const { tools } = searchTool()
    const { bodies } = await run(mode, tools, [call('search', { query: 'tea' }), done], {
      prepareStep: ({ stepNumber }) => {
        steps.push(stepNumber)
        return { temperature: 0.5 + stepNumber / 10, ...(stepNumber === 1 && { toolChoice: 'none' }) }
      },
    })
    expect(steps).toEqual([0, 1])
    expect(bodies.map((body) => [body.temperature, body.tool_choice])).toEqual([
      [0.5, 'auto'],
      [0.6, 'none'],
    ])
  })

  it('prepareStep: another model for a step has the engine too', async () => {
    const { tools, ran } = searchTool()
    let other: LanguageModel = 'none'
    await run(mode, tools, [call('Search', { query: 'tea' }), done], {
      model: (server) => {
        other = modelOf(server)
        return other
      },
      prepareStep: () => ({ model: other }),
    })
    expect(ran).toEqual([{ query: 'tea' }])
  })

  it('middleware of the user about the model runs inside', async () => {
    const seen: string[] = []
    const { tools, ran } = searchTool()
    await run(mode, tools, [call('Search', { query: 'tea' }), done], {
      model: (server) =>
        wrapLanguageModel({
          model: modelOf(server) as never,
          middleware: {
            specificationVersion: 'v4',
            transformParams: async ({ params }) => {
              seen.push(String(params.prompt.at(-1)?.role))
              return params
            },
          },
        }),
    })
    expect([seen, ran]).toEqual([['user', 'tool'], [{ query: 'tea' }]])
  })

  it.each([
    ['one', isStepCount(1)],
    ['several', [isStepCount(9), hasToolCall('search')]],
  ])('stopWhen: %s of the user’s stops the turn', async (_, stopWhen) => {
    const { bodies } = await run(mode, searchTool().tools, [call('search', { query: 'tea' })], { stopWhen })
    expect(bodies).toHaveLength(1)
  })

  it('a call that has to be made ends the turn when it has succeeded, as it does in the SDK alone', async () => {
    const { tools, ran } = searchTool()
    const script = [call('search', { query: 1, limit: 99 }), call('search', { query: 'tea' })]
    const { bodies } = await run(mode, tools, script, { toolChoice: 'required' })
    expect([ran, bodies.map((body) => body.tool_choice)]).toEqual([[{ query: 'tea' }], ['required', 'required']])
  })

  it.each([
    ['a model by its name', 'by-name'],
    ['a model of the specification before', 'v3'],
  ])('%s has the engine too', async (_, kind) => {
    const { tools, ran } = searchTool()
    const model = (server: ScriptedModel): LanguageModel => {
      const real = modelOf(server) as LanguageModelV4
      globalThis.AI_SDK_DEFAULT_PROVIDER = { languageModel: () => real } as never
      return kind === 'by-name'
        ? 'by-name'
        : new MockLanguageModelV3({ doGenerate: real.doGenerate.bind(real) as never, doStream: real.doStream.bind(real) as never })
    }
    await run(mode, tools, [call('Search', { query: 'tea', limit: '3' }), done], {
      model,
      prepareStep: () => (kind === 'by-name' ? { model: 'by-name' } : {}),
    })
    globalThis.AI_SDK_DEFAULT_PROVIDER = undefined
    expect(ran).toEqual([{ query: 'tea', limit: 3 }])
  })

  describe('repairToolCall', () => {
    it('has its turn for what the engine cannot read, and no retry is spent', async () => {
      const { tools, ran } = searchTool()
      const asked: string[] = []
      const { events } = await run(mode, tools, [call('search', { query: 'tea', limit: '3' }), call('search', { limit: 3 }), done], {
        repairToolCall: async ({ toolCall, error }) => {
          asked.push(`${error.name} ${toolCall.input}`)
          return { ...toolCall, input: '{"query":"jam","limit":"4"}' }
        },
      })
      expect(asked).toEqual(['AI_InvalidToolInputError {"limit":3}'])
      expect(ran).toEqual([
        { query: 'tea', limit: 3 },
        { query: 'jam', limit: 4 },
      ])
      expect(types(events)).not.toContain('tool.retry')
    })

    it.each([
      ['finds nothing', async () => null],
      ['throws', async () => Promise.reject(new Error('password=hunter2'))],
    ])('that %s leaves the word to the engine', async (_, repairToolCall) => {
      const logged: unknown[] = []
      const options = { repairToolCall, engine: { log: ({ error }: { readonly error: unknown }) => void logged.push(error) } }
      const { told } = await run(mode, searchTool().tools, [call('search', { limit: 3 }), done], options)
      expect(told[0]?.[0]).toMatch(/^retry \(validation\): "query" is missing/)
      expect(told[0]?.[0]).not.toContain('hunter2')
      expect(logged).toHaveLength(repairToolCall.toString().includes('reject') ? 1 : 0)
    })
  })

  describe('toolApproval', () => {
    it.each<readonly [string, RunOptions, string | undefined]>([
      ['by name', { toolApproval: { send: 'user-approval' } }, undefined],
      [
        'as a function of the input',
        { toolApproval: { send: ({ to }: { to: string }) => ({ type: 'user-approval', reason: `to ${to}` }) } as never },
        'to ann',
      ],
      ['for all tools', { toolApproval: ({ toolCall }) => (toolCall.toolName === 'send' ? 'user-approval' : undefined) }, undefined],
      ['of the engine’s policy', { engine: { policy: () => ({ decision: 'ask', reason: 'it leaves the house' }) } }, 'it leaves the house'],
    ])('%s: asks, and the call runs once after a yes', async (_, options, reason) => {
      const { approval, answered, sent } = await askedAndAnswered(mode, options)
      expect(approval).toMatchObject({ toolName: 'send', reason })
      expect(sent).toEqual([{ to: 'ann' }])
      expect(answered.text).toBe('Done.')
    })

    it('after a no the call does not run', async () => {
      const { sent } = await askedAndAnswered(mode, { toolApproval: { send: 'user-approval' } }, false)
      expect(sent).toEqual([])
    })

    it('a yes in the messages does not run what the policy denies', async () => {
      const deny = { engine: { policy: () => ({ decision: 'deny' as const, reason: 'Nothing is sent.' }) } }
      const { sent, answered } = await askedAndAnswered(mode, { toolApproval: { send: 'user-approval' } }, true, deny)
      expect(sent).toEqual([])
      expect(JSON.stringify(answered.bodies)).toContain('denied (permission): Nothing is sent.')
    })

    it('of the tool itself is asked as before', async () => {
      const { tools, sent } = sendTool({ needsApproval: async (input: { to: string }) => input.to === 'ann' })
      const { approvals } = await run(mode, tools, [calls(['send', { to: 'bob' }], ['send', { to: 'ann' }])])
      expect([approvals.length, sent]).toEqual([1, [{ to: 'bob' }]])
    })

    it('the stricter counts: a no of the user against a policy that asks, a policy that denies against a yes', async () => {
      const ask = () => ({ decision: 'ask' as const, reason: 'sure?' })
      const { tools, sent } = sendTool()
      const no = { toolApproval: { send: { type: 'denied', reason: 'not on Sundays' } } as const }
      const refused = await run(mode, tools, [call('send', { to: 'ann' }), done], { ...no, engine: { policy: ask } })
      expect(JSON.stringify(refused.bodies[1])).toContain('not on Sundays')
      expect(refused.events.at(-1)).toMatchObject({ type: 'tool.result', result: { status: 'denied', error: 'not on Sundays' } })
      const asked = await run(mode, tools, [call('send', { to: 'ann' })], { toolApproval: { send: 'approved' }, engine: { policy: ask } })
      expect(asked.approvals).toHaveLength(1)
      const denied = await run(mode, tools, [call('send', { to: 'ann' }), done], {
        toolApproval: { send: 'approved' },
        engine: { policy: () => ({ decision: 'deny', reason: 'Nothing is sent.' }) },
      })
      expect(denied.told[0]?.[0]).toMatch(/^denied \(permission\): Nothing is sent/)
      expect(sent).toEqual([])
    })

    it('a call that nobody was asked about does not run', async () => {
      const { tools, sent } = sendTool()
      await using server = await scriptedModel([call('send', { to: 'ann' }), done])
      const engine = mulligan(tools, { preset: 'full', policy: () => ({ decision: 'ask', reason: 'sure?' }) })
      // As in an agent that uses the tools but not the hooks.
      const { toolApproval: _, ...settings } = engine.turn({ model: modelOf(server), prompt: 'Go on.' }) as never as GenerateSettings
      await (mode === 'stream' ? streamText(settings).text : generateText(settings))
      expect([sent, lastToolResults(server.requests[1] as never)[0]?.text]).toEqual([[], expect.stringMatching(/^denied \(permission\)/)])
    })

    it('nobody is asked about a call that is refused anyway', async () => {
      let asked = 0
      const toolApproval = () => {
        asked++
        return 'user-approval' as const
      }
      const { told } = await run(mode, sendTool().tools, [call('send', { whom: 'ann' }), done], { toolApproval })
      expect([asked, told[0]?.[0]]).toEqual([0, expect.stringMatching(/^retry \(validation\)/)])
    })
  })

  it('a call of an earlier turn that may have taken effect needs approval', async () => {
    const { tools, sent } = sendTool()
    const before = (value: string): ModelMessage[] => [
      { role: 'user', content: 'Write to Ann.' },
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'send', input: { to: 'ann' } }] },
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'send', output: { type: 'error-text', value } }] },
      { role: 'user', content: 'Again.' },
    ]
    const messages = before('indeterminate (timeout): send was cut off after 1 s.')
    const { approvals } = await run(mode, tools, [call('send', { to: 'ann' })], { messages, prompt: undefined } as never)
    expect([approvals[0]?.reason, sent]).toEqual(['a previous `send` call (`{"to":"ann"}`) was cut off; it may have taken effect', []])
    await run(mode, tools, [call('send', { to: 'ann' }), done], { messages: before('failed (execution): no.'), prompt: undefined } as never)
    expect(sent).toEqual([{ to: 'ann' }])
  })

  describe('after a call that was cut off in an earlier turn', () => {
    const cutOff: ModelMessage[] = [
      { role: 'user', content: 'Write to Ann.' },
      ...callAndResult('c1', { to: 'ann', text: 'hi' }, { type: 'error-text', value: 'indeterminate (timeout): send was cut off.' }),
    ]
    const again = (more: readonly ModelMessage[] = []) => ({
      messages: [...cutOff, ...more, { role: 'user', content: 'Again.' }],
      prompt: undefined,
    })
    const sender = () => {
      const sent: unknown[] = []
      const inputSchema = z.object({ to: z.string(), text: z.string() })
      return { sent, tools: { send: tool({ inputSchema, execute: async ({ to }) => void sent.push(to) }) } }
    }
    const engine = { tools: { send: { target: ({ to }: { to: string }) => to } } } as never
    const approved = (isAutomatic?: boolean): ModelMessage[] =>
      callAndResult(
        'c2',
        { to: 'ann', text: 'yes' },
        { type: 'text', value: 'sent' },
        { type: 'tool-approval-request', approvalId: 'a', toolCallId: 'c2', ...(isAutomatic && { isAutomatic }) },
      )

    it.each<[string, readonly ModelMessage[], { to: string; text: string }, number]>([
      ['another text to the same asks', [], { to: 'ann', text: 'hi ' }, 1],
      ['control: another target does not', [], { to: 'bob', text: 'hi' }, 0],
      ['control: nor the same, once a person has said yes to a call and it succeeded', approved(), { to: 'ann', text: 'x' }, 0],
      ['what was approved automatically settles nothing', approved(true), { to: 'ann', text: 'x' }, 1],
    ])('%s', async (_, more, input, asks) => {
      const { sent, tools } = sender()
      const { approvals } = await run(mode, tools, [call('send', input), ...(asks ? [] : [done])], { ...again(more), engine } as never)
      expect([approvals.length, sent]).toEqual([asks, asks ? [] : [input.to]])
    })

    it('of a tool that declares no target, any call asks', async () => {
      const { sent, tools } = sender()
      const { approvals } = await run(mode, tools, [call('send', { to: 'bob', text: 'hi' })], again() as never)
      expect([approvals.length, sent]).toEqual([1, []])
    })
  })

  it('onToolExecutionStart and onToolExecutionEnd are called about what runs and what failed', async () => {
    const told: string[] = []
    const { tools } = searchTool()
    await run(mode, tools, [calls(['search', { query: 'tea' }], ['search', { query: 1 }]), done], {
      onToolExecutionStart: ({ toolCall }) => void told.push(`start ${toolCall.toolName}`),
      onToolExecutionEnd: ({ toolOutput }) => void told.push(`end ${toolOutput.type}`),
    })
    expect(told).toEqual(['start search', 'end tool-result'])
  })

  it('input that is refined by the user is what the tool gets', async () => {
    const { tools, ran } = searchTool()
    await run(mode, tools, [call('search', { query: 'tea' }), done], {
      experimental_refineToolInput: { search: (input: { query: string }) => ({ ...input, query: `${input.query}!` }) } as never,
    })
    expect(ran).toEqual([{ query: 'tea!' }])
  })

  it('a tool that is not active in a step is not run', async () => {
    const { tools, ran } = searchTool()
    const { told } = await run(mode, { ...tools, ...sendTool().tools }, [call('search', { query: 'tea' }), done], { activeTools: ['send'] })
    expect([ran, told[0]?.[0]]).toEqual([[], expect.stringMatching(/^blocked \(unknown_tool\): .*Available tools: send/)])
  })
})

/** A call in the messages of an earlier turn, and its result. */
function callAndResult(toolCallId: string, input: unknown, output: object, ...more: object[]): ModelMessage[] {
  return [
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId, toolName: 'send', input }, ...more] },
    { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName: 'send', output }] },
  ] as ModelMessage[]
}
