/** Reads one reply as a provider package delivers it (text, reasoning and reported calls). Returns the text to show and the calls. */

import type { Announcements } from './announcement.ts'
import { fitJson } from './arguments/repair-arguments.ts'
import { canonical } from './canonical.ts'
import type { Family, ToolIndex } from './envelope/family.ts'
import { callsInReasoning, type ReadReply, type ReplyReader, readReply, type Shown, seenInThinking } from './envelope/read-reply.ts'
import { createReplyReader } from './envelope/reader.ts'
import { indexTools } from './envelope/source.ts'
import { isCareful, type TextCall } from './envelope/text-call.ts'
import { leftoverCalls, without } from './leftover.ts'
import { MAX_MARKUP } from './limits.ts'
import type { Repair } from './repair.ts'
import { inputText, lastCutOff, type ReplyCall, replyCallOf, splitCall } from './reported-calls.ts'
import type { ParsedCall } from './resolve-call.ts'
import type { ToolSpec } from './tool-spec.ts'

export interface ReplyOptions {
  /** Families to look for; `families` contains all of them. Only those named are included in a bundle. */
  readonly families: readonly Family[]
  /** The first text begins inside the reasoning, as with GLM and DeepSeek-R1 if the server leaves it in. Default false. */
  readonly opensInReasoning?: boolean
  /** Recognises announcements in languages other than English, before an effect and where no call follows. Default: none. */
  readonly announcements?: Announcements
  /**
   * A person can be asked: a call without markup to a tool with effects is returned with a `doubt` for them to decide. Default false:
   * it is returned as a call that must not run.
   */
  readonly asks?: boolean
  /** The text arrives in one piece and is read at its end. Default false: it is read as it streams in. */
  readonly whole?: boolean
}

export interface FinishedReply extends Shown {
  readonly calls: readonly ReplyCall[]
  /** Text that looks like a call but was not read as one, and why: it is quoted, shown or only announced. It stays in the text. */
  readonly quoted: ReadReply['quoted']
  /** The reply yielded no call, but one may have been meant. The model has to be asked. */
  readonly unclear: boolean
}

export interface EndOptions {
  /**
   * The reply ended before the model was done, so its last call is cut off: the last reported one, or else the last one in the text.
   * Default false.
   */
  readonly cutShort?: boolean
}

export interface Reply {
  /**
   * Adds a piece of text. Returns what can be shown so far.
   * @param id identifies the text if a reply has several; each is read separately
   */
  readonly text: (delta: string, id?: string) => Shown
  /** Ends one of several texts. Returns what remains to be shown of it. */
  readonly endText: (id: string) => ReadReply
  /** Adds a piece of the reasoning reported by the provider, to find calls made there. */
  readonly reasoning: (delta: string) => void
  /**
   * Ends the reply. Returns what remains to be shown, and its calls.
   * @param calls as the provider package reports them
   */
  readonly end: (calls?: readonly ParsedCall[], options?: EndOptions) => FinishedReply
}

const BESIDE = 'another call of this tool was reported in the same reply; make this one again if it was meant'

/** See `FinishedReply.quoted`. */
export const ANNOUNCED = 'announced, and no call was made'

const notRun = (raw: string, why: string): Repair => ({
  kind: 'dropped',
  from: raw,
  to: null,
  why: `another call in the same reply was not run (${why}): make it again if it was meant`,
})

/** With more words than this around it, quoted markup is part of an answer. */
const isFewWords = (text: string): boolean => !/^\P{L}*(?:\p{L}+\P{L}+){12}\p{L}/u.test(text)
/** A longer text is not a single call. In characters. */
const MAX_ALONE = 8000

/** @throws TypeError when two tools have the same name */
export function createReply(tools: readonly ToolSpec[], { families, ...options }: ReplyOptions): Reply {
  const index = indexTools(tools)
  const { announcements, asks = false, whole = false } = options
  const reading = { families, asks, whole, ...(announcements && { announces: announcements.announces }) }
  let { opensInReasoning = false } = options
  /** Texts that have not ended, by id. */
  const readers = new Map<string, ReplyReader>()
  /** All text shown so far. */
  let said = ''
  let thought = ''
  const leaked: TextCall[] = []
  const quoted: ReadReply['quoted'][number][] = []

  function readerOf(id: string): ReplyReader {
    const known = readers.get(id)
    if (known) return known
    const reader = createReplyReader(index, { ...reading, opensInReasoning })
    // Only the first text may begin inside the reasoning.
    opensInReasoning = false
    readers.set(id, reader)
    return reader
  }

  function shown<Part extends Shown>(part: Part): Part {
    said += part.text
    thought += part.reasoning
    return part
  }

  function endText(id: string): ReadReply {
    const read = shown(readerOf(id).end())
    readers.delete(id)
    leaked.push(...read.calls)
    quoted.push(...read.quoted)
    return read
  }

  return {
    text: (delta, id = '') => shown(readerOf(id).push(delta)),
    endText,
    reasoning: (delta) => {
      thought += delta
    },
    end: (given = [], ended) => {
      const before = { text: said.length, reasoning: thought.length }
      for (const id of readers.keys()) endText(id)
      const read = { text: said, reasoning: thought, calls: leaked, quoted }
      const finished = finishReply(read, index, families, ended, announcements, reportedCalls(given, index, families))
      return { ...finished, text: said.slice(before.text), reasoning: thought.slice(before.reasoning) }
    },
  }
}

