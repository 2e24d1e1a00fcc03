/** One reply of a model, as a provider package hands it over: text, reasoning and reported calls, to what to show and the calls in it. */

import type { Announcements } from './announcement.ts'
import { fitJson } from './arguments/fit.ts'
import { distinct, objectsIn } from './arguments/several.ts'
import { canonical } from './canonical.ts'
import type { Family, ToolIndex } from './envelope/family.ts'
import { callsInReasoning, createReplyReader, type ReadReply, type ReplyReader, type Shown, seenInThinking } from './envelope/reader.ts'
import { indexTools } from './envelope/source.ts'
import { isCareful, type TextCall } from './envelope/text-call.ts'
import { leftoverCalls } from './leftover.ts'
import { MAX_MARKUP } from './limits.ts'
import type { Repair } from './repair.ts'
import type { ParsedCall } from './resolve-call.ts'
import type { ToolSpec } from './tool-spec.ts'

export interface ReplyOptions {
  /** Which to look for: `families` has them all. Only those named get into a bundle. */
  readonly families: readonly Family[]
  /** The first text begins inside the reasoning, as GLM's and DeepSeek-R1's does where the server leaves it in. Default false. */
  readonly opensInReasoning?: boolean
  /**
   * Understands what is announced in other languages than English, before an effect, and where no call follows. Default: it
   * is not looked for.
   */
  readonly announcements?: Announcements
  /**
   * A person can be asked: a call with an effect that has no markup comes back with a `doubt` for them to decide about. Default
   * false: it comes back as one that must not run.
   */
  readonly asks?: boolean
}

/** A call of a reply. Its name and arguments may still need repair. */
export interface ReplyCall extends ParsedCall {
  /** Empty if the provider has none. */
  readonly id: string
  readonly name: string | null
  /** Text of the arguments. */
  readonly input: string
  readonly repairs: readonly Repair[]
  /** Which of the reported calls it is, or is a part of; absent for one that came as markup. */
  readonly reported?: number
  readonly cutOff?: true
}

export interface FinishedReply extends Shown {
  readonly calls: readonly ReplyCall[]
  /** What looks like a call and was not read as one, and why: it is quoted, shown, only announced. It stays in the text. */
  readonly quoted: ReadReply['quoted']
  /** No call came out of the reply, and one may have been meant: the model has to be asked. */
  readonly unclear: boolean
}

export interface EndOptions {
  /** The reply ended before the model was done: its last call, reported or else in the text, is cut off. Default false. */
  readonly cutShort?: boolean
}

