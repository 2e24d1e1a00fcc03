import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import {
  contextEditingMiddleware,
  createAgent,
  modelCallLimitMiddleware,
  ToolInvocationError,
  toolCallLimitMiddleware,
  toolErrorMiddleware,
  toolRetryMiddleware,
} from 'langchain'
import { z } from 'zod'
import { type Driver, objectOf, type Task } from '../driver.ts'

const modelOf = ({ url }: Task) =>
  new ChatOpenAI({ model: 'scripted-model', apiKey: 'none', maxRetries: 0, configuration: { baseURL: url } })
const toolsOf = ({ tools }: Task) =>
  tools.map((one) =>
    tool((input, { signal }) => one.execute(input, signal), {
      name: one.name,
      description: one.description,
      schema: objectOf(z as never, one),
    }),
  )
const textOf = (messages: readonly { readonly content: unknown }[]): string => {
  const content = messages.at(-1)?.content
  return typeof content === 'string' ? content : JSON.stringify(content)
}

export const run: Driver = async (task) => {
  const agent = createAgent({ model: modelOf(task), tools: toolsOf(task) })
  // A step of its graph is either a model request or a round of tool calls.
  const { messages } = await agent.invoke({ messages: [{ role: 'user', content: task.prompt }] }, { recursionLimit: 2 * task.requests })
  return textOf(messages)
}

export const recommended: Driver = async (task) => {
  const agent = createAgent({
    model: modelOf(task),
    tools: toolsOf(task),
    middleware: [
      modelCallLimitMiddleware({ runLimit: task.requests }),
      toolCallLimitMiddleware({ runLimit: 10 }),
      contextEditingMiddleware(),
      toolErrorMiddleware({
        onError: (error, { toolCall }) =>
          ToolInvocationError.isInstance(error) ? error.message : `Tool '${toolCall.name}' failed with ${(error as Error).name}.`,
      }),
      toolRetryMiddleware({ onFailure: 'error' }),
    ],
  })
  // Each hook of a middleware is a step of the graph, too.
  const limits = { recursionLimit: 10 * task.requests, timeout: task.runTimeout }
  const { messages } = await agent.invoke({ messages: [{ role: 'user', content: task.prompt }] }, limits)
  return textOf(messages)
}
