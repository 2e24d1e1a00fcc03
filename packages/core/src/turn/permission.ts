/**
 * Tracks which effects may run: those asked about, answered and started, and the calls refused in this turn. Pure reducers over
 * events, so no caller can skip a question or run an effect twice.
 */
import type { ApprovalDecision, ToolEvent } from '../events.ts'

type Answered = 'asked' | 'granted' | 'refused'

export interface Approvals {
  /** Answers by call id, for the calls a person was asked about. */
  readonly answers: Readonly<Record<string, Answered>>
  /** Effects that have started, by call id. */
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

/** Returns whether a person has approved this call. */
export const isGranted = (approvals: Approvals, callId: string): boolean => own(approvals.answers, callId) === 'granted'

/** Returns whether a person was asked about the call and has not approved it. */
export const awaitsAnswer = (approvals: Approvals, callId: string): boolean =>
  own(approvals.answers, callId) !== undefined && !isGranted(approvals, callId)

export const hasBegun = (approvals: Approvals, callId: string): boolean => own(approvals.begun, callId) === true

/** The reason a person gave for a denial, by tool and target. */
export type Denials = Readonly<Record<string, string>>

export const NO_DENIALS: Denials = {}

const key = (tool: string, target: string): string => `${tool}\0${target}`

/** Returns the reason of an earlier denial of the same tool on one of these targets. */
export function earlierDenial(denials: Denials, tool: string, targets: readonly string[]): string | undefined {
  // Keys may contain whole inputs, so do not build any when there are no denials.
  if (isEmpty(denials)) return undefined
  for (const target of targets) {
    const reason = denials[key(tool, target)]
    if (reason !== undefined) return reason
  }
  return undefined
}

function isEmpty(record: object): boolean {
  for (const _ in record) return false
  return true
}

const deniedBy = ({ tool, target, keys = [target], decision }: Extract<ToolEvent, { type: 'tool.approval.resolved' }>): Denials =>
  Object.fromEntries(keys.map((one) => [key(tool, one), decision.reason ?? '']))

export const reduceDenials = (denials: Denials, event: ToolEvent): Denials =>
  event.type === 'tool.approval.resolved' && event.decision.answer === 'no' ? { ...denials, ...deniedBy(event) } : denials
