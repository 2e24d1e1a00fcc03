/**
 * Calls with effects that were cut off and may have taken effect: which later calls must ask because of them, and what
 * settles them. A pure reducer over events.
 */
import { canonical } from '@mulligan/repair'
import type { ToolEvent } from '../events.ts'
import type { Tool } from '../tool.ts'
import { grants } from './approvals.ts'

/** A call with effects of which nobody knows whether it took effect. Plain data. */
export interface IndeterminateCall {
  /** The engine's id of the call. */
  readonly id: string
  readonly tool: string
  /** Canonical, as its record has it. */
  readonly input: unknown
  /** What it acted on. Absent if that is not known: it may have been anything. */
  readonly targets?: readonly string[]
  /** A person has allowed another call of the tool since, and it succeeded: only the same input or target asks. */
  readonly narrowed?: true
}

/** A question that named indeterminate calls, and whether a person said yes to it. */
interface Question {
  readonly callId: string
  readonly named: readonly string[]
  readonly approved: boolean
}

export interface Indeterminate {
  /** Not settled. */
  readonly calls: readonly IndeterminateCall[]
  /** Calls with effects that have no outcome yet. */
  readonly open: readonly IndeterminateCall[]
  readonly questions: readonly Question[]
}

export const NONE_INDETERMINATE: Indeterminate = { calls: [], open: [], questions: [] }

export function reduceIndeterminate(state: Indeterminate, event: ToolEvent): Indeterminate {
  switch (event.type) {
    case 'tool.call':
      return event.effect === 'read' ? state : { ...state, open: [...without(state.open, event.callId), openCall(event)] }
    case 'tool.approval.required': {
      const { callId, indeterminate: named } = event
      return named ? { ...state, questions: [...state.questions, { callId, named, approved: false }] } : state
    }
    case 'tool.approval.resolved': {
      const approved = grants(event.decision.answer)
      const isAbout = ({ callId }: Question): boolean => callId === event.callId
      if (!state.questions.some(isAbout)) return state
      return { ...state, questions: state.questions.map((one) => (isAbout(one) ? { ...one, approved } : one)) }
    }
    case 'tool.result':
      return event.effect === 'read' ? state : afterResult(state, event)
    default:
      return state
  }
}

function afterResult(state: Indeterminate, { callId, tool, inputKey, result, late }: Extract<ToolEvent, { type: 'tool.result' }>) {
  const { calls, open, questions } = state
  const isUnknown = !result.ok && result.status === 'indeterminate'
  if (late) return isUnknown ? state : { ...state, calls: without(calls, callId) }
  const call = open.find(({ id }) => id === callId) ?? { id: callId, tool, input: inputKey }
  const next = { calls, open: without(open, callId), questions: questions.filter((one) => one.callId !== callId) }
  if (isUnknown) return { ...next, calls: [...without(calls, callId), call] }
  return result.ok ? { ...next, calls: settledBy(calls, call, acknowledged(state, callId)) } : next
}

const without = (calls: readonly IndeterminateCall[], callId: string): readonly IndeterminateCall[] =>
  calls.some(({ id }) => id === callId) ? calls.filter(({ id }) => id !== callId) : calls

const openCall = ({ callId: id, tool, input, target, targets }: Extract<ToolEvent, { type: 'tool.call' }>): IndeterminateCall =>
  withTargets({ id, tool, input }, targets ?? (target === undefined ? [] : [target]))

/** A blank target may stand for anything, so it counts as not known. */
export const withTargets = (call: IndeterminateCall, targets: readonly string[]): IndeterminateCall =>
  targets.length === 0 || targets.some((target) => target.trim() === '') ? call : { ...call, targets }

/** The indeterminate calls that a person was told of when they approved this one. */
export const acknowledged = ({ questions }: Indeterminate, callId: string): readonly string[] =>
  questions.flatMap((one) => (one.callId === callId && one.approved ? one.named : []))

/**
 * What is left once a call has succeeded that a person had approved, being told of the calls `named`: those with its input
 * or one of its targets are settled; of the others, only the same input or target continues asking.
 */
export function settledBy(
  calls: readonly IndeterminateCall[],
  call: Omit<IndeterminateCall, 'id'>,
  named: readonly string[],
): readonly IndeterminateCall[] {
  const isNamed = (one: IndeterminateCall): boolean => one.tool === call.tool && named.includes(one.id)
  return calls.flatMap((one) => (!isNamed(one) ? [one] : isSame(one, call) ? [] : [{ ...one, narrowed: true as const }]))
}

/** The indeterminate calls because of which this one must ask. */
export function overlapping(
  calls: readonly IndeterminateCall[],
  call: Omit<IndeterminateCall, 'id'>,
  scope: Tool['indeterminateScope'],
): readonly IndeterminateCall[] {
  const isAnyCall = (one: IndeterminateCall): boolean => !one.narrowed && (scope === 'tool' || !one.targets || !call.targets)
  return calls.filter((one) => one.tool === call.tool && (isAnyCall(one) || isSame(one, call)))
}

function isSame(one: Omit<IndeterminateCall, 'id'>, other: Omit<IndeterminateCall, 'id'>): boolean {
  if (normal(canonical(one.input)) === normal(canonical(other.input))) return true
  const keys = new Set(one.targets?.flatMap(keysOf))
  return other.targets?.some((target) => keysOf(target).some((key) => keys.has(key))) === true
}

/** Equal for different spellings of one target (blanks, case, invisible characters). Of mail, one key per address. */
function keysOf(target: string): readonly string[] {
  const text = normal(target)
  const addresses = text.split(/[\s<>()",;:]+/).filter((part) => /.@./.test(part))
  return addresses.length > 0 ? addresses : [text]
}

const normal = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .replace(/(?:\\[nrt]|\s)+/g, ' ')
    .trim()
    .toLowerCase()

/** The call with what its tool says it acts on, where that is not known already. */
export function locate(call: IndeterminateCall, tool: Tool | undefined): IndeterminateCall {
  if (call.targets || !tool) return call
  try {
    const targets = tool.target(call.input as never)
    return withTargets(call, Array.isArray(targets) ? targets.map(String) : [String(targets)])
  } catch {
    return call
  }
}
