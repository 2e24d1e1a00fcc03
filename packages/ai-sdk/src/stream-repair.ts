/** Repairs a reply part by part: passes parts on as soon as possible, and holds back those that depend on the end of the reply. */
import type { LanguageModelV4CallOptions, LanguageModelV4Content, LanguageModelV4ToolCall } from '@ai-sdk/provider'
import type { Reply, ReplyCall, ReplyOptions, ToolSpec } from '@mulligan/repair'
import { announcements, askAgain, canHoldCalls, createReply, indexNames, isPlainCall, resolveCall } from '@mulligan/repair'
import type { FinishReason, Part, PartOf } from './middleware.ts'
import type { RepairToolCallsOptions } from './options.ts'
import { createTextPart, type TextPart } from './text-part.ts'

type Options = ReplyOptions & Pick<RepairToolCallsOptions, 'onRepair' | 'onQuoted' | 'asks'>

/** What is known about a tool in addition to what is sent. */
export type Traits = Pick<ToolSpec, 'aliases' | 'effect' | 'parameterAliases' | 'parameters' | 'repair'>

/** A call as the provider reported it. A call that needs no repair was passed on at once. */
interface Reported {
  readonly part: LanguageModelV4ToolCall
  readonly sent: boolean
}

export type StreamRepair = ReturnType<typeof createStreamRepair>

/** Finish reasons of a reply that may end within its last call. */
const CUT_SHORT: readonly FinishReason[] = ['length', 'content-filter', 'error', 'interrupted']
/** Appended to arguments that must not run: the SDK refuses invalid JSON, and tells the model. The wire stage appends the same. */
const CUT_OFF = ' [cut off]'

type SentTools = NonNullable<LanguageModelV4CallOptions['tools']>

/** The tools of a request, indexed. @throws TypeError if two tools have the same name */
export function readTools(tools: SentTools, traitsOf: (name: string) => Traits) {
  const specs = tools.flatMap((tool): ToolSpec[] =>
    tool.type === 'function' ? [{ parameters: { ...tool.inputSchema }, ...traitsOf(tool.name), name: tool.name }] : [],
  )
  /** Names of the provider's own tools, whose calls are not changed. */
  const foreign = new Set(tools.flatMap(({ type, name }) => (type === 'provider' ? [name] : [])))
  return { specs, foreign, names: indexNames(specs) }
}

/** Returns `readTools`, which reads the tools of consecutive requests once if they are the same. */
export function createReadTools(): typeof readTools {
  let sent: SentTools = []
  let last: ReturnType<typeof readTools> | undefined
  const schemaOf = (tool: SentTools[number] | undefined): unknown => tool?.type === 'function' && tool.inputSchema
  const isKnown = (tool: SentTools[number], at: number): boolean => tool.name === sent[at]?.name && schemaOf(tool) === schemaOf(sent[at])
  return (tools, traitsOf) => {
    if (!last || tools.length !== sent.length || !tools.every(isKnown)) {
      last = readTools(tools, traitsOf)
      sent = tools
    }
    return last
  }
}

