import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { mulligan } from '@mulligan/ai-sdk'
import { generateText, isStepCount, tool } from 'ai'
import { z } from 'zod'
import { type Driver, objectOf, type Task } from '../driver.ts'

const modelOf = ({ url }: Task) => createOpenAICompatible({ name: 'scripted', baseURL: url })('scripted-model')
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
const settingsOf = (task: Task) => ({
  model: modelOf(task),
  prompt: task.prompt,
  stopWhen: isStepCount(task.requests),
  maxRetries: 0,
  timeout: { toolMs: task.toolTimeout },
})

export const run: Driver = async (task) => {
  const { text } = await generateText(mulligan(toolsOf(task)).turn(settingsOf(task)))
  return text
}

export const recommended: Driver = async (task) => {
  const { text } = await generateText(mulligan(toolsOf(task), { preset: 'full', defaults: { effect: 'read' } }).turn(settingsOf(task)))
  return text
}
