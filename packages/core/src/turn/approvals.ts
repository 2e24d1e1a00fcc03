/** Which effects may run: asked, answered, started. A pure reducer over events, so no caller can skip a question or run an effect twice. */
import type { ApprovalDecision, ToolEvent } from '../events.ts'

type Answered = 'asked' | 'granted' | 'refused'

export interface Approvals {
  /** By call id, for the calls a person was asked about. */
  readonly answers: Readonly<Record<string, Answered>>
  /** Effects that have begun, by call id. */
  readonly begun: Readonly<Record<string, true>>
}

export const NO_APPROVALS: Approvals = { answers: {}, begun: {} }

export function reduceApprovals(approvals: Approvals, event: ToolEvent): Approvals {
  switch (event.type) {
    case 'tool.approval.required':
      return { ...approvals, answers: { ...approvals.answers, [event.callId]: 'asked' } }
    case 'tool.approval.resolved':
      return { ...approvals, answers: { ...approvals.answers, [event.callId]: grants(event.decision.answer) ? 'granted' : 'refused' } }
    case 'tool.started':
      return event.effect === 'read' ? approvals : { ...approvals, begun: { ...approvals.begun, [event.callId]: true } }
    default:
      return approvals
  }
}

type Answer = ApprovalDecision['answer']
export const grants = (answer: Answer): answer is 'once' | 'session' | 'always' => /^(once|session|always)$/.test(answer)

const own = <T>(record: Readonly<Record<string, T>>, id: string): T | undefined => (Object.hasOwn(record, id) ? record[id] : undefined)

/** A person has said yes to this very call. */
export const isGranted = (approvals: Approvals, callId: string): boolean => own(approvals.answers, callId) === 'granted'

/** A person was asked about the call and has not said yes. */
export const awaitsAnswer = (approvals: Approvals, callId: string): boolean =>
  own(approvals.answers, callId) !== undefined && !isGranted(approvals, callId)

export const hasBegun = (approvals: Approvals, callId: string): boolean => own(approvals.begun, callId) === true
