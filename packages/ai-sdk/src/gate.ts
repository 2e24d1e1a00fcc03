/** Passes the calls of a reply through the engine before the SDK reads them, and gives each a unique id. */
import type { LanguageModelV4CallOptions, LanguageModelV4Content, LanguageModelV4ToolCall } from '@ai-sdk/provider'
import type { Repair } from '@mulligan/repair'
import type { FinishReason, Part, PartOf, Pipeline } from './middleware.ts'
import { withWireForm } from './prompt.ts'
import type { StreamRepair } from './stream-repair.ts'

export interface GateOptions {
  readonly params: LanguageModelV4CallOptions
  /** Whether the provider runs the tool itself. */
  readonly isForeign: (name: string) => boolean
  /** Finds and repairs the calls. Absent if the reply can't contain any. */
  readonly repair: StreamRepair | undefined
  /** Returns and forgets the repairs of a call. */
  readonly repairsOf: (toolCallId: string) => readonly Repair[]
  /** No call may be made: those in the reply are dropped. */
  readonly drops: boolean
  /** Whether a call that needed no repair may run without a decision. */
  readonly accept: (call: LanguageModelV4ToolCall) => boolean
  /** Decides about a call. An earlier decision about it is taken back. */
  readonly admit: (call: LanguageModelV4ToolCall, at: Admission) => Promise<Admitted>
  /** Takes back the decision about a call that is not run. */
  readonly revoke: (call: LanguageModelV4ToolCall) => Promise<void>
  /**
   * Returns the input as parsed by the user's schema, or undefined if the schema rejects it. Set only if signed replies must be sent back
   * unchanged even without a repair.
   */
  readonly readAs: ((call: LanguageModelV4ToolCall) => Promise<unknown>) | undefined
}

export interface Admission {
  readonly ordinal: number
  readonly cutOff: boolean
  readonly repairs: readonly Repair[]
}

export interface Admitted {
  /** The call to pass on. */
  readonly call: LanguageModelV4ToolCall
  readonly needsApproval: boolean
}

interface Held {
  readonly call: LanguageModelV4ToolCall
  readonly repairs: readonly Repair[]
  /** The call as the provider sent it. */
  readonly original: LanguageModelV4ToolCall
  /** The call to pass on, if it was decided about already. */
  readonly admitted?: LanguageModelV4ToolCall
}

