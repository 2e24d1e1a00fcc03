/**
 * Extracts what reliability is measured by from the stored events of sessions: one record per call, and counts of what was caught. Nothing
 * is taken from what a model wrote. Pure.
 */
import type { AgentEvent } from '@mulligan/agent'

/** The outcome of a call: `ok` as it came, `repaired` before it ran, or the status of a failure. */
export const OUTCOMES = [
  'ok',
  'repaired',
  'retry',
  'failed',
  'unavailable',
  'denied',
  'indeterminate',
  'blocked',
  'closed',
  'cancelled',
] as const
export type Outcome = (typeof OUTCOMES)[number]

/** What the engine handles, each with a count. */
export const CAUGHT = [
  'unknown_tool',
  'not_found',
  'invalid_input',
  'loop_blocked',
  'tool_closed',
  'indeterminate',
  'repeat_held',
  'late_result',
  'fault_absorbed',
  'request_retried',
  'reply_discarded',
  'call_in_text',
  'approval_asked',
  'approval_denied',
] as const
export type Caught = (typeof CAUGHT)[number]

export interface ObservedCall {
  readonly at: number
  readonly tool: string
  readonly model: string
  readonly outcome: Outcome
  readonly errorType?: string
  /** Milliseconds from the start of the call to its result; absent if it did not run. */
  readonly ms?: number
  /** Number of executions; more than 1 after transient faults. */
  readonly attempts: number
}

export interface ObservedRepair {
  readonly kind: string
  readonly tool: string
  readonly model: string
}

/** Wrong calls of one tool in a row, and whether the tool then succeeded in the same turn. */
export interface RetryChain {
  readonly tool: string
  readonly model: string
  readonly wrong: number
  readonly recovered: boolean
}

export interface Observed {
  readonly sessions: number
  readonly turns: number
  readonly answered: number
  readonly requests: number
  readonly calls: readonly ObservedCall[]
  readonly repairs: readonly ObservedRepair[]
  readonly chains: readonly RetryChain[]
  readonly caught: readonly { readonly what: Caught; readonly tool: string; readonly model: string }[]
}

/** Unknown tools share a row: their names are the model's, and there may be any number of them. */
export const UNKNOWN_TOOL = '(unknown tool)'
/** Used if the turn's start is not among the events. */
const UNKNOWN_MODEL = '(unknown model)'

export interface Observer {
  /** Takes the next event. Those of a session must come in order. */
  readonly add: (event: AgentEvent) => void
  readonly end: () => Observed
}

interface OfTurn {
  model: string
  /** Models that wrote a step, if another one than the turn began with. */
  readonly steps: Map<number, string>
  readonly repairsOf: Map<string, number>
  /** Wrong calls per tool since its last success. */
  readonly wrong: Map<string, number>
  /** The step of each call. */
  readonly stepOf: Map<string, number>
}

