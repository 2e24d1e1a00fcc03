/** Repairs one reply part by part: passes parts on as soon as possible, and holds back those that depend on the end. */
import type {
  LanguageModelV4FunctionTool,
  LanguageModelV4ProviderTool,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
} from '@ai-sdk/provider'
import {
  announcements,
  askAgain,
  createReply,
  type FinishedReply,
  indexNames,
  type Repair,
  type ReplyCall,
  type ReplyOptions,
  resolveCall,
  type ToolSpec,
} from '@mulligan/repair'
import { createTextPart, type TextPart } from './text-part.ts'

export type Part = LanguageModelV4StreamPart
type Finish = Extract<Part, { type: 'finish' }>
type Reason = Finish['finishReason']['unified']

export interface StreamRepair {
  /** What goes on in place of a part. Never throws. */
  readonly part: (part: Part) => readonly Part[]
  /** The stream is over: what is still held, where no finish came. */
  readonly end: () => readonly Part[]
  /** After the finish: what to tell the model, where a call was seen or announced and none came out of the reply. */
  readonly askAgain: () => string | undefined
}

export interface StreamRepairOptions extends ReplyOptions {
  readonly onRepair?: (repair: Repair, call: { readonly toolName: string; readonly toolCallId: string }) => void
  /** Called once for a reply that has what looks like a call and was not run. `asked`: the model is asked to make it properly. */
  readonly onQuoted?: (quoted: FinishedReply['quoted'], asked: boolean) => void
  /** Whether the model is asked, once a reply. Default true. */
  readonly asks?: boolean
}

/** What is known about a tool besides what is sent of it. */
export type Traits = Pick<ToolSpec, 'aliases' | 'effect' | 'parameterAliases' | 'repair'>

/** A call as the provider reported it. One that needs no repair has gone on. */
interface Reported {
  readonly part: LanguageModelV4ToolCall
  readonly sent: boolean
}

/** The reply ended before the model was done: whether its last call is whole cannot be known. */
const CUT_SHORT: readonly Reason[] = ['length', 'content-filter', 'error', 'interrupted']
/** Appended to arguments that must not run: what is not JSON is refused, and the model is told. The wire stage writes the same. */
const CUT_OFF = ' [cut off]'

