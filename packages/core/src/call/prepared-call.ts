/** A prepared call: ready to run, waiting for approval, or done. Plain data. */
import { canonical, type Repair } from '@mulligan/repair'
import type { Confinement, ProposedChanges } from '../layer.ts'
import type { AskedTarget } from '../policy.ts'
import type { ToolResult } from '../result.ts'
import type { Effect, Tool } from '../tool.ts'
import type { ParsedCall, ResolvedCall } from './resolve-call.ts'

/** Identifies a call. */
interface CallIdentity {
  /** The engine's id: session/turn/step/ordinal. */
  readonly id: string
  readonly step: number
  readonly ordinal: number
  /** The provider's id, unchanged. */
  readonly wireId?: string
  readonly tool: string
  /** The requested name, if different. */
  readonly requestedTool?: string
  readonly effect: Effect
  /** The target: a path, a channel. */
  readonly target: string
  /** All targets in full, if `target` lists several or was cut. */
  readonly targets?: readonly string[]
  readonly repairs: readonly Repair[]
}

/** A call that may run. Plain data: an approval can wait for days in another process. */
export interface PreparedCall extends CallIdentity {
  readonly input: Readonly<Record<string, unknown>>
  /** The input as the model gave it, if the host refined it. */
  readonly unrefined?: Readonly<Record<string, unknown>>
  /** Canonical JSON of the input. */
  readonly inputKey: string
  /** Secret files the call would open. */
  readonly secrets?: readonly string[]
  /** Its confinement, if running it has no effect. The tool's effect then applies to keeping the changes made on the layer. */
  readonly confinement?: Exclude<Confinement, 'direct'>
  /** Why the model may not have meant the call. If the call has an effect, a person must agree. */
  readonly doubt?: string
  /** Sentences added to the result. */
  readonly notes: string[]
}

export interface ApprovalRequest {
  readonly callId: string
  readonly tool: string
  readonly effect: Effect
  readonly target: string
  readonly input: Readonly<Record<string, unknown>>
  /** The targets that need approval: those not already allowed. */
  readonly asks: readonly AskedTarget[]
  /** The reason for asking, for the person. */
  readonly reason: string
  /** The agent that asks, if it works on a task for the one that the person talks to. */
  readonly agent?: string
  /** Only a person may answer, even if the call was approved in advance. */
  readonly forced: boolean
  /** The changes the call made on its layer; the question is whether to keep them. */
  readonly changes?: ProposedChanges
  /** Ids of the calls that may have taken effect and are the reason for asking. An approval means that the person knows about them. */
  readonly indeterminate?: readonly string[]
}

/** The record of a finished call, for the store, the person and `--json`. */
export interface CallRecord extends CallIdentity {
  /** The canonical input; the original if it could not be parsed. */
  readonly input: unknown
  /** Number of executions; 0 if it was refused without running. */
  readonly attempts: number
  readonly result: ToolResult
  readonly durationMs: number
  /** Changed paths, for calls that ran on a layer and whose changes were kept. */
  readonly changed?: readonly string[]
}

export type Prepared =
  | { readonly kind: 'result'; readonly record: CallRecord }
  | { readonly kind: 'approval'; readonly call: PreparedCall; readonly request: ApprovalRequest }
  | { readonly kind: 'ready'; readonly call: PreparedCall }

/** A call that ran on a layer and waits for a decision about its changes. Plain data. */
export interface HeldCall {
  readonly kind: 'held'
  readonly call: PreparedCall
  readonly request: ApprovalRequest & { readonly changes: ProposedChanges }
  /** The outcome of the call, apart from its changes. */
  readonly ran: { readonly result: ToolResult; readonly attempts: number; readonly durationMs: number }
}

/** The outcome of running a call: its record, or a question about its changes. */
export type Performed = Extract<Prepared, { readonly kind: 'result' }> | HeldCall

/** The outcome of a call after a person was asked. */
export type Decided = Exclude<Prepared, { readonly kind: 'approval' }>

/** Converts a resolved call into the form in which it is checked, asked about and run. */
export function preparedCall(call: ParsedCall, { tool, input, unrefined, repairs, refusal, value }: ResolvedCall): PreparedCall {
  const requested = typeof call.name === 'string' ? call.name : ''
  const name = tool?.name ?? (requested.slice(0, 64) || '(none)')
  const inputKey = canonical(input)
  const targets = tool && !refusal ? actsOn(tool, value) : []
  const target = targets.join(', ').slice(0, MAX_TARGET)
  return {
    id: call.id,
    step: call.step,
    ordinal: call.ordinal,
    ...(call.wireId !== undefined && { wireId: call.wireId }),
    tool: name,
    ...(requested !== name && { requestedTool: requested }),
    input: (refusal ? {} : input) as Record<string, unknown>,
    ...(unrefined !== undefined && { unrefined: unrefined as Record<string, unknown> }),
    inputKey,
    effect: tool ? (refusal ? tool.effect : effectIn(tool, value)) : 'external',
    target,
    ...(targets.length > 0 && (targets.length > 1 || targets[0] !== target) && { targets }),
    repairs,
    ...(call.doubt !== undefined && { doubt: call.doubt }),
    notes: droppedNotes(repairs, name),
  }
}

const RANK: Readonly<Record<Effect, number>> = { read: 0, write: 1, external: 2 }

/** Returns the greater of two effects. */
export const greaterEffect = (a: Effect, b: Effect): Effect => (RANK[b] > RANK[a] ? b : a)

/** Returns the effect of this call: the tool's `effectOf` counts if it is lower than the tool's effect. */
function effectIn(tool: Tool, input: unknown): Effect {
  try {
    const own = tool.effectOf?.(input as never)
    return own !== undefined && RANK[own] < RANK[tool.effect] ? own : tool.effect
  } catch {
    return tool.effect
  }
}

/** Maximum characters of a target that are shown and kept. */
const MAX_TARGET = 500
/** Number of dropped parameters that are named individually. */
const MAX_DROPPED = 5

function droppedNotes(repairs: readonly Repair[], tool: string): string[] {
  const dropped = repairs.filter(({ kind }) => kind === 'unknown_dropped')
  const notes = dropped.slice(0, MAX_DROPPED).map(({ parameter }) => `"${parameter}" is not a parameter of ${tool} and had no effect.`)
  const more = dropped.length - notes.length
  return more > 0 ? [...notes, `Nor had ${more} more.`] : notes
}

export const keyOf = (call: PreparedCall): string => `${call.tool} ${call.inputKey}`
export const lockOf = (call: PreparedCall): string => `${call.tool} ${call.target}`

/** Returns all targets of a call. A call without a target has one empty name. */
export const targetsOf = ({ target, targets }: PreparedCall): readonly [string, ...string[]] => {
  return (targets ?? [target]) as readonly [string, ...string[]]
}

function actsOn(tool: Tool, input: unknown): readonly string[] {
  try {
    const targets = tool.target(input as never)
    return Array.isArray(targets) ? targets.map(String) : [String(targets)]
  } catch {
    return []
  }
}

export const about = ({ id, tool }: PreparedCall) => ({ callId: id, tool })

/** Returns the targets of a call with effects for its event, which identify the call if it is cut off later. */
export const actingOn = ({ effect, target, targets }: PreparedCall) => effect !== 'read' && { target, ...(targets && { targets }) }
