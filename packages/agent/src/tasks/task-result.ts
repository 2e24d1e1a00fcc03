/** What a task came to, as it is kept in the record of its call. */
import { type CallRecord, notOk, ok, type ToolEvent, type ToolOk } from '@mulligan/core'
import { canonical, type Spent } from '@mulligan/core/executor'
import type { Usage } from '../history/message.ts'
import { costOf } from '../model/cost.ts'
import type { AgentModel } from '../model/model.ts'
import type { Ledger, LedgerEntry, TurnOutcome, TurnStatus } from '../outcome.ts'

export const TASK = 'task'

/** The data of the result of a task. */
export interface TaskDone {
  readonly agent: string
  /** The session of the task, whose id is that of the call. */
  readonly session: string
  readonly status: TurnStatus
  readonly answer: string
  readonly ledger: Ledger
  readonly usage: Usage
  /** What it used of the limits of the turn that gave it. */
  readonly spent: Spent
}

/** What the model reads is the answer, and by the engine's own record what was changed. */
export function taskResult(
  agent: string,
  outcome: TurnOutcome,
  read: { readonly untrusted: boolean; readonly secret: boolean },
  prices: AgentModel['prices'],
): ToolOk<TaskDone> {
  const { sessionId: session, status, answer, ledger, usage, requests, calls, error } = outcome
  const { inputTokens, outputTokens } = usage
  const spent: Spent = { requests, calls: calls.length, tokens: inputTokens + outputTokens, cost: costOf(usage, prices), seconds: 0 }
  const entries = (what: string, of: Ledger['changed']): string[] =>
    of.length === 0 ? [] : [`${what}: ${of.map(({ tool, target }) => `${tool} ${target}`).join(', ')}.`]
  const lines = [
    answer,
    ...(status === 'answered' ? [] : [`The task was not finished (${status}).${error === undefined ? '' : ` ${error}`}`]),
    ...entries('Changed', ledger.changed),
    ...entries('Failed', ledger.failed),
    ...entries('Not known whether it took effect', ledger.unknown),
  ]
  return ok<TaskDone>(
    { agent, session, status, answer, ledger, usage, spent },
    { content: lines.join('\n'), ...(read.untrusted && { untrusted: true as const }), ...(read.secret && { secret: true as const }) },
  )
}

/** Returns what a task came to; undefined for any other call. */
export const taskOf = ({ tool, result }: CallRecord): TaskDone | undefined =>
  tool === TASK && result.ok && isDone(result.data) ? result.data : undefined

/** What a task left unknown is unknown to its turn: a call that might repeat it needs a person. */
export const unknownCall = ({ callId, tool, effect, target, says = '' }: LedgerEntry, step: number): readonly ToolEvent[] => [
  { type: 'tool.call', callId, step, ordinal: 0, tool, effect, target, input: { target } },
  {
    ...{ type: 'tool.result', callId, step, tool, effect, inputKey: canonical({ target }), attempts: 1, durationMs: 0 },
    result: notOk('internal', says, { status: 'indeterminate' }),
  },
]

const isDone = (data: unknown): data is TaskDone => typeof data === 'object' && data !== null && 'ledger' in data && 'spent' in data
