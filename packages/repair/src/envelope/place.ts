/**
 * Where in an answer a piece of markup stands: in a fence, in inline code, in quotes, in what somebody else said. A call
 * that is quoted is no call.
 */

/** Code fences and elements that are open, after some text. */
export interface Place {
  /** The run of backticks or tildes that opened a fence. */
  readonly fence: string | undefined
  /** Elements that opened at the beginning of a line, the innermost last. */
  readonly elements: readonly string[]
}

export const OUTSIDE: Place = { fence: undefined, elements: [] }

/** The place after `text`, which began at the start of a line. Its last line may be unfinished. */
export function placeAfter(text: string, before: Place = OUTSIDE): Place {
  const fence = text.includes('```') || text.includes('~~~') ? fenceAfter(text, before.fence) : before.fence
  const elements = text.includes('<') ? elementsAfter(text, before.elements) : before.elements
  return fence === before.fence && elements === before.elements ? before : { fence, elements }
}

const RUN = /`{3,}|~{3,}/g
/** What may stand before a fence: indentation, and the marks of lists and quotes. */
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
      // A fence of backticks has none in its first line: ```x``` is inline code. After words it has a language at most.
      if (isFirst ? run[0] === '~' || !rest.includes('`') : /^[\w-]*\s*$/.test(rest) && newline !== -1) fence = run
    } else if (isFirst && run[0] === fence[0] && run.length >= fence.length && rest.trim() === '') fence = undefined
  }
  return fence
}

const TAG = /<(\/?)([A-Za-z][\w.:-]{0,60})(?:[^\S\n][^<>\n]{0,300})?>/y
/** Markup of calls, and elements that hold nothing. */
const NO_QUOTE =
  /^(?:tool_calls?|toolcall|function_calls?|invoke|parameters?|function|arg_key|arg_value|tools?_sep|seed:tool_call|longcat_tool_call|minimax:tool_call|antml:.*|think(?:ing)?|reasoning|seed:think|br|hr|img|input|meta|link|p|li|ul|ol)$/i
const MAX_ELEMENTS = 50

function elementsAfter(text: string, before: readonly string[]): readonly string[] {
  let elements = before
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at + 1)) {
    if (!beginsLine(text, at)) continue
    TAG.lastIndex = at
    const [tag = '', slash, name = ''] = TAG.exec(text) ?? []
    const element = name.toLowerCase()
    if (tag === '' || NO_QUOTE.test(element)) continue
    if (slash === '') {
      const newline = text.indexOf('\n', at)
      const line = text.slice(at, newline === -1 ? Math.min(text.length, at + MAX_LINE) : Math.min(newline, at + MAX_LINE))
      if (elements.length < MAX_ELEMENTS && !line.toLowerCase().includes(`</${element}>`)) elements = [...elements, element]
    } else if (elements.includes(element)) elements = elements.slice(0, elements.lastIndexOf(element))
  }
  return elements
}

/** How far an element that closes on its own line is looked at. */
const MAX_LINE = 2000
const MAX_INDENT = 20

function beginsLine(text: string, at: number): boolean {
  let i = at - 1
  while (i >= 0 && at - i <= MAX_INDENT && (text[i] === ' ' || text[i] === '\t')) i--
  return i < 0 || text[i] === '\n'
}

/** Elements in which people and models show what somebody else wrote, wherever on a line they open. */
const QUOTING =
  /<(\/?)(code|pre|samp|kbd|q|blockquote|quote|example|output|result|stdout|stderr|tool_response|tool_result|scratchpad|plan|reflection|analysis)(?:\s[^<>]{0,200})?>/gi
/** Marks of a turn that is not the model's own. */
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
/** What stands before the text of a line in a diff, a listing, a footnote, a table. */
const LISTED = /^[ \t]*(?:\+ ?|\d+[:|\t] ?|[\w./-]+:\d+:|\[\^\w+\]:|\|)/

/** Why what stands between the two is quoted; undefined when nothing says so. */
export function quotedBetween(before: string, after: string, { fence, elements }: Place): string | undefined {
  if (fence !== undefined) return 'in a code fence'
  const line = before.slice(before.lastIndexOf('\n') + 1)
  const paragraph = before.slice(before.lastIndexOf('\n\n') + 1)
  if (/(?:^|\n)\s{0,3}(?:[-*+] |\d+[.)] )?\s*>(?!>>)[^\n]*(?:\n[^\n]*)?$/.test(paragraph) && !/^\s*>>>/.test(line))
    return 'in a block quote'
  if ((paragraph.match(/`+/g)?.length ?? 0) % 2 === 1) return 'in inline code'
  if (/["“«「『‹]$/.test(line) && (!line.endsWith('"') || odd(line, '"'))) return 'in quotes'
  if (odd(line, '"') && /^[^\n]*"/.test(after)) return 'in quotes'
  if (/(?:^|[\s(:=])['‘]$/.test(line)) return 'in quotes'
  if (LONG_QUOTES.some((quote) => odd(before, quote))) return 'in quotes'
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
