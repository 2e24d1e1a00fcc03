/** Shows calls: their title, place, progress, changes and result. A call that did not succeed is never shown as completed. */
import { join } from 'node:path'
import type { PlanEntry, SessionUpdate, ToolCallContent, ToolCallLocation, ToolCallUpdate, ToolKind } from '@agentclientprotocol/sdk'
import type { AgentEvent } from '@mulligan/agent'
import { render, type Tool, type ToolResult } from '@mulligan/core'
import type { ApprovalQuestion } from '@mulligan/host'
import { oneLine, sanitize, visible } from '@mulligan/host/light'
import { diffContent } from './diff-content.ts'
import { fenced, inputText } from './text.ts'

export interface ToolCallsOptions {
  /** The tools as they are now. */
  readonly tools: () => readonly Tool[]
  /** The folder that paths are relative to. */
  readonly cwd: string
}

type ResultEvent = Extract<AgentEvent, { type: 'tool.result' }>
type CallEvent = Extract<AgentEvent, { type: 'tool.call' }>

/** Characters of a result that are shown. The model may read more of it. */
const MAX_SHOWN = 20_000
const MAX_PROGRESS = 4000
/** The tool whose list is the editor's plan. */
const PLAN = 'todo'

export function createToolCalls({ tools, cwd }: ToolCallsOptions) {
  const named = (name: string): Tool | undefined => tools().find((tool) => tool.name === name)
  const open = new Map<string, string>()

  function of(event: AgentEvent): readonly SessionUpdate[] {
    switch (event.type) {
      case 'tool.call':
        if (event.tool === PLAN) return []
        open.set(event.callId, '')
        return [{ sessionUpdate: 'tool_call', ...begun(event) }]
      case 'tool.started':
        return open.has(event.callId) ? [updated({ toolCallId: event.callId, status: 'in_progress' })] : []
      case 'tool.delta':
        return progress(event.callId, event.message)
      case 'tool.result':
        return ended(event)
      default:
        return []
    }
  }

  const begun = ({ callId, tool, input }: CallEvent) => ({
    toolCallId: callId,
    name: tool,
    title: titleOf(tool, input),
    kind: kindOf(named(tool)),
    status: 'pending' as const,
    rawInput: input,
    ...located(tool, input),
  })

  function progress(callId: string, message: string | undefined): readonly SessionUpdate[] {
    const before = open.get(callId)
    if (before === undefined || message === undefined || message === '') return []
    const text = `${before}${before === '' ? '' : '\n'}${sanitize(message).trimEnd()}`.slice(-MAX_PROGRESS)
    open.set(callId, text)
    return [updated({ toolCallId: callId, content: [content(fenced(text))] })]
  }

  function ended(event: ResultEvent): readonly SessionUpdate[] {
    const { callId, tool, result } = event
    if (tool === PLAN) return result.ok ? [{ sessionUpdate: 'plan', entries: planOf(result.data) }] : []
    open.delete(callId)
    const status = result.ok ? ('completed' as const) : ('failed' as const)
    return [updated({ toolCallId: callId, status, content: resultContent(event, cwd), rawOutput: rawOutput(result) })]
  }

  /** Returns how a question about a call is shown: the exact change or input, and why it is asked. */
  function describe({ request, diff, asks }: ApprovalQuestion): ToolCallUpdate {
    const { callId, tool, effect, target, input, reason, forced, changes, agent } = request
    const change = diff ?? changes?.diff
    const why = asks.length > 1 ? asks.map((one) => `- ${visible(one.target)}: ${one.reason}`).join('\n') : reason
    const lines = [
      ...(changes ? [`It has run, but its changes are not kept yet: ${visible(changes.summary)}.`] : []),
      `Needs approval: ${oneLine(why, 2000)}.${forced ? ' Only you can approve it.' : ''}`,
    ]
    const shownChange = change === undefined ? [] : diffContent(change, cwd)
    return {
      toolCallId: callId,
      name: tool,
      title: `${agent === undefined ? '' : `${oneLine(agent, 40)}: `}${oneLine(tool, 64)} (${effect}) ${oneLine(visible(target), 300)}`,
      kind: kindOf(named(tool)),
      status: 'pending',
      rawInput: input,
      content: [
        ...shownChange,
        ...(shownChange.length === 0 || changes ? [content(inputText(input))] : []),
        ...(change !== undefined && shownChange.length === 0 ? [content(fenced(visible(change), 'diff'))] : []),
        content(lines.join('\n\n')),
      ],
      ...located(tool, input),
    }
  }

  /** Ends the calls that have no result: their process ended in between. */
  function cutOff(): readonly SessionUpdate[] {
    const left = [...open.keys()]
    open.clear()
    return left.map((toolCallId) =>
      updated({ toolCallId, status: 'failed', content: [content('The process ended before this call had a result.')] }),
    )
  }

  function titleOf(name: string, input: unknown): string {
    const tool = named(name)
    const about = quietly(() => tool?.subject?.(input as never)?.split('\n')[0] || targetsOf(tool, input).join(', ')) ?? ''
    return `${oneLine(name, 64)} ${oneLine(about, 200)}`.trim()
  }

  function located(name: string, input: unknown): { readonly locations?: ToolCallLocation[] } {
    const tool = named(name)
    if (!tool?.readsWorkspace || !PLACED.has(kindOf(tool))) return {}
    const paths = (quietly(() => targetsOf(tool, input)) ?? []).filter((path) => path !== '' && !/[\n*?]/.test(path)).slice(0, 20)
    const { offset } = (input ?? {}) as { readonly offset?: unknown }
    const line = typeof offset === 'number' && offset >= 0 ? offset + 1 : undefined
    return { locations: paths.map((path) => ({ path: join(cwd, path), ...(line !== undefined && { line }) })) }
  }

  return { of, progress, describe, cutOff }
}

