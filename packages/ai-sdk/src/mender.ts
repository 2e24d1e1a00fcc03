/** One reply, part by part: what can go on goes on at once, and what the end decides waits for it. */
import type { LanguageModelV4StreamPart, LanguageModelV4ToolCall } from '@ai-sdk/provider'
import { callsInReasoning, canonical, createReplyReader, type LeakedCall, meantBy, type Repair, type ReplyOptions } from '@mulligan/repair'
import { createTextPart, type TextPart } from './text-part.ts'
import type { Mended, Toolset } from './toolset.ts'

export type Part = LanguageModelV4StreamPart
type Finish = Extract<Part, { type: 'finish' }>
type Reason = Finish['finishReason']['unified']

export interface Mender {
  /** What goes on in the place of a part. Never throws. */
  readonly part: (part: Part) => readonly Part[]
  /** The stream is over: what is still held, where no finish came. */
  readonly end: () => readonly Part[]
}

export interface MenderOptions extends ReplyOptions {
  readonly onRepair?: (repair: Repair, call: { readonly toolName: string; readonly toolCallId: string }) => void
}

/** A call as the provider reported it. One that needs no mending has gone on. */
interface Reported {
  readonly part: LanguageModelV4ToolCall
  readonly sent: boolean
}

/** The reply ended before the model was done: nobody can know whether its last call is whole. */
const CUT_SHORT: readonly Reason[] = ['length', 'content-filter', 'error', 'interrupted']
/** Put after arguments that are not to be run: what is no JSON is refused, and the model is told. The wire stage writes the same. */
const CUT_OFF = ' [cut off]'