/** Creates an observer of the events with `since <= at < until`. */
export function createObserver({ since = 0, until = Number.POSITIVE_INFINITY }: { since?: number; until?: number } = {}): Observer {
  const sessions = new Set<string>()
  const counts = { turns: 0, answered: 0, requests: 0 }
  const calls: ObservedCall[] = []
  const repairs: ObservedRepair[] = []
  const chains: RetryChain[] = []
  const caught: { what: Caught; tool: string; model: string }[] = []
  const turns = new Map<string, OfTurn>()

  const turnOf = (turnId: string): OfTurn => {
    const known = turns.get(turnId)
    if (known) return known
    const created = { model: UNKNOWN_MODEL, steps: new Map(), repairsOf: new Map(), wrong: new Map(), stepOf: new Map() }
    turns.set(turnId, created)
    return created
  }

  function endTurn(turnId: string): void {
    const turn = turns.get(turnId)
    for (const [tool, wrong] of turn?.wrong ?? []) chains.push({ tool, model: turn?.model ?? UNKNOWN_MODEL, wrong, recovered: false })
    turns.delete(turnId)
  }

  function addResult(event: Extract<AgentEvent, { type: 'tool.result' }>, turn: OfTurn): void {
    const { result, attempts, durationMs, callId, at, step } = event
    const model = turn.steps.get(step) ?? turn.model
    const failure = result.ok ? undefined : result
    const tool = failure?.errorType === 'unknown_tool' ? UNKNOWN_TOOL : event.tool
    const note = (what: Caught): number => caught.push({ what, tool, model })
    if (event.late) {
      note('late_result')
      return
    }
    const isRepaired = (turn.repairsOf.get(callId) ?? 0) > 0
    calls.push({
      ...{ at, tool, model, attempts },
      outcome: failure ? failure.status : isRepaired ? 'repaired' : 'ok',
      ...(failure && { errorType: failure.errorType }),
      ...(attempts > 0 && { ms: durationMs }),
    })
    if (result.ok && attempts > 1) note('fault_absorbed')
    if (failure?.status === 'indeterminate') note('indeterminate')
    if (failure?.status === 'blocked' && failure.errorType === 'loop') note('loop_blocked')
    if (failure?.status === 'retry') {
      if (failure.errorType === 'unknown_tool') note('unknown_tool')
      else note(failure.errorType === 'not_found' ? 'not_found' : 'invalid_input')
      // A wrong name is made good by the tool that was meant.
      const meant = failure.errorType === 'unknown_tool' ? (failure.details?.call?.tool ?? UNKNOWN_TOOL) : tool
      turn.wrong.set(meant, (turn.wrong.get(meant) ?? 0) + 1)
    }
    const wrong = turn.wrong.get(event.tool)
    if (result.ok && wrong !== undefined) {
      chains.push({ tool: event.tool, model, wrong, recovered: true })
      turn.wrong.delete(event.tool)
    }
  }

  return {
    add(event) {
      if (event.at < since || event.at >= until) return
      sessions.add(event.sessionId)
      const turn = turnOf(event.turnId)
      const about = (callId: string, tool: string) => {
        return { tool, model: turn.steps.get(turn.stepOf.get(callId) ?? 0) ?? turn.model }
      }
      switch (event.type) {
        case 'turn.started':
          turn.model = event.model
          if (!event.resumed) counts.turns += 1
          return
        case 'turn.ended':
          if (event.outcome.status === 'answered') counts.answered += 1
          return endTurn(event.turnId)
        case 'message.created':
          counts.requests += 1
          if (event.attempt > 1) caught.push({ what: 'request_retried', tool: '', model: turn.model })
          return
        case 'message.discarded':
          caught.push({ what: 'reply_discarded', tool: '', model: turn.model })
          return
        case 'message.quoted':
          for (const _ of event.quoted) caught.push({ what: 'call_in_text', tool: '', model: turn.model })
          return
        case 'message.completed':
          if (event.message.model !== 'engine' && event.message.model !== turn.model) turn.steps.set(event.step, event.message.model)
          return
        case 'tool.call':
          turn.stepOf.set(event.callId, event.step)
          return
        case 'tool.repaired':
          turn.repairsOf.set(event.callId, (turn.repairsOf.get(event.callId) ?? 0) + 1)
          repairs.push({ kind: event.repair.kind, ...about(event.callId, event.tool) })
          return
        case 'tool.approval.required':
          caught.push({ what: 'approval_asked', ...about(event.callId, event.tool) })
          if (event.indeterminate?.length) caught.push({ what: 'repeat_held', ...about(event.callId, event.tool) })
          return
        case 'tool.approval.resolved':
          if (event.decision.answer === 'no') caught.push({ what: 'approval_denied', ...about(event.callId, event.tool) })
          return
        case 'tool.closed':
          caught.push({ what: 'tool_closed', ...about(event.callId, event.tool) })
          return
        case 'tool.result':
          return addResult(event, turn)
        default:
      }
    },
    end() {
      for (const turnId of [...turns.keys()]) endTurn(turnId)
      return { sessions: sessions.size, ...counts, calls, repairs, chains, caught }
    },
  }
}
