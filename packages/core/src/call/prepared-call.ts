/** A prepared call: ready to run, waiting for approval, or done. Plain data. */
import { canonical, type Repair } from '@mulligan/repair'
import type { Confinement, ProposedChanges } from '../layer.ts'
import type { AskedTarget } from '../policy-targets.ts'
import type { ToolResult } from '../result.ts'
import type { Effect, Tool } from '../tool.ts'
import type { ParsedCall, ResolvedCall } from './resolve-call.ts'

/** Which call it is. */
interface CallIdentity {
  /** The engine's own: session/turn/step/ordinal. */
  readonly id: string
  readonly step: number
  readonly ordinal: number
  /** The provider's, as it came. */
  readonly wireId?: string
  readonly tool: string
  /** The name as it came, when it was another. */
  readonly requestedTool?: string
  readonly effect: Effect
  /** What it acts on: a path, a channel. */
  readonly target: string
  /** All that it acts on, whole, where `target` is a list of several or was cut. */
  readonly targets?: readonly string[]
  readonly repairs: readonly Repair[]
}

/** A call that may run. Plain data: an approval can wait for days in another process. */
export interface PreparedCall extends CallIdentity {
  readonly input: Readonly<Record<string, unknown>>
  /** Canonical JSON of the input. */
  readonly inputKey: string
  /** Secret files that it would open. */
  readonly secrets?: readonly string[]
  /** Where it is confined, so that running it has no effect: the effect of its tool is that of keeping what it did on its layer. */
  readonly confinement?: Exclude<Confinement, 'direct'>
  /** Why the model may not have meant it: with an effect, a person has to agree. */
  readonly doubt?: string
  /** Sentences that go with the result. */
  readonly notes: string[]
}

export interface ApprovalRequest {
  readonly callId: string
  readonly tool: string
  readonly effect: Effect
  readonly target: string
  readonly input: Readonly<Record<string, unknown>>
  /** Which of its targets it asks about: those that are not allowed already. */
  readonly asks: readonly AskedTarget[]
  /** Why it asks, for the person. */
  readonly reason: string
  /** Only a person may answer, whatever has been allowed in advance. */
  readonly forced: boolean
  /** What the call has done on its layer: the question is whether to keep that. */
  readonly changes?: ProposedChanges
  /** The calls, by id, that may have taken effect and because of which it asks. A yes says that the person knows of them. */
  readonly indeterminate?: readonly string[]
}

/** What became of a call, for the store, the person and `--json`. */
export interface CallRecord extends CallIdentity {
  /** Canonical where it could be read, otherwise as it came. */
  readonly input: unknown
  /** Executions: 0 when it was refused without running. */
  readonly attempts: number
  readonly result: ToolResult
  readonly durationMs: number
  /** Paths that it changed, of a call that ran on a layer and whose changes were kept. */
  readonly changed?: readonly string[]
}

export type Prepared =
  | { readonly kind: 'result'; readonly record: CallRecord }
  | { readonly kind: 'approval'; readonly call: PreparedCall; readonly request: ApprovalRequest }
  | { readonly kind: 'ready'; readonly call: PreparedCall }

/** A call that ran on a layer and waits for the decision about its changes. Plain data. */
export interface HeldCall {
  readonly kind: 'held'
  readonly call: PreparedCall
  readonly request: ApprovalRequest & { readonly changes: ProposedChanges }
  /** What the call came to, apart from its changes. */
  readonly ran: { readonly result: ToolResult; readonly attempts: number; readonly durationMs: number }
}

/** What running a call comes to: its record, or a question about what it did. */
export type Performed = Extract<Prepared, { readonly kind: 'result' }> | HeldCall

/** What is left when a person has been asked. */
export type Decided = Exclude<Prepared, { readonly kind: 'approval' }>

/** What was understood of a call, in the form in which it is judged, asked about and run. */
export function preparedCall(call: ParsedCall, { tool, input, repairs, refusal, value }: ResolvedCall): PreparedCall {
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

/** The greater of two effects. */
export const greaterEffect = (a: Effect, b: Effect): Effect => (RANK[b] > RANK[a] ? b : a)

/** What it says of itself counts where that is less than its tool does. */
function effectIn(tool: Tool, input: unknown): Effect {
  try {
    const own = tool.effectOf?.(input as never)
    return own !== undefined && RANK[own] < RANK[tool.effect] ? own : tool.effect
  } catch {
    return tool.effect
  }
}

/** Characters of it that are shown and kept. */
const MAX_TARGET = 500
/** Parameters that were dropped and are named one by one. */
const MAX_DROPPED = 5

function droppedNotes(repairs: readonly Repair[], tool: string): string[] {
  const dropped = repairs.filter(({ kind }) => kind === 'unknown_dropped')
  const notes = dropped.slice(0, MAX_DROPPED).map(({ parameter }) => `"${parameter}" is not a parameter of ${tool} and had no effect.`)
  const more = dropped.length - notes.length
  return more > 0 ? [...notes, `Nor had ${more} more.`] : notes
}

export const keyOf = (call: PreparedCall): string => `${call.tool} ${call.inputKey}`
export const lockOf = (call: PreparedCall): string => `${call.tool} ${call.target}`

/** All that it acts on: of a call without a target, nothing by name. */
export const targetsOf = ({ target, targets }: PreparedCall): readonly [string, ...string[]] => {
  const [first = target, ...rest] = targets ?? []
  return [first, ...rest]
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

/** What a call with effects acts on, for its event: if it is cut off later, it is known by that. */
export const actingOn = ({ effect, target, targets }: PreparedCall) => effect !== 'read' && { target, ...(targets && { targets }) }

export const resultEvent = (call: PreparedCall, result: ToolResult) => ({
  type: 'tool.result' as const,
  ...about(call),
  step: call.step,
  effect: call.effect,
  inputKey: call.inputKey,
  result,
})