export function createMender(tools: Toolset, { onRepair, families: read, opensInReasoning = false }: MenderOptions): Mender {
  const texts = new Map<string, TextPart>()
  const reported: Reported[] = []
  const leaked: LeakedCall[] = []
  let thoughts = ''
  let anyText = false
  let isFirst = true
  let settled = false
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
    switch (one.type) {
      case 'text-start': {
        const before = [...endOf(one.id), ...others()]
        // What comes first may be thinking; what comes after it is not.
        const reader = createReplyReader(tools.index, { families: read, opensInReasoning: opensInReasoning && isFirst })
        isFirst = false
        texts.set(one.id, createTextPart(reader, { start: one, onReasoning: think }))
        return before
      }
      case 'text-delta':
        return said(texts.get(one.id)?.delta(one) ?? [one])
      case 'text-end':
        return texts.has(one.id) ? endOf(one.id, one) : [one]
      case 'finish': {
        const { parts, reason } = settle(one.finishReason.unified)
        return [...parts, reason === one.finishReason.unified ? one : { ...one, finishReason: { ...one.finishReason, unified: reason } }]
      }
      case 'tool-call':
        return [...others(), ...report(one)]
      case 'reasoning-delta':
        think(one.delta)
        return [...others(), one]
      default:
        return [...others(), one]
    }
  }

  function think(text: string): void {
    thoughts += text
  }

  function said(parts: readonly Part[]): readonly Part[] {
    anyText ||= parts.some((one) => one.type === 'text-delta' && one.delta.trim() !== '')
    return parts
  }

  const others = (): Part[] => [...texts.values()].flatMap((text) => text.before())

  function endOf(id: string, last?: Extract<Part, { type: 'text-end' }>): readonly Part[] {
    const ended = texts.get(id)?.end(last)
    texts.delete(id)
    leaked.push(...(ended?.calls ?? []))
    return said(ended?.parts ?? [])
  }

  /** One that has to be mended waits, as it may turn out to be cut off, and those after it wait for their turn. */
  function report(call: LanguageModelV4ToolCall): readonly Part[] {
    const isOurs = !call.providerExecuted && !tools.foreign.has(call.toolName)
    // Servers leave out what they should not, and providers hand it on.
    if (!isOurs || typeof call.toolName !== 'string' || typeof call.input !== 'string') return [call]
    const sent = reported.every((earlier) => earlier.sent) && isHealthy(call)
    reported.push({ part: call, sent })
    return sent ? [call] : []
  }

  function isHealthy({ toolName, input }: LanguageModelV4ToolCall): boolean {
    const { fits, repairs } = tools.mend(toolName, input)
    return fits && repairs.length === 0
  }

  function settle(reason: Reason): { readonly parts: readonly Part[]; readonly reason: Reason } {
    settled = true
    const parts = [...texts.keys()].flatMap((id) => endOf(id))
    const isCut = CUT_SHORT.includes(reason)
    const known = new Set<string>()
    for (const [at, { part: call, sent }] of reported.entries()) {
      // The last call of a reply that was cut short is nobody's to mend.
      const mended = sent || (isCut && at === reported.length - 1) ? [call] : mend(call)
      for (const one of mended) if (one.type === 'tool-call') known.add(keyOf(one))
      if (!sent) parts.push(...mended)
    }
    if (reported.length === 0 && leaked.length === 0 && !anyText) leaked.push(...callsInReasoning(thoughts, tools.index, read))
    for (const [at, call] of leaked.entries()) {
      // A tool that the provider runs itself can't be called from here.
      const isUnsure =
        call.cutOff ||
        call.unread !== undefined ||
        tools.foreign.has(call.name) ||
        (isCut && reported.length === 0 && at === leaked.length - 1)
      const input = typeof call.input === 'string' ? call.input : JSON.stringify(call.input)
      const mended = isUnsure
        ? { name: call.tool?.name ?? call.name, input: input + CUT_OFF, repairs: [] }
        : tools.mend(call.tool?.name ?? call.name, input)
      // A server that reports a call may leave its markup in the text besides.
      if (!known.has(keyOf({ toolName: mended.name, input: mended.input }))) parts.push(...opened(mended, [call.repair]))
    }
    return { parts, reason: reasonAfter(reason) }
  }

  /** In a reply that was cut short the calls that were reported are the SDK's to refuse, and it runs none of them. */
  function reasonAfter(reason: Reason): Reason {
    const mayRun = reason === 'stop' || reason === 'other' || (reason === 'length' && reported.length === 0)
    return mayRun && reported.length + leaked.length > 0 ? 'tool-calls' : reason
  }

  /** The calls that a reported one stands for. */
  function mend(call: LanguageModelV4ToolCall): Part[] {
    const { toolCallId, toolName, input } = call
    return meantBy({ id: toolCallId, name: toolName, input }, tools.index, read).flatMap((meant, at) => {
      const name = meant.name ?? toolName
      const mended = meant.unread === undefined ? tools.mend(name, meant.input) : { name, input: meant.input + CUT_OFF, repairs: [] }
      if (at > 0) return opened(mended, meant.repairs)
      tell([...meant.repairs, ...mended.repairs], mended.name, toolCallId)
      return [{ ...call, toolName: mended.name, input: mended.input }]
    })
  }

  /** A call that no provider reported. */
  function opened({ name: toolName, input, repairs }: Omit<Mended, 'fits'>, before: readonly Repair[]): Part[] {
    const toolCallId = `call_${crypto.randomUUID()}`
    tell([...before, ...repairs], toolName, toolCallId)
    return [
      { type: 'tool-input-start', id: toolCallId, toolName },
      { type: 'tool-input-delta', id: toolCallId, delta: input },
      { type: 'tool-input-end', id: toolCallId },
      { type: 'tool-call', toolCallId, toolName, input },
    ]
  }

  function tell(repairs: readonly Repair[], toolName: string, toolCallId: string): void {
    for (const repair of repairs) {
      try {
        onRepair?.(repair, { toolName, toolCallId })
      } catch {
        // A log must not break a reply.
      }
    }
  }

  return { part, end }
}

function keyOf({ toolName, input }: Pick<LanguageModelV4ToolCall, 'toolName' | 'input'>): string {
  try {
    return `${toolName} ${canonical(JSON.parse(input))}`
  } catch {
    return `${toolName} ${input}`
  }
}
