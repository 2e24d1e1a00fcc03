/** What a session's page shows, as a pure reducer over its events. */
import type { Repair } from '@mulligan/core/executor'
import type { AgentEvent } from '../api/types.ts'

type Event<Type> = Extract<AgentEvent, { type: Type }>
export type ToolResult = Event<'tool.result'>['result']
export type Ledger = Event<'turn.ended'>['outcome']['ledger']

export interface Attempt {
  readonly at: number
  /** When it ended without success. */
  readonly endedAt?: number
  readonly why?: string
  /** Milliseconds until the next attempt. */
  readonly backoffMs?: number
}

export interface RequestItem {
  readonly kind: 'request'
  readonly id: string
  readonly step: number
  readonly attempts: readonly Attempt[]
  readonly text: string
  readonly reasoning: string
  readonly completedAt?: number
  readonly model?: string
  readonly concluding?: string
  readonly inputTokens?: number
  readonly outputTokens?: number
  /** Calls in the text that were not run. */
  readonly quoted: readonly { readonly raw: string; readonly why: string }[]
}

export interface ApprovalWait {
  readonly at: number
  readonly reason: string
  readonly forced: boolean
  readonly resolvedAt?: number
  readonly answer?: string
  readonly answerReason?: string
}

export interface CallItem {
  readonly kind: 'call'
  readonly id: string
  readonly step: number
  readonly at: number
  readonly tool: string
  readonly requestedTool?: string
  readonly input: unknown
  readonly effect: string
  readonly target?: string
  readonly repairs: readonly { readonly at: number; readonly repair: Repair }[]
  readonly approvals: readonly ApprovalWait[]
  readonly starts: readonly number[]
  readonly progress?: string
  readonly endedAt?: number
  readonly durationMs?: number
  readonly attempts?: number
  readonly result?: ToolResult
  readonly late?: { readonly at: number; readonly result: ToolResult }
  readonly changed?: readonly string[]
  readonly hint?: { readonly at: number; readonly errorType: string; readonly triesLeft: number; readonly parameter?: string }
  readonly closed?: { readonly at: number; readonly until: string }
  readonly warning?: { readonly at: number; readonly repeats: number; readonly blocked: boolean }
}

export interface NoteItem {
  readonly kind: 'note'
  readonly id: string
  readonly at: number
  readonly tone: 'info' | 'warning' | 'error'
  readonly text: string
}

export type Item = RequestItem | CallItem | NoteItem

export interface Turn {
  readonly id: string
  readonly prompt: string
  readonly model: string
  readonly where: string
  readonly agent?: string
  readonly startedAt: number
  readonly endedAt?: number
  /** The last event seen of it. */
  readonly lastAt: number
  readonly status: 'running' | Event<'turn.ended'>['outcome']['status']
  readonly error?: string
  readonly stoppedBy?: string
  readonly answer?: string
  readonly ledger?: Ledger
  readonly requests: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly items: readonly Item[]
  /** Taken back by a rewind. */
  readonly rewound?: boolean
}

export interface Conversation {
  readonly cwd?: string
  readonly turns: readonly Turn[]
  readonly contextUsed?: number
  readonly contextTokens?: number
}

export const EMPTY: Conversation = { turns: [] }

/** Applies events in order. Turns and items that they do not touch stay the same objects. */
export function applyEvents(before: Conversation, events: readonly AgentEvent[]): Conversation {
  let now = before
  for (const event of events) now = apply(now, event)
  return now
}

/** Forgets the beginnings of unfinished messages, which a new connection sends again. */
export function withoutPartials(before: Conversation): Conversation {
  const last = before.turns.at(-1)
  if (last?.status !== 'running') return before
  const items = last.items.map((item) =>
    item.kind === 'request' && item.completedAt === undefined && (item.text || item.reasoning)
      ? { ...item, text: '', reasoning: '' }
      : item,
  )
  return { ...before, turns: [...before.turns.slice(0, -1), { ...last, items }] }
}

function apply(now: Conversation, event: AgentEvent): Conversation {
  switch (event.type) {
    case 'session.created':
      return { ...now, cwd: event.cwd }
    case 'turn.started':
      return started(now, event)
    case 'session.rewound': {
      if (event.scope === 'files') return now
      const from = now.turns.findIndex(({ id }) => id === event.from)
      return from === -1 ? now : { ...now, turns: now.turns.map((turn, at) => (at >= from ? { ...turn, rewound: true } : turn)) }
    }
    case 'usage':
      return {
        ...inTurn(now, event, (turn) => ({
          ...turn,
          inputTokens: turn.inputTokens + event.usage.inputTokens,
          outputTokens: turn.outputTokens + event.usage.outputTokens,
          items: turn.items.map((item) => (item.kind === 'request' && item.step === event.step ? { ...item, ...event.usage } : item)),
        })),
        contextUsed: event.contextUsed,
        contextTokens: event.contextTokens,
      }
    default:
      return inTurn(now, event, (turn) => inItems(turn, event))
  }
}

