/** The classic mistakes: how each is detected in the events, and how the demo disables the protection against it to show the harm. */
import type { AgentEvent } from '@mulligan/agent'
import { defineTool, type Tool, ToolFailure, type ToolResult } from '@mulligan/core'

type ResultEvent = Extract<AgentEvent, { type: 'tool.result' }>

/** What happened in the turn, from which the table is computed. */
export interface Happened {
  readonly events: readonly AgentEvent[]
  readonly results: readonly ResultEvent[]
}

export interface Catch {
  readonly id: string
  /** What the model did. */
  readonly mistake: string
  /** What the engine did about it; undefined if it did not catch the mistake. */
  readonly caught: (happened: Happened) => string | undefined
  /** The tools without this protection. */
  readonly without: (tools: readonly Tool[]) => readonly Tool[]
}

const failed = (results: readonly ResultEvent[], tool: string, errorType: string) =>
  results.find(
    (event) => event.tool === tool && !event.result.ok && event.result.status === 'retry' && event.result.errorType === errorType,
  )

/** Returns the result of the tool's next call, if it succeeded. */
const nextOk = ({ results }: Happened, after: ResultEvent): ResultEvent | undefined => {
  const next = results.slice(results.indexOf(after) + 1).find(({ tool }) => tool === after.tool)
  return next?.result.ok ? next : undefined
}

/** Returns `says` if the model got a hint and its next try worked. */
function hinted(happened: Happened, tool: string, errorType: string, says: string): string | undefined {
  const wrong = failed(happened.results, tool, errorType)
  if (!wrong || wrong.result.ok || !wrong.result.details?.call) return undefined
  return nextOk(happened, wrong) ? says : undefined
}

function repaired({ events, results }: Happened, kind: string): string | undefined {
  const event = events.find((one) => one.type === 'tool.repaired' && one.repair.kind === kind)
  if (event?.type !== 'tool.repaired') return undefined
  const ok = results.some(({ callId, result }) => callId === event.callId && result.ok)
  return ok ? `repaired before it ran: ${event.repair.why}` : undefined
}

const on =
  (name: string, change: (tool: Tool) => Tool) =>
  (tools: readonly Tool[]): readonly Tool[] =>
    tools.map((tool) => (tool.name === name ? change(tool) : tool))

/** Returns errors as text marked as success, as many tools do. */
const errorsAsText = (tool: Tool): Tool => ({
  ...tool,
  execute: async (input, ctx) => {
    try {
      return await (tool.execute as (input: unknown, ctx: unknown) => unknown)(input, ctx)
    } catch (error) {
      return `Error: ${(error as Error).message}`
    }
  },
})

const emptyAsError = (tool: Tool): Tool => ({
  ...tool,
  execute: async (input, ctx) => {
    const result = (await (tool.execute as (input: unknown, ctx: unknown) => unknown)(input, ctx)) as ToolResult
    if (result.ok && result.count === 0) throw new ToolFailure('No matches.')
    return result
  },
})

/** Accepts a call to an unknown tool, as some agents do. */
const UNKNOWN = defineTool({
  name: 'find_usages',
  description: 'Stands in for a tool that does not exist.',
  effect: 'read',
  input: { type: 'object' },
  execute: () => 'Error: unknown tool',
})

export const CATCHES: readonly Catch[] = [
  {
    id: 'wrong-path',
    mistake: 'read a file that does not exist',
    caught: (happened) => hinted(happened, 'read_file', 'not_found', 'named the nearest file; the next call was right'),
    without: on('read_file', errorsAsText),
  },
  {
    id: 'number-as-text',
    mistake: 'sent "50" for 50',
    caught: (happened) => repaired(happened, 'type'),
    without: on('read_file', (tool) => ({ ...tool, check: { ...tool.check, strict: {} } })),
  },
  {
    id: 'unknown-tool',
    mistake: 'called a tool that does not exist',
    caught: ({ results }) => (failed(results, 'find_usages', 'unknown_tool') ? 'said which tools there are; the turn went on' : undefined),
    without: (tools) => [...tools, UNKNOWN],
  },
  {
    id: 'empty-search',
    mistake: 'searched for what does not exist',
    caught: ({ results }) =>
      results.some(({ result }) => result.ok && result.count === 0) ? 'ok with count 0: no error, no retry spent' : undefined,
    without: on('grep', emptyAsError),
  },
  {
    id: 'failing-edit',
    mistake: 'edited text that is not in the file',
    caught: (happened) => hinted(happened, 'edit_file', 'validation', 'showed the nearest text; nothing was written until it matched'),
    without: on('edit_file', errorsAsText),
  },
  {
    id: 'alias',
    mistake: 'used another agent’s tool, str_replace',
    caught: (happened) => repaired(happened, 'alias'),
    without: on('edit_file', (tool) => ({ ...tool, aliases: [] })),
  },
  {
    id: 'same-call-again',
    mistake: 'made the same call four times',
    caught: ({ events }) =>
      events.some((event) => event.type === 'guard.warning' && event.blocked) ? 'warned at the third, refused the fourth' : undefined,
    without: on('grep', (tool) => ({ ...tool, polls: true })),
  },
]
