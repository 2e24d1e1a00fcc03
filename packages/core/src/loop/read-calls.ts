/** Determines what a reply says and which calls it makes. */
import {
  askAgain,
  droppedCalls,
  lastCutOff,
  MAX_CALLS_PER_REPLY,
  type ParsedCall,
  type Reply,
  type ReplyCall,
  replyCallOf,
  splitCall,
  type ToolSpec,
} from '@mulligan/repair'
import type { ReadPart, ReadReply, TextDelta } from '../api/api.ts'
import type { ReplyReader } from './leaked-calls.ts'

/** A part of a reply whose text and calls have been read. A call without `raw` was not reported by the provider. */
export type SaidPart =
  | Exclude<ReadPart, { readonly type: 'call' }>
  | { readonly type: 'call'; readonly call: ReplyCall; readonly raw?: Extract<ReadPart, { type: 'call' }>['raw'] }

export interface ReadCalls {
  readonly parts: readonly SaidPart[]
  /** The text, without the markup of calls. */
  readonly text: string
  /** What to tell the model if it has to be asked for a call that it seems to have meant. */
  readonly asks: string | undefined
}

export interface TextReader {
  /** Adds a piece of streamed text. */
  readonly push: (delta: TextDelta) => void
  readonly end: (reply: ReadReply) => ReadCalls
}

const NOTHING = { text: '', reasoning: '' }

/** @param convert returns the calls contained in one reported call */
const reported = (
  given: readonly ParsedCall[],
  cutShort: boolean,
  convert: (call: ParsedCall) => readonly ReplyCall[],
): readonly ReplyCall[] => {
  const calls = given.flatMap((call, at) => convert(call).map((one): ReplyCall => ({ ...one, reported: at })))
  return cutShort ? lastCutOff(calls) : calls
}

/** Reads a reply whose calls are all reported by the provider. */
const reportedOnly: ReplyReader = () => ({
  text: (text) => ({ ...NOTHING, text }),
  endText: () => ({ ...NOTHING, calls: [], quoted: [] }),
  reasoning: () => undefined,
  end: (given = [], { cutShort = false } = {}) => ({ ...NOTHING, calls: reported(given, cutShort, splitCall), quoted: [], unclear: false }),
})

/** @param onText gets the text as soon as it is known not to be part of a call */
export function createTextReader(
  specs: readonly ToolSpec[],
  options: { readonly leaks: ReplyReader | undefined; readonly asks: boolean; readonly whole: boolean },
  onText: ((text: string) => void) | undefined,
): TextReader {
  const { leaks = reportedOnly, ...more } = options
  const reader: Reply = leaks(specs, more)
  const texts: { given: string; shown: string }[] = []

  function show(at: number, given: string, shown: string): void {
    const text = texts[at] ?? { given: '', shown: '' }
    texts[at] = { given: text.given + given, shown: text.shown + shown }
    if (shown !== '') quietly(() => onText?.(shown))
  }

  const push = ({ part, text }: TextDelta): void => {
    if (text !== '') show(part, text, reader.text(text, `${part}`).text)
  }

  /** Returns the text of a part without calls; unchanged if only white space would be missing. */
  function whole(at: number, text: string): string {
    push({ part: at, text: text.slice(texts[at]?.given.length ?? 0) })
    if (!texts[at]) return text
    show(at, '', reader.endText(`${at}`).text)
    const { shown } = texts[at]
    return shown.trim() === text.trim() ? text : shown
  }

  function end({ parts, finish, signed }: ReadReply): ReadCalls {
    const cutShort = finish === 'cut' || finish === 'filtered'
    const read = parts.map((part, at) => {
      if (part.type === 'reasoning') reader.reasoning(part.text)
      return part.type === 'text' ? { ...part, text: whole(at, part.text) } : part
    })
    const given = parts.filter((part) => part.type === 'call')
    const found = reader.end(given, { cutShort })
    const text = read.map((part) => (part.type === 'text' ? part.text : '')).join('')
    // With one call more or less, a signed reply would be refused.
    const calls = signed ? reported(given, cutShort, (call) => [replyCallOf(call)]) : found.calls
    const isLost = signed && given.length === 0 && found.calls.length > 0
    return {
      parts: withCalls(signed ? parts : read, withoutExcess(calls, signed)),
      text,
      asks: found.unclear || isLost ? askAgain(found.quoted) : undefined,
    }
  }

  return { push, end }
}

/** Replaces the reported calls with those that were read, and appends the calls found in the text. */
function withCalls(parts: readonly ReadPart[], calls: readonly ReplyCall[]): readonly SaidPart[] {
  let reported = 0
  const said = parts.flatMap((part): readonly SaidPart[] => {
    if (part.type !== 'call') return part.type === 'text' && part.text.trim() === '' ? [] : [part]
    const at = reported++
    return calls.filter((call) => call.reported === at).map((call, nth) => ({ type: 'call', call, ...(nth === 0 && { raw: part.raw }) }))
  })
  return [...said, ...calls.filter((call) => call.reported === undefined).map((call) => ({ type: 'call' as const, call }))]
}

/** The first call tells the model how many were dropped. */
function withoutExcess(calls: readonly ReplyCall[], signed: boolean): readonly ReplyCall[] {
  const [first, ...rest] = calls.slice(0, signed ? undefined : MAX_CALLS_PER_REPLY)
  const dropped = calls.length - rest.length - 1
  return !first || dropped <= 0 ? calls : [{ ...first, repairs: [...first.repairs, droppedCalls(dropped)] }, ...rest]
}

/** A listener that throws must not break a reply. */
function quietly(listener: () => void): void {
  try {
    listener()
  } catch {
    // Ignored.
  }
}
