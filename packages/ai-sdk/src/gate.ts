/** Passes the calls of a reply through the engine before the SDK reads them, and gives each a unique id. */
import type { LanguageModelV4CallOptions, LanguageModelV4ToolCall, SharedV4ProviderMetadata } from '@ai-sdk/provider'
import type { Repair } from '@mulligan/repair'
import type { Pipeline } from './middleware.ts'
import type { Part } from './stream-repair.ts'
import { withWireForm } from './wire-form.ts'

export interface GateOptions {
  readonly params: LanguageModelV4CallOptions
  /** A tool that the provider runs itself. */
  readonly isForeign: (name: string) => boolean
  /** Finds and repairs the calls. Absent if there can be none. */
  readonly repair: Pipeline | undefined
  /** What was repaired in a call, reported once. */
  readonly repairsOf: (toolCallId: string) => readonly Repair[]
  /** No call may be made: those that still come are dropped. */
  readonly drops: boolean
  /** The call as it continues. */
  readonly admit: (call: LanguageModelV4ToolCall, at: Admission) => Promise<LanguageModelV4ToolCall>
}

export interface Admission {
  readonly ordinal: number
  readonly cutOff: boolean
  readonly repairs: readonly Repair[]
}

export function createGate({ params, isForeign, repair, repairsOf, drops, admit }: GateOptions): Pipeline {
  /** Ids of the calls before. */
  const taken = new Set(params.prompt.flatMap(({ role, content }) => (role === 'assistant' ? content : [])).flatMap(idsOf))
  const renamed = new Map<string, string>()
  const calls: { readonly call: LanguageModelV4ToolCall; readonly repairs: readonly Repair[]; readonly came: LanguageModelV4ToolCall }[] =
    []

  /** Calls as they came, and whether the provider signed the reply that they are in. */
  const raw = new Map<string, LanguageModelV4ToolCall>()
  let isSigned = false

  async function part(one: Part): Promise<readonly Part[]> {
    isSigned ||= /^(reasoning|tool-call)/.test(one.type) && 'providerMetadata' in one && hasValue(one.providerMetadata)
    if (one.type === 'tool-call') raw.set(one.toolCallId, one)
    const parts: Part[] = []
    for (const repaired of repair ? await repair.part(one) : [one]) parts.push(...(await pass(repaired)))
    return parts
  }

  async function pass(one: Part): Promise<readonly Part[]> {
    switch (one.type) {
      case 'tool-input-start':
        if (one.providerExecuted || isForeign(one.toolName)) return [one]
        if (taken.has(one.id)) renamed.set(one.id, newId())
        return drops ? [] : [{ ...one, id: idOf(one.id) }]
      case 'tool-input-delta':
      case 'tool-input-end':
        return drops ? [] : [{ ...one, id: idOf(one.id) }]
      case 'tool-call':
        if (one.providerExecuted || isForeign(one.toolName)) return [one]
        if (!drops)
          calls.push({
            call: { ...one, toolCallId: claim(one.toolCallId) },
            repairs: repairsOf(one.toolCallId),
            came: raw.get(one.toolCallId) ?? one,
          })
        return []
      case 'finish':
        return finish(one)
      default:
        return [one]
    }
  }

  /** Calls wait for the end: the SDK runs none before it, and only the end says whether the last of them is whole. */
  async function finish(one: Extract<Part, { type: 'finish' }>): Promise<readonly Part[]> {
    const { unified } = one.finishReason
    const isCut = unified === 'length'
    const reason = drops && unified === 'tool-calls' ? 'stop' : isCut && calls.length > 0 ? 'tool-calls' : unified
    const last = reason === unified ? one : { ...one, finishReason: { ...one.finishReason, unified: reason } }
    // The SDK runs no call of a reply that ended in any other way.
    if (reason !== 'stop' && reason !== 'tool-calls') return [...held(), last]
    const parts: Part[] = []
    for (const [ordinal, { call, repairs, came }] of calls.entries()) {
      const admitted = await admit(call, { ordinal, cutOff: isCut && ordinal === calls.length - 1, repairs })
      parts.push(isSigned ? withWireForm(admitted, came) : admitted)
    }
    calls.length = 0
    return [...parts, last]
  }

  const held = (): Part[] => calls.splice(0).map(({ call }) => call)

  const idOf = (id: string): string => renamed.get(id) ?? id

  function claim(id: string): string {
    const claimed = renamed.get(id) ?? (taken.has(id) ? newId() : id)
    renamed.delete(id)
    taken.add(claimed)
    return claimed
  }

  return { part, end: () => [...(repair?.end() ?? []), ...held()], askAgain: () => repair?.askAgain?.() }
}

const hasValue = (metadata: SharedV4ProviderMetadata | undefined): boolean =>
  Object.values(metadata ?? {}).some((of) => Object.keys(of ?? {}).length > 0)

const newId = (): string => `call_${crypto.randomUUID()}`

const idsOf = (part: { readonly type: string; readonly toolCallId?: string }): readonly string[] =>
  part.type === 'tool-call' && part.toolCallId !== undefined ? [part.toolCallId] : []