function started(now: Conversation, event: Event<'turn.started'>): Conversation {
  const { turnId: id, prompt, model, where, agent, at, resumed } = event
  if (resumed || now.turns.some((turn) => turn.id === id))
    return inTurn(now, event, (turn) => ({
      // A turn that was parked for an answer goes on; only one that was cut off has something to explain.
      ...(turn.status === 'waiting' ? turn : add(turn, note(event, 'info', 'Resumed after an interruption.'))),
      status: 'running',
    }))
  const turn: Turn = {
    ...{ id, prompt, model, where, startedAt: at, lastAt: at, status: 'running', items: [] },
    ...{ requests: 0, inputTokens: 0, outputTokens: 0 },
    ...(agent !== undefined && { agent }),
  }
  return { ...now, turns: [...now.turns, turn] }
}

function inTurn(now: Conversation, { turnId, at }: AgentEvent, change: (turn: Turn) => Turn): Conversation {
  const index = now.turns.findLastIndex(({ id }) => id === turnId)
  const turn = now.turns[index]
  if (!turn) return now
  const next = { ...change(turn), lastAt: Math.max(turn.lastAt, at) }
  return { ...now, turns: now.turns.with(index, next) }
}

function inItems(turn: Turn, event: AgentEvent): Turn {
  switch (event.type) {
    case 'turn.waiting':
      return { ...turn, status: 'waiting' }
    case 'turn.ended': {
      const { status, answer, ledger, usage, requests, error, stoppedBy } = event.outcome
      const why = { ...(error !== undefined && { error }), ...(stoppedBy !== undefined && { stoppedBy }) }
      return { ...turn, ...usage, status, answer, ledger, requests, endedAt: event.at, ...why }
    }
    case 'message.created':
      return requested(turn, event)
    case 'message.part.delta':
      return inRequest(turn, event.messageId, (item) => ({ ...item, text: item.text + event.text }))
    case 'reasoning.delta':
      return inRequest(turn, event.messageId, (item) => ({ ...item, reasoning: item.reasoning + event.text }))
    case 'message.discarded':
      return inRequest(turn, event.messageId, (item) => ({ ...item, text: '', reasoning: '', attempts: cut(item, event.at, event.why) }))
    case 'message.quoted':
      return inRequest(turn, event.messageId, (item) => ({ ...item, quoted: [...item.quoted, ...event.quoted] }))
    case 'message.completed': {
      const { parts, model } = event.message
      const textOf = (type: 'text' | 'reasoning'): string => parts.map((part) => (part.type === type ? part.text : '')).join('')
      const done = { text: textOf('text'), reasoning: textOf('reasoning'), completedAt: event.at, model }
      return inRequest(turn, event.messageId, (item) => ({ ...item, ...done }), event)
    }
    case 'error': {
      const backoff = event.retryInMs
      const open = turn.items.findLast((item): item is RequestItem => item.kind === 'request' && item.completedAt === undefined)
      if (!open || backoff === undefined) return add(turn, note(event, 'error', event.message))
      return inRequest(turn, open.id, (item) => ({ ...item, attempts: cut(item, event.at, event.message, backoff) }))
    }
    case 'warning':
      return add(turn, note(event, 'warning', event.message))
    case 'context.compacted':
      return add(turn, note(event, 'info', `The conversation so far is now sent as a digest: ${event.before} → ${event.after} tokens.`))
    case 'task.event':
      return inCall(turn, event.callId, (item) => ({
        ...item,
        progress: `${event.agent}: ${taskText(event.event)}` || item.progress || '',
      }))
    default:
      return 'callId' in event ? called(turn, event) : turn
  }
}

function requested(turn: Turn, event: Event<'message.created'>): Turn {
  const attempt = { at: event.at }
  if (turn.items.some(({ id }) => id === event.messageId))
    return inRequest(turn, event.messageId, (item) => ({ ...item, attempts: [...item.attempts, attempt] }))
  return add(turn, { ...emptyRequest(event), attempts: [attempt], ...(event.concluding && { concluding: event.concluding }) })
}

