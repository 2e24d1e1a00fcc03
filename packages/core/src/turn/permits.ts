/** Which effects may run: asked about, answered, begun. A pure reducer over events, so that no caller can skip a question or run an effect twice. */
import type { ApprovalDecision, ToolEvent } from '../events.ts'

type Permit = 'asked' | 'granted' | 'refused'

export interface Permits {
  /** By call id, for the calls a person was asked about. */
  readonly answers: Readonly<Record<string, Permit>>
  /** Effects that have begun, by call id. */
  readonly begun: Readonly<Record<string, true>>
}

export const NO_PERMITS: Permits = { answers: {}, begun: {} }

export function reducePermits(permits: Permits, event: ToolEvent): Permits {
  switch (event.type) {
    case 'tool.approval.required':
      return { ...permits, answers: { ...permits.answers, [event.callId]: 'asked' } }
    case 'tool.approval.resolved':
      return { ...permits, answers: { ...permits.answers, [event.callId]: grants(event.decision.answer) ? 'granted' : 'refused' } }
    case 'tool.started':
      return event.effect === 'read' ? permits : { ...permits, begun: { ...permits.begun, [event.callId]: true } }
    default:
      return permits
  }
}

type Answer = ApprovalDecision['answer']
export const grants = (answer: Answer): answer is 'once' | 'session' | 'always' => /^(once|session|always)$/.test(answer)

const own = <T>(record: Readonly<Record<string, T>>, id: string): T | undefined => (Object.hasOwn(record, id) ? record[id] : undefined)

/** A person has said yes to this very call. */
export const isGranted = (permits: Permits, callId: string): boolean => own(permits.answers, callId) === 'granted'

/** A person was asked about the call and has not said yes. */
export const awaitsAnswer = (permits: Permits, callId: string): boolean =>
  own(permits.answers, callId) !== undefined && !isGranted(permits, callId)

export const hasBegun = (permits: Permits, callId: string): boolean => own(permits.begun, callId) === true