/** @throws TypeError when two tools have the same name */
export function createStreamRepair(
  tools: readonly (LanguageModelV4FunctionTool | LanguageModelV4ProviderTool)[],
  traitsOf: (name: string) => Traits,
  { onRepair, onQuoted, asks = true, ...options }: StreamRepairOptions,
): StreamRepair {
  const specs = tools.flatMap((tool): ToolSpec[] =>
    tool.type === 'function' ? [{ ...traitsOf(tool.name), name: tool.name, parameters: { ...tool.inputSchema } }] : [],
  )
  /** Names of the provider's own tools, whose calls are left alone. */
  const foreign = new Set(tools.flatMap(({ type, name }) => (type === 'provider' ? [name] : [])))
  const names = indexNames(specs)
  const reply = createReply(specs, { ...options, announcements })
  const texts = new Map<string, TextPart>()
  const reported: Reported[] = []
  let settled = false
  /** It has calls, or its thinking is signed: a second reply can't be joined to this one. */
  let isWhole = false
  let told: string | undefined
  /** Something here went wrong: what is left goes on as it comes. */
  let broken = false

  function part(one: Part): readonly Part[] {
    if (broken || settled) return [one]
    try {
      return handle(one)
    } catch {
      broken = true
      const isHeld = one.type === 'text-delta' && texts.has(one.id)
      return isHeld ? rescue() : [...rescue(), one]
    }
  }

  function end(): readonly Part[] {
    if (broken || settled) return []
    try {
      return settle('interrupted').parts
    } catch {
      return rescue()
    }
  }

  const rescue = (): Part[] => [
    ...[...texts.values()].flatMap((text) => text.rescue()),
    ...reported.filter(({ sent }) => !sent).map((call) => call.part),
  ]

  function handle(one: Part): readonly Part[] {
    isWhole ||= /^tool-(?:call|result|approval)/.test(one.type) || (one.type.startsWith('reasoning') && 'providerMetadata' in one)
    switch (one.type) {
      case 'text-start': {
        const before = [...endOf(one.id), ...others()]
        texts.set(one.id, createTextPart(reply, one))
        return before
      }
      case 'text-delta':
        return texts.get(one.id)?.delta(one) ?? [one]
      case 'text-end':
        return texts.has(one.id) ? endOf(one.id, one) : [one]
      case 'finish': {
        const { parts, reason } = settle(one.finishReason.unified)
        return [...parts, reason === one.finishReason.unified ? one : { ...one, finishReason: { ...one.finishReason, unified: reason } }]
      }
      case 'tool-call':
        return [...others(), ...report(one)]
      case 'reasoning-delta':
        reply.reasoning(one.delta)
        return [...others(), one]
      default:
        return [...others(), one]
    }
  }

  const others = (): Part[] => [...texts.values()].flatMap((text) => text.before())

  function endOf(id: string, last?: Extract<Part, { type: 'text-end' }>): readonly Part[] {
    const text = texts.get(id)
    const parts = text?.end(last) ?? []
    texts.delete(id)
    return parts
  }

  /** One that has to be repaired waits, as it may turn out to be cut off, and those after it wait for their turn. */
  function report(call: LanguageModelV4ToolCall): readonly Part[] {
    const isOurs = !call.providerExecuted && !foreign.has(call.toolName)
    // Servers leave out what they should not, and providers pass it on.
    if (!isOurs || typeof call.toolName !== 'string' || typeof call.input !== 'string') return [call]
    const sent = reported.every((earlier) => earlier.sent) && isHealthy(call)
    reported.push({ part: call, sent })
    return sent ? [call] : []
  }

  function isHealthy({ toolName: name, input }: LanguageModelV4ToolCall): boolean {
    const found = resolveCall({ name, input }, names)
    return found.kind === 'checked' && found.checked.ok && found.repairs.length === 0
  }

  function settle(reason: Reason): { readonly parts: readonly Part[]; readonly reason: Reason } {
    settled = true
    const parts = [...texts.keys()].flatMap((id) => endOf(id))
    const cutShort = CUT_SHORT.includes(reason)
    const given = reported.map(({ part: { toolCallId: id, toolName: name, input } }) => ({ id, name, input }))
    const { calls, quoted, unclear } = reply.end(given, { cutShort })
    tellQuoted(quoted, unclear && asks && !isWhole && (reason === 'stop' || reason === 'other'))
    for (const [at, { part: call, sent }] of reported.entries()) {
      if (sent) continue
      // The last call of a reply that was cut short is not repaired.
      if (cutShort && at === reported.length - 1) parts.push(call)
      else parts.push(...calls.filter((one) => one.reported === at).flatMap((one, nth) => (nth === 0 ? replaced(call, one) : added(one))))
    }
    for (const call of calls) if (call.reported === undefined) parts.push(...added(call))
    return { parts, reason: reasonAfter(reason, calls) }
  }

  /** The SDK refuses the reported calls of a reply that was cut short, and runs none of them. */
  function reasonAfter(reason: Reason, calls: readonly ReplyCall[]): Reason {
    const mayRun = reason === 'stop' || reason === 'other' || (reason === 'length' && reported.length === 0)
    return mayRun && calls.length > 0 ? 'tool-calls' : reason
  }

  /** A reported call, repaired. */
  function replaced(part: LanguageModelV4ToolCall, call: ReplyCall): Part[] {
    const { repairs, ...repaired } = repair(call)
    tell(repairs, repaired.toolName, part.toolCallId)
    return [{ ...part, ...repaired }]
  }

  /** A call that no provider reported. */
  function added(call: ReplyCall): Part[] {
    const toolCallId = `call_${crypto.randomUUID()}`
    const { toolName, input, repairs } = repair(call)
    tell(repairs, toolName, toolCallId)
    return [
      { type: 'tool-input-start', id: toolCallId, toolName },
      { type: 'tool-input-delta', id: toolCallId, delta: input },
      { type: 'tool-input-end', id: toolCallId },
      { type: 'tool-call', toolCallId, toolName, input },
    ]
  }

  /** What can't be repaired stays as it is. */
  function repair(call: ReplyCall): { readonly toolName: string; readonly input: string; readonly repairs: readonly Repair[] } {
    const { input: written, repairs, unread, reported } = call
    const name = call.name ?? ''
    // A tool that the provider runs itself can't be called from here.
    const mustNotRun = unread !== undefined || (reported === undefined && (call.cutOff || foreign.has(name)))
    if (mustNotRun) return { toolName: name, input: written + CUT_OFF, repairs }
    const found = resolveCall({ name, input: written, repairs }, names)
    if (found.kind === 'unknown') return { toolName: name, input: written, repairs }
    const toolName = found.tool.name
    const renamed = found.repairs.filter(({ kind }, at) => at < repairs.length || kind === 'name' || kind === 'alias')
    if (found.kind === 'malformed' || !found.checked.ok) return { toolName, input: written, repairs: renamed }
    const isSame = found.repairs.length === renamed.length
    return { toolName, input: isSame ? written : JSON.stringify(found.input), repairs: found.repairs }
  }

  function tellQuoted(quoted: FinishedReply['quoted'], asked: boolean): void {
    if (asked) told = askAgain(quoted)
    try {
      if (quoted.length > 0 || asked) onQuoted?.(quoted, asked)
    } catch {
      // As below.
    }
  }

  function tell(repairs: readonly Repair[], toolName: string, toolCallId: string): void {
    for (const one of repairs) {
      try {
        onRepair?.(one, { toolName, toolCallId })
      } catch {
        // A listener that throws must not break a reply.
      }
    }
  }

  return { part, end, askAgain: () => told }
}