export function createStreamRepair(
  { specs, foreign, names }: ReturnType<typeof readTools>,
  { onRepair, onQuoted, asks = true, ...options }: Options,
) {
  /** Whether text that may have been meant as a call is reported or asked about. */
  const hasListener = asks || onQuoted !== undefined
  const reading = { ...options, announcements: hasListener ? announcements : { ...announcements, announcementIn: () => undefined } }
  let opened: Reply | undefined
  const replyOf = (): Reply => {
    opened ??= createReply(specs, reading)
    return opened
  }
  const texts = new Map<string, TextPart>()
  const reported: Reported[] = []
  let settled = false
  /** Calls were found in a text that has ended. */
  let anyFound = false
  /** Whether a second reply can be joined to this one: it has no calls and no signed reasoning. */
  let canContinue = true
  let told: string | undefined

  function part(one: Part): readonly Part[] {
    if (settled) return [one]
    try {
      return handle(one)
    } catch {
      const isHeld = one.type === 'text-delta' && texts.has(one.id)
      return [...rescued(), ...(isHeld ? [] : [one])]
    }
  }

  /** @param isFailed the stream ended in an error */
  function end(isFailed = false): readonly Part[] {
    if (settled) return []
    try {
      return isFailed ? failed() : settle('interrupted').parts
    } catch {
      return rescued()
    }
  }

  /** After an error here, everything held back and everything that follows is passed on unchanged. */
  function rescued(): readonly Part[] {
    settled = true
    const calls = reported.filter(({ sent }) => !sent).map((call) => call.part)
    return [...[...texts.values()].flatMap((text) => text.rescue()), ...calls]
  }

  /** What is still held back when the reply fails. The calls of a text that has ended are passed on as calls that can't run. */
  const failed = (): readonly Part[] => (anyFound ? settle('error').parts : rescued())

  function handle(one: Part): readonly Part[] {
    // Some servers omit required fields, and providers pass that on.
    if (one.type === 'text-delta') return (typeof one.delta === 'string' && texts.get(one.id)?.delta(one)) || [one]
    canContinue &&= !/^tool-(?:call|result|approval)/.test(one.type) && !(one.type.startsWith('reasoning') && 'providerMetadata' in one)
    switch (one.type) {
      case 'text-start': {
        const before = [...endOf(one.id), ...others()]
        texts.set(one.id, createTextPart(replyOf(), one))
        return before
      }
      case 'text-end':
        return texts.has(one.id) ? endOf(one.id, one) : [one]
      case 'finish': {
        const { parts, reason } = settle(one.finishReason.unified)
        return [...parts, reason === one.finishReason.unified ? one : { ...one, finishReason: { ...one.finishReason, unified: reason } }]
      }
      case 'tool-call':
        return [...others(), ...report(one)]
      case 'error':
        return [...failed(), one]
      case 'reasoning-delta':
        replyOf().reasoning(one.delta)
    }
    return [...others(), one]
  }

  const others = (): Part[] => [...texts.values()].flatMap((text) => text.before())

  function endOf(id: string, last?: PartOf<'text-end'>): readonly Part[] {
    const text = texts.get(id)
    const parts = text?.end(last) ?? []
    anyFound ||= text?.holdsCalls() === true
    texts.delete(id)
    return parts
  }

  /** A call that has to be repaired waits, because it may be cut off, and so do the calls after it, to keep the order. */
  function report(call: LanguageModelV4ToolCall): readonly Part[] {
    if (!isOurs(call) || typeof call.toolName !== 'string' || typeof call.input !== 'string') return [call]
    const sent = reported.every((earlier) => earlier.sent) && isHealthy(call)
    reported.push({ part: call, sent })
    return sent ? [call] : []
  }

  const isOurs = (call: LanguageModelV4ToolCall): boolean => !call.providerExecuted && !foreign.has(call.toolName)

  function isHealthy({ toolName: name, input }: LanguageModelV4ToolCall): boolean {
    if (isPlainCall(name, input, names)) return true
    const found = resolveCall({ name, input }, names)
    return found.kind === 'checked' && found.checked.ok && found.repairs.length === 0
  }

  /** Returns whether {@link settle} would change nothing about a complete reply, and report nothing. */
  function isWell(content: readonly LanguageModelV4Content[], reason: FinishReason): boolean {
    const { families, opensInReasoning } = options
    const own = content.filter((one) => one.type === 'tool-call').filter(isOurs)
    const texts = content.flatMap((one) => (one.type === 'text' ? [one.text] : []))
    // A reply without a call and without words is searched for calls in its reasoning.
    const isSearched = own.length === 0 && texts.join('').trim() === '' && content.some(({ type }) => type === 'reasoning')
    const isUnchanged = reason === 'tool-calls' || reason === 'stop'
    if (hasListener || opensInReasoning || isSearched || !isUnchanged) return false
    return own.every(isHealthy) && !texts.some((text) => canHoldCalls(text, specs, families))
  }

  function settle(reason: FinishReason): { readonly parts: readonly Part[]; readonly reason: FinishReason } {
    settled = true
    const parts = [...texts.keys()].flatMap((id) => endOf(id))
    // Nothing to pass on or report.
    if (!hasListener && !anyFound && reported.length > 0 && reported.every(({ sent }) => sent))
      return { parts, reason: reasonAfter(reason) }
    const cutShort = CUT_SHORT.includes(reason)
    const given = reported.map(({ part: { toolCallId: id, toolName: name, input } }) => ({ id, name, input }))
    const { calls, quoted, unclear } = replyOf().end(given, { cutShort })
    const asked = unclear && asks && canContinue && (reason === 'stop' || reason === 'other')
    if (asked) told = askAgain(quoted)
    if (quoted.length > 0 || asked) quietly(() => onQuoted?.(quoted, asked))
    for (const [at, { part: call, sent }] of reported.entries()) {
      if (sent) continue
      // The last call of a reply that was cut short is not repaired.
      if (cutShort && at === reported.length - 1) parts.push(call)
      else parts.push(...calls.filter((one) => one.reported === at).flatMap((one, nth) => (nth === 0 ? replaced(call, one) : added(one))))
    }
    for (const call of calls) if (call.reported === undefined) parts.push(...added(call))
    return { parts, reason: calls.length > 0 ? reasonAfter(reason, calls) : reason }
  }

  /**
   * The finish reason of a reply with calls. The SDK also runs those of a reply that ended with `stop`, which therefore stays as it is,
   * unless there are calls that the provider does not know of. It runs none of a reply that was cut short.
   */
  function reasonAfter(reason: FinishReason, calls: readonly ReplyCall[] = []): FinishReason {
    if (reason === 'stop') return calls.some((call) => call.reported === undefined) ? 'tool-calls' : reason
    return reason === 'other' || (reason === 'length' && reported.length === 0) ? 'tool-calls' : reason
  }

  /** A reported call, repaired. */
  const replaced = (part: LanguageModelV4ToolCall, call: ReplyCall): Part[] => [{ ...part, ...repaired(call, part.toolCallId) }]

  /** A call that the provider did not report. */
  function added(call: ReplyCall): Part[] {
    const id = `call_${crypto.randomUUID()}`
    const { toolName, input } = repaired(call, id)
    return [
      { type: 'tool-input-start', id, toolName },
      { type: 'tool-input-delta', id, delta: input },
      { type: 'tool-input-end', id },
      { type: 'tool-call', toolCallId: id, toolName, input },
    ]
  }

  /** Also reports the repairs. What can't be repaired stays unchanged. */
  function repaired(call: ReplyCall, toolCallId: string): { readonly toolName: string; readonly input: string } {
    const { toolName, input, repairs } = repair(call)
    for (const one of repairs) quietly(() => onRepair?.(one, { toolName, toolCallId }))
    return { toolName, input }
  }

  function repair({ name: given, input, repairs, unread, reported, cutOff }: ReplyCall) {
    const name = given ?? ''
    // A tool that the provider runs itself can't be called from here.
    const mustNotRun = unread !== undefined || (reported === undefined && (cutOff || foreign.has(name)))
    if (mustNotRun) return { toolName: name, input: input + CUT_OFF, repairs }
    const found = resolveCall({ name, input, repairs }, names)
    if (found.kind === 'unknown') return { toolName: name, input, repairs }
    const toolName = found.tool.name
    const renamed = found.repairs.filter(({ kind }, at) => at < repairs.length || kind === 'name' || kind === 'alias')
    if (found.kind === 'malformed' || !found.checked.ok) return { toolName, input, repairs: renamed }
    const isSame = found.repairs.length === renamed.length
    return { toolName, input: isSame ? input : JSON.stringify(found.input), repairs: found.repairs }
  }

  return {
    part,
    end,
    isWell,
    isHealthy: (call: LanguageModelV4ToolCall) => reported.some(({ part, sent }) => sent && part === call),
    askAgain: () => told,
  }
}

/** A listener that throws must not break a reply. */
function quietly(listener: () => void): void {
  try {
    listener()
  } catch {
    // Ignored.
  }
}
