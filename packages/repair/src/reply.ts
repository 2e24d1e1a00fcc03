/** One reply of a model, as a provider package hands it over: text, reasoning and calls, to the calls that were meant. */

import { repairArguments } from './arguments/repair-arguments.ts'
import { distinct, objectsIn } from './arguments/several.ts'
import { canonical } from './canonical.ts'
import type { Family, ToolIndex } from './envelope/family.ts'
import { isCareful, type LeakedCall } from './envelope/leaked.ts'
import { callsInReasoning, createReplyReader, type ReadReply, type Shown } from './envelope/reader.ts'
import { indexTools } from './envelope/source.ts'
import type { Repair } from './repair.ts'
import type { ToolSpec } from './tool-spec.ts'

export interface ReplyOptions {
  /** Which to look for: `families` has them all. Only those named get into a bundle. */
  readonly families: readonly Family[]
  /** The text begins inside the reasoning, as GLM's and DeepSeek-R1's does where the server leaves it in. Default false. */
  readonly opensInReasoning?: boolean
}

/** A call as the provider package reports it. */
export interface WireCall {
  readonly id: string
  readonly name: string | null
  /** Text of the arguments. */
  readonly input: string
}

/** A call that was meant. Its arguments may still need repair. */
export interface MeantCall {
  /** The provider's id; empty where it has none. */
  readonly id: string
  readonly name: string | null
  /** Text of the arguments. */
  readonly input: string
  readonly repairs: readonly Repair[]
  /** Which of the reported calls it is, or is a part of; absent for one that came as markup. */
  readonly reported?: number
  /** The reply ended inside it. */
  readonly cutOff?: true
  /** Why it is not to be run, whatever its text reads as: `input` is the markup that nobody could read. */
  readonly unread?: string
}

export interface FinishedReply extends Shown {
  readonly calls: readonly MeantCall[]
  /** Markup that was not read as a call, because it is quoted or shown. It stays in the text. */
  readonly quoted: ReadReply['quoted']
  /** The text is markup that was not read as a call, and hardly more: if it was meant, the model has to be asked. */
  readonly unclear: boolean
}

export interface Reply {
  /** The next piece of text. Returns what can be shown by now. */
  readonly text: (delta: string) => Shown
  /** The next piece of what the provider reports as reasoning: for calls made there. */
  readonly reasoning: (delta: string) => void
  /** The reply has ended. Returns what is still to be shown, and its calls. */
  readonly end: (calls?: readonly WireCall[]) => FinishedReply
}

const BESIDE = 'another call of this tool was reported in the same reply; make this one again if it was meant'

/** Beyond so many words around it, quoted markup is part of an answer. */
const FEW_WORDS = 12
const isFewWords = (text: string): boolean => (text.match(/\p{L}+/gu)?.length ?? 0) <= FEW_WORDS
/** A longer text is no single call. */
const MAX_FENCED = 8000
const FENCED = /^([^`]{0,200})(`{1,3})(?:[\w-]*\n)?([^`]+)\2([^`]{0,200})$/

/** @throws TypeError when two tools have the same name */
export function createReply(tools: readonly ToolSpec[], { families, opensInReasoning = false }: ReplyOptions): Reply {
  const index = indexTools(tools)
  const reader = createReplyReader(index, { families, opensInReasoning })
  const thoughts: string[] = []
  const texts: string[] = []

  function text(delta: string): Shown {
    const shown = reader.push(delta)
    texts.push(shown.text)
    thoughts.push(shown.reasoning)
    return shown
  }

  function end(wire: readonly WireCall[] = []): FinishedReply {
    const { calls: leaked, quoted, ...shown } = reader.end()
    const said = (texts.join('') + shown.text).trim()
    const empty = wire.length === 0 && leaked.length === 0 && said === ''
    const found = empty ? callsInReasoning(thoughts.join('') + shown.reasoning, index, families) : leaked
    const reported = wire.flatMap((call, at) => meantBy(call, index, families).map((one): MeantCall => ({ ...one, reported: at })))
    const calls = [...reported, ...unreported(found, reported)]
    const unclear = calls.length === 0 && (quoted.some(({ open }) => open) || isHardlyMore(said, quoted))
    return { ...shown, calls, quoted, unclear }
  }

  /**
   * The calls in the text that are none of those reported: a server that reports a call may leave its markup besides. An
   * effect is not made twice, in whatever words; beside a reported one of its tool it has to be made again to be believed.
   */
  function unreported(found: readonly LeakedCall[], reported: readonly MeantCall[]): readonly MeantCall[] {
    const known = new Set(reported.map(keyOf))
    const tools = new Set(reported.map(({ name }) => index.resolve(name ?? '')))
    const calls: MeantCall[] = []
    for (const leaked of found) {
      const call = fromLeaked(leaked)
      const key = keyOf(call)
      const careful = isCareful(leaked.tool)
      if (known.has(key) && (careful || reported.length > 0)) continue
      if (careful) known.add(key)
      calls.push(careful && tools.has(leaked.tool) ? { ...call, unread: BESIDE } : call)
    }
    return calls
  }

  /** The same for calls that come to the same, however they are written. */
  function keyOf({ name, input }: MeantCall): string {
    const tool = index.resolve(name ?? '')
    const read = repairArguments(input, tool?.parameters ?? {}, { level: 'full', ...(tool && { name: tool.name }) })
    return `${tool?.name ?? name} ${read.ok ? canonical(read.value) : input}`
  }

  /** Quoted calls with hardly a word around them, or a single fence with a call in it. */
  function isHardlyMore(said: string, quoted: ReadReply['quoted']): boolean {
    if (said.length > MAX_FENCED) return false
    const rest = quoted.reduce((left, { raw }) => left.replace(raw, ' '), said)
    if (quoted.length > 0 && isFewWords(rest)) return true
    const [, before = '', , inner, after = ''] = FENCED.exec(said) ?? []
    if (inner === undefined || !isFewWords(before + after)) return false
    const alone = createReplyReader(index, { families })
    alone.push(inner)
    return alone.end().calls.some(({ tool }) => tool)
  }

  return { text, reasoning: (delta) => thoughts.push(delta), end }
}

const MARKUP = /[<[{]/

/** The calls that one reported call stands for: markup may have become its name, and several objects its arguments. */
export function meantBy(call: WireCall, tools: ToolIndex, families: readonly Family[]): readonly MeantCall[] {
  const { id, name, input } = call
  if (name && MARKUP.test(name) && !tools.resolve(name)) {
    const reader = createReplyReader(tools, { families })
    reader.push(name.trimStart())
    if (!/^\s*(\{\s*\})?\s*$/.test(input)) reader.push(input)
    const { calls } = reader.end()
    if (calls.length > 0) return calls.map(fromLeaked).map((one, at) => (at === 0 ? { ...one, id } : one))
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

const fromLeaked = ({ name, tool, input, id, cutOff, unread, repair }: LeakedCall): MeantCall => ({
  id: id ?? '',
  name: tool?.name ?? name,
  input: typeof input === 'string' ? input : JSON.stringify(input),
  repairs: [repair],
  ...(cutOff && { cutOff }),
  ...(unread !== undefined && { unread }),
})
