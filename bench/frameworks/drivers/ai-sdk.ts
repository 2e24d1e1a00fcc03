import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, isStepCount, NoSuchToolError, Output, tool } from 'ai'
import { z } from 'zod'
import { type Driver, objectOf, type Task } from '../driver.ts'

const modelOf = ({ url }: Task) =>
  createOpenAICompatible({ name: 'scripted', baseURL: url, supportsStructuredOutputs: true })('scripted-model')
const toolsOf = ({ tools }: Task) =>
  Object.fromEntries(
    tools.map((one) => [
      one.name,
      tool({
        description: one.description,
        inputSchema: objectOf(z as never, one),
        execute: (input, { abortSignal }) => one.execute(input, abortSignal),
      }),
    ]),
  )

export const run: Driver = async (task) => {
  const { text } = await generateText({
    model: modelOf(task),
    prompt: task.prompt,
    stopWhen: isStepCount(task.requests),
    maxRetries: 0,
    timeout: { toolMs: task.toolTimeout },
    tools: toolsOf(task),
  })
  return text
}

export const recommended: Driver = async (task) => {
  const model = modelOf(task)
  const { text } = await generateText({
    model,
    prompt: task.prompt,
    stopWhen: isStepCount(task.requests),
    maxRetries: 0,
    timeout: { toolMs: task.toolTimeout, totalMs: task.runTimeout },
    tools: toolsOf(task),
    repairToolCall: async ({ toolCall, tools, inputSchema, error }) => {
      if (NoSuchToolError.isInstance(error)) return null
      const { output } = await generateText({
        model,
        maxRetries: 0,
        output: Output.object({ schema: tools[toolCall.toolName]?.inputSchema as never }),
        prompt: [
          `The model tried to call the tool "${toolCall.toolName}" with the following inputs:`,
          JSON.stringify(toolCall.input),
          'The tool accepts the following schema:',
          JSON.stringify(await inputSchema({ toolName: toolCall.toolName })),
          'Please fix the inputs.',
        ].join('\n'),
      })
      return { ...toolCall, input: JSON.stringify(output) }
    },
  })
  return text
}
