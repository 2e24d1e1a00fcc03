/**
 * Determines where in an answer a piece of markup is: in a fence, inline code, quotes, or another speaker's words. A quoted call is
 * not a call.
 */

/** The code fences and elements that are open after some text. */
export interface Place {
  /** The run of backticks or tildes that opened a fence. */
  readonly fence: string | undefined
  /** Elements opened at the start of a line, innermost last. */
  readonly elements: readonly string[]
}

export const OUTSIDE: Place = { fence: undefined, elements: [] }

/** Returns the place after `text`, which began at the start of a line. Its last line may be unfinished. */
export function placeAfter(text: string, before: Place = OUTSIDE): Place {
  return { fence: fenceAfter(text, before.fence), elements: elementsAfter(text, before.elements) }
}

const RUN = /`{3,}|~{3,}/g
/** Text allowed before a fence: indentation and list or quote markers. */
const BEFORE_FENCE = /^[ \t]{0,12}(?:[-*+>] +|\d+[.)] +)*$/

function fenceAfter(text: string, before: string | undefined): string | undefined {
  let fence = before
  RUN.lastIndex = 0
  for (let found = RUN.exec(text); found; found = RUN.exec(text)) {
    const [run] = found
    const at = found.index
    const newline = text.indexOf('\n', at)
    const end = newline === -1 ? text.length : newline
    // Only the first run in a line can be a fence.
    RUN.lastIndex = end
    const rest = text.slice(at + run.length, end)
    const isFirst = BEFORE_FENCE.test(text.slice(text.lastIndexOf('\n', at) + 1, at))
    if (fence === undefined) {
      // The first line of a backtick fence contains no other backticks: ```x``` is inline code. After words, only a language may
      // follow.
      if (isFirst ? run[0] === '~' || !rest.includes('`') : /^[\w-]*\s*$/.test(rest) && newline !== -1) fence = run
    } else if (isFirst && run[0] === fence[0] && run.length >= fence.length && rest.trim() === '') fence = undefined
  }
  return fence
}

/** A tag at the start of a line. */
const TAG = /(?:^|\n)[ \t]{0,20}<(\/?)([A-Za-z][\w.:-]{0,60})(?:[^\S\n][^<>\n]{0,300})?>/g
/** Call markup and void elements, which do not quote their content. */
const NO_QUOTE =
  /^(?:tool_calls?|toolcall|function_calls?|invoke|parameters?|function|arg_key|arg_value|tools?_sep|seed:tool_call|longcat_tool_call|minimax:tool_call|antml:.*|think(?:ing)?|reasoning|seed:think|br|hr|img|input|meta|link|p|li|ul|ol)$/i
const MAX_ELEMENTS = 50

function elementsAfter(text: string, before: readonly string[]): readonly string[] {
  let elements = before
  if (!text.includes('<')) return elements
  for (const { index, 0: tag, 1: slash, 2: name = '' } of text.matchAll(TAG)) {
    const element = name.toLowerCase()
    if (NO_QUOTE.test(element)) continue
    if (slash === '') {
      const [line = ''] = text.slice(index + tag.length, index + tag.length + MAX_LINE).split('\n', 1)
      if (elements.length < MAX_ELEMENTS && !line.toLowerCase().includes(`</${element}>`)) elements = [...elements, element]
    } else if (elements.includes(element)) elements = elements.slice(0, elements.lastIndexOf(element))
  }
  return elements
}

/** How far to look for an element's closing tag on the same line. */
const MAX_LINE = 2000

/** Elements in which people and models show what somebody else wrote, wherever on a line they begin. */
const QUOTING =
  /<(\/?)(code|pre|samp|kbd|q|blockquote|quote|example|output|result|stdout|stderr|tool_response|tool_result|scratchpad|plan|reflection|analysis)(?:\s[^<>]{0,200})?>/gi
