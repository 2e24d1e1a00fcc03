/** Gemma 4: `<|tool_call>call:f{k:<|"|>v<|"|>}<tool_call|>`; FunctionGemma: the same with other tokens. */
import type { Block, Family, RawArguments, Source } from '../family.ts'
import { type GemmaReader, readGemmaObject } from '../syntax/gemma-value.ts'
import { afterTrailing, sticky } from '../syntax/json-between.ts'
import { afterCloser, skip } from '../syntax/json-extent.ts'

interface Tokens {
  readonly opener: string
  readonly closer: string
  readonly quote: string
}

/** What is left of the opening token behind an image. Anybody may write that, so the name decides. */
const BROKEN = '<call>'
/** The end of a turn, which may stand for the end of a call. */
const TURN = '<turn|>'

const DIALECTS: readonly Tokens[] = [
  { opener: '<|tool_call>', closer: '<tool_call|>', quote: '<|"|>' },
  { opener: BROKEN, closer: '<tool_call|>', quote: '<|"|>' },
  { opener: '<start_function_call>', closer: '<end_function_call>', quote: '<escape>' },
]
const HEAD = /\s*:?(?:call:\s*([\w.:/-]{1,128})|([\w.:/-]{1,128})(?=\s*\{))\s*/y
/** The text ends before the name. */
const CUT = /\s*(?:c(?:a(?:l(?:l(?::\s*)?)?)?)?)$/y

export const gemma: Family = {
  id: 'gemma',
  openers: DIALECTS.map(({ opener }) => opener),
  strong: true,
  read(source, at) {
    const tokens = DIALECTS.find(({ opener }) => source.text.startsWith(opener, at))
    return tokens && readCall(source, at, tokens)
  },
}

/** A call whose opening token was lost: the name of a tool decides. */
export const readOpened = (source: Source, at: number): Block | undefined =>
  readCall(source, at, { opener: '', closer: '<tool_call|>', quote: '<|"|>' })

function readCall(source: Source, at: number, { opener, closer, quote }: Tokens): Block | undefined {
  const { text } = source
  HEAD.lastIndex = at + opener.length
  const head = HEAD.exec(text)
  const from = HEAD.lastIndex
  const name = head?.[1] ?? head?.[2]
  if (opener === BROKEN && (name === undefined || text[from] !== '{' || !source.tools.exact(name))) return undefined
  if (name === undefined)
    return sticky(CUT, text, at + opener.length) === text.length ? { calls: [], end: text.length, complete: false } : undefined
  const closed = afterCloser(text, from, [closer])
  if (closed > from || from >= text.length) {
    const cut = from >= text.length ? ({ cutOff: true } as const) : {}
    return { calls: [{ name, arguments: { kind: 'object', value: {} }, ...cut }], end: closed, complete: from < text.length }
  }
  if (text[from] !== '{') return undefined
  const reader: GemmaReader = { source, quote, closer, at: from, cut: false }
  const value = readGemmaObject(reader)
  const damage = reader.damage === undefined ? {} : { damage: reader.damage, unsure: true as const }
  if (reader.cut) return { calls: [{ name, arguments: { kind: 'object', value }, cutOff: true }], end: text.length, complete: false }
  const { end, complete } = blockEnd(source, reader, opener)
  // What was read in spite of damage is the model's; what was lost nobody can say, and as text it is refused.
  const given: RawArguments = reader.lost ? { kind: 'unread', text: text.slice(from, end) } : { kind: 'object', value }
  return { calls: [{ name, arguments: given, ...damage }], end, complete }
}

function blockEnd(source: Source, { at, closer, damage }: GemmaReader, opener: string): Pick<Block, 'end' | 'complete'> {
  const { text } = source
  const next = skip(text, at, ' \t\r\n}]')
  const closed = afterCloser(text, next, [closer, TURN])
  if (closed > next) return { end: afterTrailing(text, closed, [TURN]), complete: true }
  if (damage === undefined) return { end: at, complete: true }
  // Damage in the middle: the rest of the call is no answer either.
  const stop = source.find(closer, at)
  const other = source.find(opener, at)
  const own = stop !== -1 && (other === -1 || stop < other)
  return own ? { end: stop + closer.length, complete: true } : { end: other === -1 ? text.length : other, complete: false }
}