/**
 * Returns the calls of a finished reply, and the text in it that looks like calls.
 * @param read everything read from its texts
 * @param reported see {@link reportedCalls}; omitted in bundles that only read text
 */
export function finishReply(
  read: ReadReply,
  index: ToolIndex,
  families: readonly Family[],
  { cutShort = false }: EndOptions = {},
  announcements?: Announcements,
  reported: readonly ReplyCall[] = [],
): FinishedReply {
  const { text, reasoning } = read
  const quoted = [...read.quoted]
  const isEmpty = reported.length === 0 && read.calls.length === 0 && text.trim() === ''
  const found = isEmpty ? callsInReasoning(reasoning, index, families) : read.calls
  const inText = found.map(replyCall)
  // The last call is kept even if it equals another so far, because the rest of it is unknown.
  const isCutInText = cutShort && reported.length === 0
  const calls = [
    ...(cutShort ? lastCutOff(reported) : reported),
    ...(isCutInText
      ? [...unreported(inText.slice(0, -1), [], index), ...lastCutOff(inText).slice(-1)]
      : unreported(inText, reported, index)),
  ]
  if (calls.length > 0) return { ...read, calls: withNotRun(calls, quoted), quoted, unclear: false }
  const rest = without(text, quoted)
  const left = leftoverCalls(text, rest, index, families)
  const isAll = left.length > 0 && isFewWords(without(text, left))
  quoted.push(...left.map((one) => ({ ...one, open: isAll })))
  const isHardlyMore = quoted.length > 0 && text.trim().length <= MAX_ALONE && isFewWords(without(rest, left))
  const planned = reasoning === '' || reasoning.length > MAX_MARKUP ? [] : seenInThinking(reasoning, index, families)
  for (const raw of planned) quoted.push({ raw, why: 'in the thinking', open: text.trim() === '' })
  const unclear = isHardlyMore || quoted.some(({ open }) => open)
  const announced = unclear || cutShort || index.names.length === 0 ? undefined : announcements?.announcementIn(text)
  if (announced !== undefined) quoted.push({ raw: announced, why: ANNOUNCED, open: true })
  return { ...read, calls, quoted, unclear: unclear || announced !== undefined }
}

/** Adds a note to the first call about the calls that were not run, so that the model learns of them with its result. */
function withNotRun(calls: readonly ReplyCall[], quoted: ReadReply['quoted']): readonly ReplyCall[] {
  const notes = quoted.filter(({ open }) => open).map(({ raw, why }) => notRun(raw, why))
  return notes.length === 0 ? calls : calls.map((call, at) => (at === 0 ? { ...call, repairs: [...call.repairs, ...notes] } : call))
}

/**
 * Returns the calls in the text that are not among the reported ones: a server that reports a call may also leave its markup in the
 * text. An effect never runs twice, however it is worded. Next to a reported call of the same tool, the model has to repeat the call
 * before it is accepted.
 */
function unreported(found: readonly ReplyCall[], reported: readonly ReplyCall[], index: ToolIndex): readonly ReplyCall[] {
  if (reported.length + found.length < 2) return found
  const known = new Set(found.length > 0 ? reported.map((call) => keyOf(call, index)) : [])
  const tools = new Set(reported.map(({ name }) => index.resolve(name ?? '')))
  return found.flatMap((call) => {
    const tool = index.resolve(call.name ?? '')
    const careful = isCareful(tool)
    if (!careful && reported.length === 0) return [call]
    const key = keyOf(call, index)
    if (known.has(key) && (careful || reported.length > 0)) return []
    if (careful) known.add(key)
    return [careful && tools.has(tool) ? { ...call, unread: BESIDE } : call]
  })
}

/** Returns a key that is equal for calls with the same meaning, however they are written. */
function keyOf({ name, input }: ReplyCall, index: ToolIndex): string {
  const { name: known, parameters = {} } = index.resolve(name ?? '') ?? {}
  const read = fitJson(input, { ...(known !== undefined && { name: known }), repair: 'full' }, parameters)
  return `${known ?? name} ${read.kind === 'checked' && read.checked.ok ? canonical(read.input) : input}`
}

const MARKUP = /[<[{]/

/** Converts the calls reported by a provider package for `finishReply`. */
export const reportedCalls = (given: readonly ParsedCall[], tools: ToolIndex, families: readonly Family[]): readonly ReplyCall[] =>
  given.flatMap((call, at) => callsIn(call, tools, families).map((one): ReplyCall => ({ ...one, reported: at })))

/** Returns the calls contained in one reported call: its name may contain markup, and its arguments several objects. */
function callsIn(call: ParsedCall, tools: ToolIndex, families: readonly Family[]): readonly ReplyCall[] {
  const { id = '', name = null } = call
  if (name && MARKUP.test(name) && !tools.resolve(name)) {
    const input = inputText(call.input)
    const text = name.trimStart() + (/^\s*(\{\s*\})?\s*$/.test(input) ? '' : input)
    const { calls } = readReply(text, tools, { families })
    if (calls.length > 0) return calls.map(replyCall).map((one, at) => (at === 0 ? { ...one, id } : one))
  }
  return tools.resolve(name ?? '') ? splitCall(call) : [replyCallOf(call)]
}

const replyCall = ({ name, tool, input, id, cutOff, unread, doubt, repair }: TextCall): ReplyCall => ({
  id: id ?? '',
  name: tool?.name ?? name,
  input: inputText(input),
  repairs: [repair],
  ...(cutOff && { cutOff }),
  ...(unread !== undefined && { unread }),
  ...(doubt !== undefined && { doubt }),
})