/** Marks of another speaker's turn. */
const OTHERS =
  /<\|(?:im_start(?!\|>\s*[[{])|start_header_id|observation|user|system|tool_response)\|?>|\[TOOL_RESULTS\]|\[INST\]|<｜tool▁outputs?▁begin｜>|<\|tool▁outputs?▁begin\|>|<\|end_header_id\|>|^[ \t]*(?:Observation|Tool (?:result|output|response)|Function (?:result|output|response)|User|Human|System)[ \t]*:/im
const LONG_QUOTES = ['"""', "'''"]
const ENCLOSING: readonly (readonly [open: string, close: string])[] = [
  ['<!--', '-->'],
  ['/*', '*/'],
  ['<![CDATA[', ']]>'],
  ['\\begin{verbatim}', '\\end{verbatim}'],
  ['[TOOL_RESULTS]', '[/TOOL_RESULTS]'],
]
/** Prefixes of lines in a diff, a listing, a footnote or a table. */
const LISTED = /^[ \t]*(?:\+ ?|\d+[:|\t] ?|[\w./-]+:\d+:|\[\^\w+\]:|\|)/

/** Returns why the text between `before` and `after` is quoted, or undefined if nothing indicates that it is. */
export function quotedBetween(before: string, after: string, { fence, elements }: Place): string | undefined {
  if (fence !== undefined) return 'in a code fence'
  const line = before.slice(before.lastIndexOf('\n') + 1)
  const paragraph = before.slice(before.lastIndexOf('\n\n') + 1)
  if (/(?:^|\n)\s{0,3}(?:[-*+] |\d+[.)] )?\s*>(?!>>)[^\n]*(?:\n[^\n]*)?$/.test(paragraph) && !/^\s*>>>/.test(line))
    return 'in a block quote'
  if ((paragraph.match(/`+/g)?.length ?? 0) % 2 === 1) return 'in inline code'
  const isOdd = odd(line, '"')
  if (/(?:["“«「『‹]|(?:^|[\s(:=])['‘])$/.test(line) && (!line.endsWith('"') || isOdd)) return 'in quotes'
  if ((isOdd && /^[^\n]*"/.test(after)) || LONG_QUOTES.some((quote) => odd(before, quote))) return 'in quotes'
  if (/^(?: {4}|\t)/.test(line) && before.trim() !== '') return 'in an indented block'
  if (/^\s*(?:\/\/|#|\*|--)\s/.test(line)) return 'in a comment'
  if (ENCLOSING.some(([open, close]) => before.lastIndexOf(open) > before.lastIndexOf(close))) return 'in a comment'
  if (LISTED.test(line)) return 'in a listing'
  if (/:[ \t]*[|>][-+]?[ \t]*\n\s*$/.test(before)) return 'in a listing'
  if (OTHERS.test(before)) return 'said by somebody else'
  if (elements.length > 0) return `inside <${elements.at(-1)}>`
  const closed = /^\s*<\/([A-Za-z][\w.:-]*)>/.exec(after)?.[1]
  if (closed !== undefined && !NO_QUOTE.test(closed)) return `inside <${closed}>`
  const open = openIn(line)
  return open === undefined ? undefined : `inside <${open}>`
}

function openIn(line: string): string | undefined {
  const open: string[] = []
  for (const [, slash, name = ''] of line.matchAll(QUOTING)) {
    if (slash === '') open.push(name.toLowerCase())
    else if (open.includes(name.toLowerCase())) open.length = open.lastIndexOf(name.toLowerCase())
  }
  return open.at(-1)
}

const odd = (text: string, part: string): boolean => (text.split(part).length - 1) % 2 === 1

const MAX_FENCE_LINE = 200

export type Lines = ReturnType<typeof linesOf>

/**
 * Tracks the lines and fences of a text for increasing positions, so that every character is scanned only once.
 * @param before the place at `from`, which is the start of a line
 */
export function linesOf(text: string, before: Place = OUTSIDE, from = 0) {
  let start = from
  let next = text.indexOf('\n', from)
  let place = before
  let placed = from
  let floor = 0

  /** Returns the start of the line that contains `at`. */
  function startOf(at: number): number {
    while (next !== -1 && next < at) {
      start = next + 1
      next = text.indexOf('\n', start)
    }
    return start
  }

  /** Returns the place at `at`. */
  function placeAt(at: number): Place {
    const line = startOf(at)
    if (line > placed) {
      place = placeAfter(text.slice(placed, line), place)
      placed = line
    }
    // A fence can only open at the start of its line.
    return at - line > MAX_FENCE_LINE ? place : placeAfter(text.slice(line, at), place)
  }

  /** Starts a new text at `at`, because everything before it is reasoning. */
  function restart(at: number): void {
    startOf(at)
    floor = start = placed = at
    place = OUTSIDE
  }

  return { startOf, placeAt, restart, floor: () => floor }
}
