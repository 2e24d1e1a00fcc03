/**
 * Gathers the parts of a reply as they arrive. Text is shown as soon as it is known to be text; a call written into the text becomes a
 * call; thinking left in the text becomes reasoning.
 */
import {
  families as all,
  announcements,
  createReply,
  droppedCalls,
  type Family,
  type FinishedReply,
  MAX_CALLS_PER_REPLY,
  type ReplyCall,
  type Shown,
  type ToolSpec,
} from '@mulligan/repair'
import type { AssistantPart, ProviderMetadata } from '../history/message.ts'
import { repetition } from './repetition.ts'

export interface GatherOptions {
  /** The tools of the request, for calls that come as markup. */
  readonly specs: readonly ToolSpec[]
  /** Model families to recognise. Default: all of them. */
  readonly families?: readonly Family[]
  /** Whether the text begins inside the reasoning. Default false. */
  readonly opensInReasoning?: boolean
  /** Maximum characters of reasoning in one reply. Default: no limit. */
  readonly maxReasoning?: number
  readonly onText: (text: string) => void
  readonly onReasoning: (text: string) => void
}

type ReportedCall = Omit<Extract<AssistantPart, { type: 'call' }>, 'callId'>
export type ReplyPart = Exclude<AssistantPart, { type: 'call' }> | ReportedCall

interface Growing {
  type: 'text' | 'reasoning'
  text: string
  metadata?: ProviderMetadata
}

/** The reason why a reply was cut off. */
export type Cut = 'repetition' | 'reasoning-limit'

export interface Gathered {
  readonly parts: readonly ReplyPart[]
  /** Whether no call was found although one may have been meant. */
  readonly unclear: boolean
  /** Text that looks like a call but was not read as one, and why. */
  readonly quoted: FinishedReply['quoted']
}

/** Number of new characters between two checks for repetition. */
const LOOK_EVERY = 1000
/** The id of reasoning found in the text. */
const LEFT_IN_TEXT = 'left in the text'

export function createGathering(options: GatherOptions) {
  const { specs, families = all, opensInReasoning = false, maxReasoning = Infinity, onText, onReasoning } = options
  const reply = createReply(specs, { families, opensInReasoning, announcements, asks: true })
  const parts: (Growing | ReportedCall)[] = []
  let reasoned = 0
  let reported = 0
  const growing = new Map<string, { readonly part: Growing; raw: string; looked: number }>()

  /** Returns the part with this id, creating it if needed. */
  function open(type: Growing['type'], id: string, metadata?: unknown) {
    const key = `${type} ${id}`
    let grown = growing.get(key)
    if (!grown) {
      grown = { part: { type, text: '' }, raw: '', looked: 0 }
      growing.set(key, grown)
      parts.push(grown.part)
    }
    if (metadata) grown.part.metadata = { ...grown.part.metadata, ...(metadata as ProviderMetadata) }
    return grown
  }

  /** Adds a delta. @returns the reason to cut off the reply, if there is one; repeated text has been removed then */
  function add(type: Growing['type'], id: string, delta: string, metadata?: unknown): Cut | undefined {
    const grown = open(type, id, metadata)
    if (type === 'text') show(reply.text(delta), grown.part)
    else {
      reply.reasoning(delta)
      grown.part.text += delta
      showReasoning(delta)
    }
    grown.raw += delta
    if (grown.raw.length - grown.looked >= LOOK_EVERY) {
      grown.looked = grown.raw.length
      if (repetition(grown.raw) !== undefined) {
        grown.part.text = grown.part.text.slice(0, repetition(grown.part.text))
        return 'repetition'
      }
    }
    return reasoned > maxReasoning ? 'reasoning-limit' : undefined
  }

  function showReasoning(text: string): void {
    reasoned += text.length
    onReasoning(text)
  }

  function show({ text, reasoning }: Shown, part: Growing | undefined): void {
    if (reasoning !== '') {
      open('reasoning', LEFT_IN_TEXT).part.text += reasoning
      showReasoning(reasoning)
    }
    if (text === '') return
    const into = part ?? open('text', '').part
    into.text += text
    onText(text)
  }

  /**
   * Returns the shown parts without calls. The calls of a reply that was cut off are never answered, so they must not be in the
   * history.
   */
  const withoutCalls = (): readonly ReplyPart[] => parts.filter((part) => part.type !== 'call').filter(isSaid)

  /** Ends the reply: shows the text held back and determines the calls that were meant. */
  function finish(): Gathered {
    const taken = parts.filter((part) => part.type === 'call')
    // A signed turn must be sent back unchanged: with one call more or less it would be refused.
    const signed = parts.some((part) => part.type !== 'text' && part.metadata !== undefined)
    const { calls, unclear, quoted, ...rest } = reply.end(taken.map(({ wireId, name, input }) => ({ id: wireId, name, input })))
    show(
      rest,
      parts.findLast((part): part is Growing => part.type === 'text'),
    )
    const all = parts.flatMap((part): readonly ReplyPart[] => {
      if (part.type !== 'call' || signed) return [part]
      return calls.filter((call) => call.reported === taken.indexOf(part)).map((call) => toPart(call, part.metadata))
    })
    const leaked = calls.filter((call) => call.reported === undefined).map((call) => toPart(call))
    return { parts: withoutExcess([...all.filter(isSaid), ...leaked], reported - taken.length), unclear, quoted }
  }

  /** Adds a call. Calls beyond {@link MAX_CALLS_PER_REPLY} are only counted. */
  function addCall(call: ReportedCall): void {
    if (++reported <= MAX_CALLS_PER_REPLY) parts.push(call)
  }

  return { open, add, addCall, finish, withoutCalls }
}

/**
 * Limits the calls to the maximum of one reply: markup may contain more, and one reported call may stand for several. The first call
 * states how many were dropped, so that its result tells the model.
 */
function withoutExcess(parts: readonly ReplyPart[], before: number): readonly ReplyPart[] {
  let calls = 0
  const kept = parts.filter((part) => part.type !== 'call' || ++calls <= MAX_CALLS_PER_REPLY)
  const dropped = before + Math.max(0, calls - MAX_CALLS_PER_REPLY)
  const first = kept.findIndex((part) => part.type === 'call')
  return dropped === 0
    ? kept
    : kept.map((part, at) =>
        part.type === 'call' && at === first ? { ...part, repairs: [...(part.repairs ?? []), droppedCalls(dropped)] } : part,
      )
}

const isSaid = (part: ReplyPart): boolean => part.type !== 'text' || part.text !== ''

const toPart = ({ id, name, input, repairs, cutOff, unread, doubt }: ReplyCall, metadata?: ProviderMetadata): ReportedCall => ({
  type: 'call',
  wireId: id,
  name,
  input,
  ...(repairs.length > 0 && { repairs }),
  ...(cutOff && { cutOff }),
  ...(unread !== undefined && { unread }),
  ...(doubt !== undefined && { doubt }),
  ...(metadata && { metadata }),
})
