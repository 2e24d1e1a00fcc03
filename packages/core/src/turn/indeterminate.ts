/**
 * Tracks calls with effects that were cut off and may have taken effect: which later calls need approval because of them, and how they
 * are settled. A pure reducer over events.
 */
import { canonical } from '@mulligan/repair'
import type { ToolEvent } from '../events.ts'
import type { Tool } from '../tool.ts'
import { grants } from './permission.ts'

/** A call with effects that may or may not have taken effect. Plain data. */
export interface IndeterminateCall {
  /** The engine's id for the call. */
  readonly id: string
  readonly tool: string
  /** The canonical input, as recorded. */
  readonly input: unknown
  /** The targets it acted on. Absent if unknown: it may have been anything. */
  readonly targets?: readonly string[]
  /** A person has since approved another call of the tool, and it succeeded: only calls with the same input or target still ask. */
  readonly narrowed?: true
}

/** A question that named indeterminate calls, and whether a person approved it. */
interface Question {
  readonly callId: string
  readonly named: readonly string[]
  readonly approved: boolean
}

export interface Indeterminate {
  /** The calls that are not settled. */
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

/** Adds targets to a call. A blank target may mean anything, so it counts as unknown. */
export const withTargets = (call: IndeterminateCall, targets: readonly string[]): IndeterminateCall =>
  targets.length === 0 || targets.some((target) => target.trim() === '') ? call : { ...call, targets }

/** Returns the indeterminate calls that were shown to the person who approved this call. */
export const acknowledged = ({ questions }: Indeterminate, callId: string): readonly string[] =>
  questions.flatMap((one) => (one.callId === callId && one.approved ? one.named : []))

/**
 * Returns the calls that remain after an approved call has succeeded. Of the calls `named` in its question, those with the same input
 * or a common target are settled; the others ask only for the same input or target from then on.
 */
export function settledBy(
  calls: readonly IndeterminateCall[],
  call: Omit<IndeterminateCall, 'id'>,
  named: readonly string[],
): readonly IndeterminateCall[] {
  const isNamed = (one: IndeterminateCall): boolean => one.tool === call.tool && named.includes(one.id)
  return calls.flatMap((one) => (!isNamed(one) ? [one] : isSame(one, call) ? [] : [{ ...one, narrowed: true as const }]))
}

/** Returns the indeterminate calls that make this call need approval. */
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

/**
 * Returns the keys of a target, which ignore spelling differences (white space, case, invisible characters). Mail targets have one key
 * per address.
 */
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

/** Adds the targets that the tool reports, if they are not already known. */
export function locate(call: IndeterminateCall, tool: Tool | undefined): IndeterminateCall {
  if (call.targets || !tool) return call
  try {
    const targets = tool.target(call.input as never)
    return withTargets(call, Array.isArray(targets) ? targets.map(String) : [String(targets)])
  } catch {
    return call
  }
}

/** The number of calls a question names, latest first. */
const MAX_NAMED = 2
const MAX_TARGET = 80
const MAX_WORDS = 60

/** Explains to the person which calls may have taken effect. Completes "Needs approval: …". */
export function whyUncertain(calls: readonly IndeterminateCall[], running: ReadonlySet<string>): string {
  const tool = quoted(calls[0]?.tool ?? '', 64)
  const named = calls
    .toReversed()
    .slice(0, MAX_NAMED)
    .map((call) => nameOf(call) + (running.has(call.id) ? ', still running' : ''))
  const rest = calls.length - named.length
  return calls.length === 1
    ? `a previous ${tool} call (${named[0]}) was cut off; it may have taken effect`
    : `previous ${tool} calls (${named.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}) were cut off; they may have taken effect`
}

/** Names a call by its target, plus the first words of its input if they add anything. */
function nameOf({ targets = [], input }: Pick<IndeterminateCall, 'targets' | 'input'>): string {
  const target = targets.join(', ')
  const words = textsBeside(target, input)
  return [target && quoted(target, MAX_TARGET), words && quoted(words, MAX_WORDS)].filter(Boolean).join(': ') || 'without input'
}

/** Returns the first words of an input on one line; empty if they add nothing to the target. `redact` is applied before cutting. */
export const inputWords = (input: unknown, target: string, redact: (text: string) => string): string =>
  shortLine(redact(textsBeside(target, input)), MAX_WORDS)

const textsBeside = (target: string, input: unknown): string =>
  textsIn(input)
    .filter((text) => text.length > 1 && !target.includes(text))
    .join(' ')

function textsIn(input: unknown, depth = 0): readonly string[] {
  if (typeof input === 'string') return [input]
  if (typeof input !== 'object' || input === null || depth > 3) return []
  return Object.values(input).flatMap((value) => textsIn(value, depth + 1))
}

const quoted = (text: string, most: number): string => `\`${shortLine(text.replaceAll('`', "'"), most)}\``

function shortLine(text: string, most: number): string {
  const line = text
    .slice(0, 10 * most)
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`
}

/** Returns the note that tells the model what to check after an indeterminate call. */
export function checkNote(
  { tool, target, targets, input }: Omit<IndeterminateCall, 'id'> & { readonly target: string },
  scope?: Tool['indeterminateScope'],
): string {
  const about = nameOf({ targets: targets ?? (target === '' ? [] : [target]), input })
  const others =
    scope === 'target' ? `every other call of ${tool} on the same target` : `every other call of ${tool} that may change something`
  return `Check with calls that only read what became of ${about}. Until this is settled, ${others} needs the user's approval.`
}