export function createGate({ params, isForeign, repair, repairsOf, drops, accept, admit, revoke, readAs }: GateOptions): Pipeline {
  let known: Set<string> | undefined
  /** Ids of earlier calls. Most pieces of a reply are not calls. */
  function taken(): Set<string> {
    known ??= idsIn(params.prompt)
    return known
  }
  const renamed = new Map<string, string>()
  const calls: Held[] = []
  /** Calls that were passed on before the end. */
  const passed: Held[] = []
  const raw = new Map<string, LanguageModelV4ToolCall>()
  /** The provider signed the reply. */
  let isSigned = false
  /** No text follows the last call, so it may be incomplete. */
  let endsInCall = true

  function part(one: Part): readonly Part[] | Promise<readonly Part[]> {
    isSigned ||= isSignedPart(one)
    if (one.type === 'tool-call') {
      raw.set(one.toolCallId, one)
      endsInCall = true
    } else if (one.type === 'text-delta' && one.delta && raw.size > 0) endsInCall = false
    const parts = repair ? repair.part(one) : [one]
    // Only promises are awaited: an unnecessary await costs more than the work.
    const [only] = parts
    if (parts.length === 1 && only) return only.type === 'text-delta' ? parts : pass(only, one.type === 'finish')
    return parts.some(({ type }) => type === 'finish' || type.startsWith('tool-')) ? passAll(parts, one.type === 'finish') : parts
  }

  async function passAll(parts: readonly Part[], isOver: boolean): Promise<readonly Part[]> {
    const passed: Part[] = []
    for (const one of parts) passed.push(...(await pass(one, isOver)))
    return passed
  }

  function pass(one: Part, isOver: boolean): readonly Part[] | Promise<readonly Part[]> {
    if ((one.type === 'tool-input-start' || one.type === 'tool-call') && (one.providerExecuted || isForeign(one.toolName))) return [one]
    switch (one.type) {
      case 'tool-input-start':
        if (taken().has(one.id)) renamed.set(one.id, newId())
        return drops ? [] : [{ ...one, id: idOf(one.id) }]
      case 'tool-input-delta':
      case 'tool-input-end':
        return drops ? [] : [{ ...one, id: idOf(one.id) }]
      case 'tool-call': {
        const { toolCallId: id } = one
        if (drops) return []
        const isHealthy = !(isSigned && readAs) && repair?.isHealthy(one) === true
        return take({ call: { ...one, toolCallId: claim(id) }, repairs: repairsOf(id), original: raw.get(id) ?? one }, isOver, isHealthy)
      }
      case 'finish':
        return finish(one)
      default:
        return [one]
    }
  }

  /** Passes a call on at once if it is healthy and may run. The SDK runs it after the end of the reply. */
  function take(given: Held, isOver: boolean, isHealthy: boolean): readonly Part[] | Promise<readonly Part[]> {
    const { call } = given
    if (isOver || calls.length > 0) return hold(given)
    if (isHealthy && accept(call)) return passOn(given, call)
    return admitAt(given, passed.length, false).then((admitted) =>
      admitted.needsApproval ? hold({ ...given, admitted: admitted.call }) : passOn(given, admitted.call),
    )
  }

  function passOn(given: Held, call: LanguageModelV4ToolCall): readonly Part[] {
    passed.push(given)
    return [call]
  }

  function hold(given: Held): readonly Part[] {
    calls.push(given)
    return []
  }

  async function admitAt({ call, repairs, original }: Held, ordinal: number, cutOff: boolean): Promise<Admitted> {
    const admitted = await admit(call, { ordinal, cutOff, repairs })
    return isSigned ? { ...admitted, call: withWireForm(admitted.call, original, await readAs?.(admitted.call)) } : admitted
  }

  /** Only at the end is it known whether the last call is complete. */
  function finish(one: PartOf<'finish'>): readonly Part[] | Promise<readonly Part[]> {
    const { unified } = one.finishReason
    const isDone = unified === 'stop' || (unified === 'tool-calls' && !drops)
    return isDone && calls.length === 0 ? [one] : settled(one)
  }

  async function settled(one: PartOf<'finish'>): Promise<readonly Part[]> {
    const { unified } = one.finishReason
    const isCut = unified === 'length' && endsInCall
    const count = passed.length + calls.length
    const reason = drops && unified === 'tool-calls' ? 'stop' : unified === 'length' && count > 0 ? 'tool-calls' : unified
    const last = reason === unified ? one : { ...one, finishReason: { ...one.finishReason, unified: reason } }
    // The SDK runs no call of a reply that ended for another reason.
    if (reason !== 'stop' && reason !== 'tool-calls') {
      for (const { call } of [...passed, ...calls]) await revoke(call)
      return [...held(), last]
    }
    const parts: Part[] = []
    for (const [at, given] of calls.splice(0).entries()) parts.push(await admittedLast(given, passed.length + at, isCut, count))
    const cut = isCut && parts.length === 0 ? passed.at(-1) : undefined
    if (cut) await admittedLast({ ...cut, admitted: cut.call }, count - 1, isCut, count)
    return [...parts, last]
  }

  /** The last call of a reply that was cut off is decided about again, because it may be incomplete. */
  async function admittedLast(given: Held, ordinal: number, isCut: boolean, count: number): Promise<LanguageModelV4ToolCall> {
    const cutOff = isCut && ordinal === count - 1
    if (given.admitted && !cutOff) return given.admitted
    return (await admitAt(given, ordinal, cutOff)).call
  }

  const held = (): Part[] => calls.splice(0).map(({ call }) => call)

  const idOf = (id: string): string => renamed.get(id) ?? id

  function claim(id: string): string {
    const claimed = renamed.get(id) ?? (taken().has(id) ? newId() : id)
    renamed.delete(id)
    taken().add(claimed)
    return claimed
  }

  /** Returns whether a complete reply needs no change and no decision. */
  function isWell(content: readonly LanguageModelV4Content[], reason: FinishReason): boolean {
    if (drops || !repair?.isWell(content, reason)) return false
    const own = content.filter((one) => one.type === 'tool-call').filter((one) => !one.providerExecuted && !isForeign(one.toolName))
    const ids = new Set(own.map(({ toolCallId }) => toolCallId))
    return (
      ids.size === own.length &&
      !own.some(({ toolCallId: id }) => taken().has(id)) &&
      !(readAs && content.some(isSignedPart)) &&
      own.every(accept)
    )
  }

  return { part, isWell, end: (isFailed) => [...(repair?.end(isFailed) ?? []), ...held()], askAgain: () => repair?.askAgain() }
}

const isSignedPart = (one: Part | LanguageModelV4Content): boolean =>
  'providerMetadata' in one && /^(reasoning|tool-call)/.test(one.type) && hasValue(one.providerMetadata)

const hasValue = (metadata: PartOf<'tool-call'>['providerMetadata']): boolean =>
  Object.values(metadata ?? {}).some((of) => Object.keys(of ?? {}).length > 0)

const newId = (): string => `call_${crypto.randomUUID()}`

function idsIn(prompt: LanguageModelV4CallOptions['prompt']): Set<string> {
  const ids = new Set<string>()
  for (const { role, content } of prompt)
    if (role === 'assistant') for (const part of content) if (part.type === 'tool-call') ids.add(part.toolCallId)
  return ids
}