export interface Reply {
  /** The next piece of a text. Returns what can be shown by now. @param id where a reply has several texts: each is read by itself */
  readonly text: (delta: string, id?: string) => Shown
  /** One of several texts has ended. Returns what is still to be shown of it. */
  readonly endText: (id: string) => ReadReply
  /** The next piece of what the provider reports as reasoning: for calls made there. */
  readonly reasoning: (delta: string) => void
  /** The reply has ended. Returns what is still to be shown, and its calls. @param calls as the provider package reports them */
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

/** Beyond so many words around it, quoted markup is part of an answer. */
const MORE_WORDS = /^\P{L}*(?:\p{L}+\P{L}+){12}\p{L}/u
const isFewWords = (text: string): boolean => !MORE_WORDS.test(text)
/** A longer text is not a single call. */
const MAX_ALONE = 8000

/** @throws TypeError when two tools have the same name */
export function createReply(tools: readonly ToolSpec[], { families, ...options }: ReplyOptions): Reply {
  const index = indexTools(tools)
  const { announcements, asks = false } = options
  const reading = { families, asks, ...(announcements && { announces: announcements.announces }) }
  let { opensInReasoning = false } = options
  /** By id, the texts that have not ended. */
  const readers = new Map<string, ReplyReader>()
  /** All that was shown so far. */
  let said = ''
  let thought = ''
  const leaked: TextCall[] = []
  const quoted: ReadReply['quoted'][number][] = []

  function readerOf(id: string): ReplyReader {
    const reader = readers.get(id) ?? createReplyReader(index, { ...reading, opensInReasoning })
    // Only what comes first may begin inside the reasoning.
    opensInReasoning = false
    readers.set(id, reader)
    return reader
  }

  function shown<Part extends Shown>(part: Part): Part {
    said += part.text
    thought += part.reasoning
    return part
  }

  function reasoning(delta: string): void {
    thought += delta
  }

  function endText(id: string): ReadReply {
    const read = shown(readerOf(id).end())
    readers.delete(id)
    leaked.push(...read.calls)
    quoted.push(...read.quoted)
    return read
  }

  function end(given: readonly ParsedCall[] = [], { cutShort = false }: EndOptions = {}): FinishedReply {
    const before = { text: said.length, reasoning: thought.length }
    for (const id of readers.keys()) endText(id)
    const isEmpty = given.length === 0 && leaked.length === 0 && said.trim() === ''
    const found = isEmpty ? callsInReasoning(thought, index, families) : leaked
    const reported = given.flatMap((call, at) => reportedCalls(call, index, families).map((one): ReplyCall => ({ ...one, reported: at })))
    const inText = found.map(replyCall)
    // Whatever it equals so far: what was to come of the last one is not known.
    const calls = !cutShort
      ? [...reported, ...unreported(inText, reported)]
      : reported.length > 0
        ? [...reported.slice(0, -1), ...cutOff(reported.slice(-1)), ...unreported(inText, reported)]
        : [...unreported(inText.slice(0, -1), []), ...cutOff(inText.slice(-1))]
    const shown = { text: said.slice(before.text), reasoning: thought.slice(before.reasoning) }
    if (calls.length > 0) return { ...shown, calls: withNotRun(calls), quoted, unclear: false }
    const left = leftoverCalls(said, index, families, quoted)
    const isAll = left.length > 0 && isFewWords(left.reduce((rest, { raw }) => rest.replace(raw, ' '), said))
    quoted.push(...left.map((one) => ({ ...one, open: isAll })))
    const hardlyMore = isHardlyMore(said.trim())
    const planned = thought === '' || thought.length > MAX_MARKUP ? [] : seenInThinking(thought, index, families)
    for (const raw of planned) quoted.push({ raw, why: 'in the thinking', open: said.trim() === '' })
    const unclear = hardlyMore || quoted.some(({ open }) => open)
    const announced = unclear || cutShort || index.names.length === 0 ? undefined : announcements?.announcementIn(said)
    if (announced !== undefined) quoted.push({ raw: announced, why: ANNOUNCED, open: true })
    return { ...shown, calls, quoted, unclear: unclear || announced !== undefined }
  }

  /** The first call says which others were not run, so that the model is told with its result. */
  function withNotRun(calls: readonly ReplyCall[]): readonly ReplyCall[] {
    const notes = quoted.filter(({ open }) => open).map(({ raw, why }) => notRun(raw, why))
    return notes.length === 0 ? calls : calls.map((call, at) => (at === 0 ? { ...call, repairs: [...call.repairs, ...notes] } : call))
  }

  /**
   * The calls in the text that are none of those reported: a server that reports a call may leave its markup besides. An
   * effect is not made twice, in whatever words; beside a reported one of its tool it has to be made again to be believed.
   */
  function unreported(found: readonly ReplyCall[], reported: readonly ReplyCall[]): readonly ReplyCall[] {
    if (reported.length + found.length < 2) return found
    const known = new Set(found.length > 0 ? reported.map(keyOf) : [])
    const tools = new Set(reported.map(({ name }) => index.resolve(name ?? '')))
    return found.flatMap((call) => {
      const tool = index.resolve(call.name ?? '')
      const careful = isCareful(tool)
      if (!careful && reported.length === 0) return [call]
      const key = keyOf(call)
      if (known.has(key) && (careful || reported.length > 0)) return []
      if (careful) known.add(key)
      return [careful && tools.has(tool) ? { ...call, unread: BESIDE } : call]
    })
  }

  /** The same for calls that come to the same, however they are written. */
  function keyOf({ name, input }: ReplyCall): string {
    const { name: known, parameters = {} } = index.resolve(name ?? '') ?? {}
    const read = fitJson(input, { ...(known !== undefined && { name: known }), repair: 'full' }, parameters)
    return `${known ?? name} ${read.kind === 'checked' && read.checked.ok ? canonical(read.input) : input}`
  }

  /** Quoted calls with hardly a word around them. */
  const isHardlyMore = (answer: string): boolean =>
    quoted.length > 0 && answer.length <= MAX_ALONE && isFewWords(quoted.reduce((left, { raw }) => left.replace(raw, ' '), answer))

  return { text: (delta, id = '') => shown(readerOf(id).push(delta)), endText, reasoning, end }
}

const cutOff = (calls: readonly ReplyCall[]): readonly ReplyCall[] => calls.map((call) => ({ ...call, cutOff: true }))

const textOf = (input: unknown): string => (typeof input === 'string' ? input : (JSON.stringify(input) ?? ''))

const MARKUP = /[<[{]/

/** The calls that one reported call stands for: markup may have become its name, and several objects its arguments. */
function reportedCalls(call: ParsedCall, tools: ToolIndex, families: readonly Family[]): readonly ReplyCall[] {
  const { id = '', name = null } = call
  const input = textOf(call.input)
  if (name && MARKUP.test(name) && !tools.resolve(name)) {
    const reader = createReplyReader(tools, { families })
    reader.push(name.trimStart())
    if (!/^\s*(\{\s*\})?\s*$/.test(input)) reader.push(input)
    const { calls } = reader.end()
    if (calls.length > 0) return calls.map(replyCall).map((one, at) => (at === 0 ? { ...one, id } : one))
  }
  const objects = tools.resolve(name ?? '') && objectsIn(input)
  const each = objects ? distinct(objects) : []
  if (each.length < 2) return [{ id, name, input, repairs: [] }]
  return each.map((object, at) => ({
    id: at === 0 ? id : '',
    name,
    input: JSON.stringify(object),
    repairs: [{ kind: 'split', from: input, to: object, why: `${each.length} calls that came as one` }],
  }))
}

const replyCall = ({ name, tool, input, id, cutOff, unread, doubt, repair }: TextCall): ReplyCall => ({
  id: id ?? '',
  name: tool?.name ?? name,
  input: textOf(input),
  repairs: [repair],
  ...(cutOff && { cutOff }),
  ...(unread !== undefined && { unread }),
  ...(doubt !== undefined && { doubt }),
})
