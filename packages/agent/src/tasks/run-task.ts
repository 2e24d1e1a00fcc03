/** Runs tasks as turns of their own, each in a session whose id is that of its call. */
import { ToolFailure } from '@mulligan/core'
import type { IndeterminateCall, Tainted } from '@mulligan/core/executor'
import { type Message, recordsOf } from '../history/message.ts'
import type { AgentOptions, Role } from '../options.ts'
import type { Ledger, TurnOutcome } from '../outcome.ts'
import type { ParkedCall } from '../parked.ts'
import { sessionTitle } from '../session-id.ts'
import type { ApprovalRow } from '../store/store.ts'
import type { RunTask } from './task-tool.ts'

/** What a task takes over from the turn that gave it: what was read, what may have taken effect, and what was asked. */
export type Inherited = Tainted & {
  readonly indeterminate?: readonly IndeterminateCall[]
  readonly approvals?: readonly ApprovalRow[]
  /** Takes the questions for which a turn is to be parked. Default: they are stored with the turn itself */
  readonly park?: (questions: readonly ParkedCall[]) => void
}

/**
 * Who has the session of the turn has the sessions of its tasks: a claim on one of them is that of a process that lost the turn, whose lease
 * may end later.
 */
interface Claimed {
  readonly takeOver: true
  readonly signal: AbortSignal
}

/** An agent, as far as a task needs it. */
export interface Worker {
  readonly run: (turn: Claimed & { readonly sessionId: string; readonly prompt: string }) => Promise<TurnOutcome>
  readonly resume: (sessionId: string, options: Claimed) => Promise<TurnOutcome | undefined>
  /** Gives a result to each open call of a session whose process ended. @returns undefined if there is none */
  readonly closeLast: (sessionId: string) => Promise<TurnOutcome | undefined>
}

/** Tasks of a turn that are looked for when it is closed: more than its limits allow. */
const MAX_TASKS = 1000

/** @param open creates an agent that does tasks */
export function createTasks(given: AgentOptions, open: (options: AgentOptions, inherited?: Inherited) => Worker) {
  const { store, cwd } = given

  /** Does a task, or goes on with it if its turn was interrupted together with the one that gave it. */
  const run: RunTask = async ({ sessionId, prompt, agent, turn, limits, onEvent }) => {
    const { tasks: _, news: __, files: ___, lean: ____, ...rest } = given
    const { untrusted, secret, indeterminate } = turn.state()
    const worker = open(
      {
        ...rest,
        ...{ role: within(agent.role, given.role), limits, onEvent },
        approve: (request, signal, stored) => turn.approve({ ...request, agent: agent.role.name }, signal, stored),
      },
      // The questions of a task are those of its turn: it is the turn that is found, answered and resumed.
      { untrusted, secret, indeterminate: indeterminate.calls, approvals: turn.approvals, park: (asked) => turn.wait(sessionId, asked) },
    )
    const claimed: Claimed = { takeOver: true, signal: turn.signal }
    const isKnown = (await store.session(sessionId)) !== undefined
    if (!isKnown) await store.createSession({ id: sessionId, cwd, title: sessionTitle(prompt) })
    if (!isKnown || !(await store.lastTurn(sessionId))) return worker.run({ sessionId, prompt, ...claimed })
    return (await worker.resume(sessionId, claimed)) ?? ended(sessionId)
  }

  /** Closes the tasks of a turn that is not resumed. @returns the ledgers of those that are not in its record */
  async function close(turnId: string, mine: readonly Message[]): Promise<readonly Ledger[]> {
    const recorded = new Set(recordsOf(mine).map(({ id }) => id))
    const ledgers: Ledger[] = []
    for (const { id } of await store.sessions({ idPrefix: `${turnId}/`, limit: MAX_TASKS }))
      if (!recorded.has(id)) ledgers.push(((await open(given).closeLast(id)) ?? (await ended(id))).ledger)
    return ledgers
  }

  /** Returns the outcome of a task that had ended before the call that gave it was recorded. */
  async function ended(sessionId: string): Promise<TurnOutcome> {
    const event = (await store.events({ sessionId })).findLast(({ type }) => type === 'turn.ended')
    if (event?.type !== 'turn.ended') throw new ToolFailure('The task was interrupted, and can not be resumed.')
    return { ...event.outcome, calls: recordsOf(await store.history(sessionId)) }
  }

  return { run, close }
}

/** The role of an agent that does a task for another: it has no tool that the other does not have. */
const within = (role: Role, outer: Role | undefined): Role => ({
  ...role,
  withholds: (tool) => role.withholds?.(tool) ?? outer?.withholds?.(tool),
})