const PLACED = new Set<ToolKind>(['read', 'edit', 'search'])

function targetsOf(tool: Tool | undefined, input: unknown): readonly string[] {
  const target: unknown = tool?.target(input as never)
  return Array.isArray(target) ? target : typeof target === 'string' ? [target] : []
}

/** The input may be one that no tool takes. */
function quietly<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

function kindOf(tool: Tool | undefined): ToolKind {
  if (!tool) return 'other'
  if (tool.edits) return 'edit'
  if (tool.untrusted || tool.sends) return 'fetch'
  if (tool.effect !== 'read') return tool.effect === 'write' ? 'execute' : 'other'
  if (!tool.readsWorkspace) return 'think'
  return tool.subject ? 'search' : 'read'
}

function resultContent({ result }: ResultEvent, cwd: string): ToolCallContent[] {
  const { diff } = ((result.ok && result.data) ?? {}) as { readonly diff?: unknown }
  const changes = typeof diff === 'string' ? diffContent(diff, cwd) : []
  if (changes.length > 0) return changes
  if (result.ok && result.display !== undefined) return [content(cut(sanitize(result.display)))]
  return [content(fenced(cut(sanitize(render(result)))))]
}

/** What a program may want of a result. Data can be large and is on this machine already. */
const rawOutput = (result: ToolResult): Record<string, unknown> =>
  result.ok
    ? {
        ok: true,
        ...(result.count !== undefined && { count: result.count }),
        ...(result.hasMore !== undefined && { hasMore: result.hasMore }),
      }
    : { ok: false, status: result.status, errorType: result.errorType, error: sanitize(result.error) }

const cut = (text: string): string =>
  text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}\n… ${text.length - MAX_SHOWN} more characters` : text

const content = (text: string): ToolCallContent => ({ type: 'content', content: { type: 'text', text } })
const updated = (update: ToolCallUpdate): SessionUpdate => ({ sessionUpdate: 'tool_call_update', ...update })

/** Converts the task list. The protocol has no status for an item that was given up. */
function planOf(data: unknown): PlanEntry[] {
  const { items = [] } = (data ?? {}) as { readonly items?: readonly { readonly text: string; readonly status: string }[] }
  return items
    .filter(({ status }) => status !== 'cancelled')
    .map(({ text, status }) => ({ content: sanitize(text), priority: 'medium', status: status as PlanEntry['status'] }))
}
