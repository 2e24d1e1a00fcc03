/** Families that write a call's name first and then the JSON of its arguments. */
import { matchAt, past, skip, tokenAt } from '../../text.ts'
import type { Family, MarkupCall } from '../family.ts'
import { readNamed } from './call-text.ts'
import { afterCloser, closedBlock } from './closers.ts'

interface TokenGrammar {
  /** Tokens before the first call. */
  readonly begin?: readonly string[]
  /** Token before each call. */
  readonly call: string
  readonly callEnd: readonly string[]
  /** Tokens after the last call, in any number. */
  readonly end: readonly string[]
  /** The text between the call token and the arguments, as a sticky expression whose first group is the name. */
  readonly header: RegExp | ((text: string, at: number) => TokenHeader | undefined)
}

export type TokenHeader = Omit<MarkupCall, 'arguments'> & { readonly end: number }

/** A header cut off by the end of the text, possibly inside a token. */
const CUT = /^[^\s<{]{0,200}(?:<[^\s<>]{0,40})?$/

/** Creates a family of consecutive calls, each between its own tokens. */
export function tokenCalls(id: string, ...dialects: readonly TokenGrammar[]): Family {
  return {
    id,
    openers: dialects.flatMap(({ begin = [], call }) => [...begin, call]),
    read(source, at) {
      const { text } = source
      const grammar = dialects.find(({ begin = [], call }) => tokenAt(text, at, [...begin, call]) !== '')
      if (!grammar) return undefined
      const { begin = [], call: opener, callEnd, end: ends, header } = grammar
      const stops = [...callEnd, ...ends, opener, ...begin]
      const section = tokenAt(text, at, begin)
      const calls: MarkupCall[] = []
      let end = at + section.length
      for (;;) {
        const next = skip(text, end)
        const opened = text.startsWith(opener, next)
        if (!opened && (calls.length > 0 || !section)) break
        const from = opened ? next + opener.length : next
        const head = typeof header === 'function' ? header(text, from) : headerOf(header, text, from)
        if (!head) {
          if (CUT.test(text.slice(from, from + 256))) return { calls, end: text.length, complete: false }
          break
        }
        const { end: after, ...known } = head
        const read = readNamed(source, known, after, stops, true)
        if (!read) break
        calls.push(read.call)
        const block = closedBlock(source, calls, read, callEnd, ' \t\r\n}`')
        if (!block.complete) return { ...block, end: text.length }
        end = block.end
      }
      if (calls.length === 0) return undefined
      for (let next = skip(text, end); afterCloser(text, next, ends) > next; next = skip(text, end)) end = afterCloser(text, next, ends)
      return { calls, end, complete: true }
    },
  }
}

function headerOf(pattern: RegExp, text: string, at: number): TokenHeader | undefined {
  const found = matchAt(pattern, text, at)
  return found && { name: found[1] as string, end: at + found[0].length }
}

interface Headed {
  /** The text before the arguments, as a sticky expression whose first group is the name. */
  readonly head: RegExp
  readonly closers?: readonly string[]
  readonly stops?: readonly string[]
  /** Accept known tool names only. */
  readonly known?: true
}

/** Creates a family of single calls whose name is part of the opening markup. */
export const headedCall = (id: string, openers: readonly string[], { head, closers = [], stops = [], known }: Headed): Family => ({
  id,
  openers,
  read(source, at) {
    const name = matchAt(head, source.text, at)?.[1]
    if (name === undefined || (known && !source.tools.resolve(name))) return undefined
    const read = readNamed(source, { name }, past(head, source.text, at), [...closers, ...stops, ...openers])
    return read && closedBlock(source, [read.call], read, closers, ' \t\r\n}>')
  },
})