const emptyRequest = ({ messageId, step }: { messageId: string; step: number }): RequestItem => ({
  ...{ kind: 'request', id: messageId, step, attempts: [], text: '', reasoning: '', quoted: [] },
})

/** Marks the latest attempt as failed. */
const cut = ({ attempts }: RequestItem, endedAt: number, why: string, backoffMs?: number): readonly Attempt[] =>
  attempts.map((one, at) =>
    at === attempts.length - 1
      ? { ...one, endedAt: one.endedAt ?? endedAt, why: one.why ?? why, ...(backoffMs !== undefined && { backoffMs }) }
      : one,
  )

function called(turn: Turn, event: Extract<AgentEvent, { callId: string }>): Turn {
  const change = (to: (item: CallItem) => Partial<CallItem>): Turn => inCall(turn, event.callId, (item) => ({ ...item, ...to(item) }))
  const { at } = event
  switch (event.type) {
    case 'tool.call': {
      const { callId: id, step, tool, input, effect, requestedTool, target } = event
      if (turn.items.some((item) => item.id === id)) return change(() => ({ input }))
      return add(turn, {
        ...{ kind: 'call', id, step, at, tool, input, effect, repairs: [], approvals: [], starts: [] },
        ...(requestedTool !== undefined && { requestedTool }),
        ...(target && { target }),
      })
    }
    case 'tool.repaired':
      return change(({ repairs }) => ({ repairs: [...repairs, { at, repair: event.repair }] }))
    case 'tool.approval.required':
      return change(({ approvals }) => ({ approvals: [...approvals, { at, reason: event.reason, forced: event.forced }] }))
    case 'tool.approval.resolved': {
      const { answer, reason } = event.decision
      const resolved = { resolvedAt: at, answer, ...(reason !== undefined && { answerReason: reason }) }
      return change(({ approvals }) => ({
        approvals: approvals.map((one, n) => (n === approvals.length - 1 ? { ...one, ...resolved } : one)),
      }))
    }
    case 'tool.started':
      return change(({ starts }) => ({ starts: [...starts, at] }))
    case 'tool.delta':
      return change(() => ({ progress: event.message }))
    case 'tool.result': {
      const { result, durationMs, attempts, changed } = event
      if (event.late) return change(() => ({ late: { at, result } }))
      return change(() => ({ result, durationMs, attempts, endedAt: at, ...(changed && { changed }) }))
    }
    case 'tool.retry': {
      const { errorType, triesLeft, parameter } = event
      return change(() => ({ hint: { at, errorType, triesLeft, ...(parameter !== undefined && { parameter }) } }))
    }
    case 'tool.closed':
      return change(() => ({ closed: { at, until: event.until } }))
    case 'guard.warning':
      return change(() => ({ warning: { at, repeats: event.repeats, blocked: event.blocked } }))
    default:
      return turn
  }
}

const add = (turn: Turn, item: Item): Turn => ({ ...turn, items: [...turn.items, item] })

const note = ({ at, id, turnId }: AgentEvent, tone: NoteItem['tone'], text: string): NoteItem => ({
  ...{ kind: 'note', id: `${turnId}:${id ?? at}`, at, tone, text },
})

function inRequest(
  turn: Turn,
  id: string,
  change: (item: RequestItem) => RequestItem,
  unknown?: { messageId: string; step: number },
): Turn {
  const index = turn.items.findLastIndex((item) => item.kind === 'request' && item.id === id)
  if (index === -1) return unknown ? add(turn, change(emptyRequest(unknown))) : turn
  return { ...turn, items: turn.items.with(index, change(turn.items[index] as RequestItem)) }
}

function inCall(turn: Turn, id: string, change: (item: CallItem) => CallItem): Turn {
  const index = turn.items.findLastIndex((item) => item.kind === 'call' && item.id === id)
  return index === -1 ? turn : { ...turn, items: turn.items.with(index, change(turn.items[index] as CallItem)) }
}

function taskText(event: Event<'task.event'>['event']): string {
  if (event.type === 'tool.call') return `${event.tool} ${event.target ?? ''}`.trim()
  return event.type === 'tool.delta' ? event.message : event.type === 'turn.ended' ? 'done' : 'working'
}

/** The turn goes on by itself, or as soon as a question is answered. */
export const isOpen = ({ status }: Turn): boolean => status === 'running' || status === 'waiting'

/** The open question of a call. */
export const pendingApproval = ({ approvals, endedAt }: CallItem): ApprovalWait | undefined => {
  const last = approvals.at(-1)
  return last && last.resolvedAt === undefined && endedAt === undefined ? last : undefined
}
