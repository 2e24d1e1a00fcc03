/** The tags of calls written as elements, in the spelling of a family. */
import { isName, matchAt } from './tags.ts'
import type { Mark, Markup } from './value.ts'

/** How a family spells its elements. */
export interface Spelling {
  /** The element of a call: `function`, `invoke`. */
  readonly call: string
  /** The elements that calls stand in, as a regular expression: `tool_call|function_calls`. */
  readonly wrappers: string
  /** What stands before each of these names, as a regular expression: `(?:seed:)?`. */
  readonly prefix: string
  /** One line break after the opening and one before the closing tag of a value belong to the markup; `both`: only where both are. */
  readonly lines: boolean | 'both'
  /** Elements of any name inside a call are parameters: `<invoke name="bash"><command>ls</command></invoke>`. */
  readonly children: boolean
  /** A call without a tag around it is as it should be. */
  readonly bare?: true
}

type Element = 'call' | 'parameter' | 'wrapper'

export interface Tag {
  readonly element: Element
  readonly closing: boolean
  /** `<invoke name="f"/>`. */
  readonly empty: boolean
  /** What stands after the name of the element. */
  readonly rest: string
  readonly at: number
  readonly end: number
}

export interface Grammar extends Spelling {
  readonly markup: Markup
  readonly tagAt: (text: string, at: number) => Tag | undefined
  /** The closing tag of a call, of what calls stand in, or a new call; or the end. */
  readonly isOver: (text: string, at: number) => boolean
  /** At the end of a value that no closing tag ends: a tag that was to close it. */
  readonly last: RegExp
}

/** Compiles a spelling. */
export function grammarOf(spelling: Spelling): Grammar {
  const { call, wrappers, prefix } = spelling
  const pattern = `<(/?)${prefix}(?:(${call})|(param(?:eter)?)|(?:${wrappers}))((?:(?:[\\s=Ġ]|name=)[^<>]{0,300}|/)?)>`
  const anywhere = new RegExp(pattern, 'g')
  const here = new RegExp(pattern, 'y')
  const blank = '(?:\\s|\\\\[nrt])*'
  const over = `$|</[^\\s<>]*$|</${prefix}(?:${call}|${wrappers})>|<${prefix}(?:${call}(?:[\\s=Ġ]|name=)|(?:${wrappers})>)`
  const isOver = new RegExp(`${blank}(?:${over})`, 'y')
  const goesOn = new RegExp(`${blank}(?:${over}|</?${prefix}param(?:eter)?(?:[\\s=>Ġ]|name=))`, 'y')
  const tagOf = (found: RegExpExecArray): Tag => {
    const rest = found[4] ?? ''
    return {
      element: found[2] ? 'call' : found[3] ? 'parameter' : 'wrapper',
      closing: found[1] === '/',
      empty: found[1] === '' && rest.endsWith('/'),
      rest: rest.replace(/\/$/, ''),
      at: found.index,
      end: found.index + found[0].length,
    }
  }
  return {
    ...spelling,
    tagAt: (text, at) => {
      const found = text[at] === '<' ? matchAt(here, text, at) : undefined
      return found && tagOf(found)
    },
    isOver: (text, at) => matchAt(isOver, text, at) !== undefined,
    last: new RegExp(`</?${prefix}(?:${call}|${wrappers})>\\s*$`),
    markup: {
      next: (text, from) => {
        anywhere.lastIndex = from
        for (let found = anywhere.exec(text); found; found = anywhere.exec(text)) {
          const mark = markOf(tagOf(found))
          if (mark) return mark
        }
        return undefined
      },
      goesOn: (text, at) => matchAt(goesOn, text, at) !== undefined,
      isOver: (text, at) => matchAt(isOver, text, at) !== undefined,
    },
  }
}

function markOf(tag: Tag): Mark | undefined {
  const { at, end } = tag
  if (tag.closing) return { kind: tag.element === 'parameter' ? 'value-close' : `${tag.element}-close`, at, end }
  if (tag.empty || tag.element === 'wrapper' || labelOf(tag.rest) === undefined) return undefined
  return { kind: tag.element, at, end }
}

/** The name in `=f`, `="f"`, ` name="f"`: the space may be the letter that stands for it in a vocabulary, or lost. */
export function labelOf(rest: string): string | undefined {
  const found = /^\s*=\s*(["']?)([^"'=\s]+)\1\s*$/.exec(rest) ?? /(?:^|[\sĠ])name\s*=\s*(["']?)([^"'\s]+)\1/.exec(rest)
  const label = found?.[2]
  return label !== undefined && isName(label) ? label : undefined
}
