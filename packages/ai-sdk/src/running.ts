/** Runs a tool's own `execute`, or observes how the SDK runs it. */
import type { ToolSet } from 'ai'
import type { Execute } from './settings.ts'
import { isGenerator, isIterable, lastOf, streamed } from './streamed.ts'
import type { Turn } from './turn.ts'

/** The tools with another `execute`; those that have none stay without. */
export const mapExecute = (tools: ToolSet, around: (run: Execute, name: string) => Execute): ToolSet =>
  Object.fromEntries(
    Object.entries<ToolSet[string]>(tools).map(([name, tool]) => [
      name,
      tool.execute ? { ...tool, execute: around(tool.execute.bind(tool), name) } : tool,
    ]),
  )

/** Run by the engine. @param streams it returns an async iterable */
export function withEngine(turn: Turn, run: Execute, toolName: string, streams = isGenerator(run)): Execute {
  const start = (input: unknown, about: Parameters<Execute>[1], show: (value: unknown) => void): Promise<unknown> =>
    turn.run({ toolCallId: about.toolCallId, toolName, input }, about.messages, ({ signal }) => {
      const value = run(input, { ...about, abortSignal: signal })
      return isIterable(value) ? lastOf(value, signal, show) : value
    })
  return streams ? (input, about) => streamed((show) => start(input, about, show)) : (input, about) => start(input, about, () => undefined)
}

/** Runs as it did; the engine is told of the outcome. */
export const observed =
  (turn: Turn, run: Execute, toolName: string): Execute =>
  (input, about) => {
    const value = run(input, about)
    turn
      .run({ toolCallId: about.toolCallId, toolName, input }, about.messages, () => (isIterable(value) ? undefined : value))
      .catch(() => undefined)
    return value
  }
