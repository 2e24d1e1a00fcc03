/** The user's types are preserved: inputs, outputs, contexts, structured output, UI messages. */
import type { GenerateTextResult, InferAgentUIMessage, InferUITools, ToolSet, TypedToolCall, TypedToolResult, UIMessage } from 'ai'
import { generateText, isStepCount, Output, streamText, ToolLoopAgent, tool } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { describe, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { mulligan } from './index.ts'

const tools = {
  weather: tool({
    description: 'The weather.',
    inputSchema: z.object({ city: z.string(), days: z.int().default(1) }),
    execute: async ({ city, days }) => ({ city, degrees: days }),
  }),
  ask: tool({ description: 'Asks.', inputSchema: z.object({ question: z.string() }), outputSchema: z.object({ answer: z.string() }) }),
  scoped: tool({
    description: 'Has a context.',
    inputSchema: z.object({}),
    contextSchema: z.object({ userId: z.string() }),
    execute: async (_, { context }) => context.userId,
  }),
}
const plain = { weather: tools.weather, ask: tools.ask }
type Plain = typeof plain
const model = new MockLanguageModelV4()
const engine = mulligan(plain)
const messages = [{ role: 'user' as const, content: 'Hi' }]

/** Only type-checked, never called, so no request is made. */
const typed = (_: () => unknown): void => undefined

describe('types', () => {
  it('of streamText and generateText are those of the tools', () => {
    typed(async () => {
      const streamed = streamText(engine.turn({ model, messages }))
      expectTypeOf(await streamed.toolResults).toEqualTypeOf<TypedToolResult<Plain>[]>()
      expectTypeOf(await streamed.toolCalls).toEqualTypeOf<TypedToolCall<Plain>[]>()
      const bare = streamText({ model, messages, tools: plain })
      expectTypeOf(streamed).toEqualTypeOf<typeof bare>()
      const generated = await generateText(engine.turn({ model, prompt: 'Hi' }))
      const bareGenerated = await generateText({ model, prompt: 'Hi', tools: plain })
      expectTypeOf(generated).toEqualTypeOf<typeof bareGenerated>()
      for (const result of generated.toolResults)
        if (!result.dynamic && result.toolName === 'weather') expectTypeOf(result.output).toEqualTypeOf<{ city: string; degrees: number }>()
    })
  })

  it('of structured output and of a context stay', () => {
    typed(async () => {
      const output = Output.object({ schema: z.object({ ok: z.boolean() }) })
      const result = await generateText(engine.turn({ model, prompt: 'Hi', output, runtimeContext: { tenant: 'a' } }))
      expectTypeOf(result.output).toEqualTypeOf<{ ok: boolean }>()
      expectTypeOf(result).toExtend<GenerateTextResult<Plain, { tenant: string }, typeof output>>()
      const stream = streamText(engine.turn({ model, prompt: 'Hi', output }))
      const bare = streamText({ model, prompt: 'Hi', output, tools: plain })
      expectTypeOf(stream).toEqualTypeOf<typeof bare>()
    })
  })

  it('of hooks are known where they are written', () => {
    typed(() =>
      streamText(
        engine.turn({
          model,
          messages,
          runtimeContext: { tenant: 'a' },
          stopWhen: [isStepCount(5), ({ steps }) => steps.length > 3],
          prepareStep: ({ stepNumber, runtimeContext, steps }) => {
            expectTypeOf(stepNumber).toEqualTypeOf<number>()
            expectTypeOf(runtimeContext).toEqualTypeOf<{ tenant: string }>()
            expectTypeOf(steps[0]?.toolCalls[0]).toEqualTypeOf<TypedToolCall<Plain> | undefined>()
            return { activeTools: ['weather'] }
          },
          repairToolCall: async ({ toolCall }) => toolCall,
          toolApproval: { weather: (input) => (input.city === 'Oslo' ? 'user-approval' : undefined) },
          onFinish: ({ text, toolResults }) => {
            expectTypeOf(text).toEqualTypeOf<string>()
            expectTypeOf(toolResults).toEqualTypeOf<TypedToolResult<Plain>[]>()
          },
          onError: ({ error }) => expectTypeOf(error).toEqualTypeOf<unknown>(),
        }),
      ),
    )
  })

  it('of what the SDK would refuse are refused', () => {
    // @ts-expect-error there is no such tool
    typed(() => engine.turn({ model, messages, activeTools: ['wether'] }))
    // @ts-expect-error the tools are passed only once
    typed(() => engine.turn({ model, messages, tools: plain }))
    // @ts-expect-error there is no tool with this name to configure
    typed(() => mulligan(plain, { tools: { wether: {} } }))
    // @ts-expect-error the model is missing
    typed(() => engine.turn({ messages }))
    // @ts-expect-error a misspelt setting of a turn
    typed(() => engine.turn({ model, messages, maxOutputTokns: 3 }))
    // @ts-expect-error a misspelt setting of an agent
    typed(() => engine.agent({ model, instrutions: 'Be brief.' }))
  })

  it('of an agent and its UI messages stay', () => {
    typed(async () => {
      const agent = new ToolLoopAgent(engine.agent({ model, instructions: 'Be brief.' }))
      const bare = new ToolLoopAgent({ model, instructions: 'Be brief.', tools: plain })
      expectTypeOf(agent.tools).toEqualTypeOf(bare.tools)
      expectTypeOf<InferAgentUIMessage<typeof agent>>().toEqualTypeOf<InferAgentUIMessage<typeof bare>>()
      const { toolResults } = await agent.generate({ prompt: 'Hi' })
      expectTypeOf(toolResults).toEqualTypeOf<TypedToolResult<Plain>[]>()
    })
  })

  it('of the options of a call are inferred from their schema', () => {
    typed(async () => {
      const settings = engine.agent({
        model,
        instructions: 'Be brief.',
        callOptionsSchema: z.object({ userId: z.string() }),
        prepareCall: ({ options, ...rest }) => {
          expectTypeOf(options).toEqualTypeOf<{ userId: string }>()
          return { ...rest, instructions: `${rest.instructions} For ${options.userId}.` }
        },
      })
      const agent = new ToolLoopAgent(settings)
      await agent.generate({ prompt: 'Hi', options: { userId: 'ann' } })
      // @ts-expect-error the options are missing
      await agent.generate({ prompt: 'Hi' })
    })
  })

  it('stay generic in a generic function', () => {
    function ask<TOOLS extends ToolSet>(given: TOOLS, prompt: string) {
      const { turn } = mulligan(given)
      void generateText(turn({ model, prompt, stopWhen: isStepCount(3) }))
      return streamText(turn({ model, messages, maxOutputTokens: 100 }))
    }
    typed(async () => expectTypeOf(await ask(plain, 'Hi').toolResults).toEqualTypeOf<TypedToolResult<Plain>[]>())
  })

  it('of UI messages are inferred from the tools or from the settings alike', () => {
    const settings = engine.turn({ model, messages })
    expectTypeOf<InferUITools<typeof settings.tools>>().toEqualTypeOf<InferUITools<Plain>>()
    typed(() => {
      type Message = UIMessage<never, never, InferUITools<Plain>>
      const stream = streamText(settings).toUIMessageStream<Message>()
      expectTypeOf(stream).toExtend<AsyncIterable<unknown>>()
    })
  })

  it('of what is declared of a tool are known from its schema', () => {
    typed(() =>
      mulligan(plain, {
        tools: {
          weather: {
            target: (input) => {
              expectTypeOf(input).toEqualTypeOf<{ city: string; days: number }>()
              return input.city
            },
          },
        },
      }),
    )
  })

  it('of tools with a context ask for it', () => {
    typed(() => streamText(mulligan(tools).turn({ model, messages, toolsContext: { scoped: { userId: 'ann' } } })))
    // @ts-expect-error the context is missing
    typed(() => streamText(mulligan(tools).turn({ model, messages })))
  })
})
