/** Markdown that streams in, cut into blocks: those that nothing to come can change, and the one that is still open. Pure. */
import { blockTokens } from './lexer.ts'

export interface OpenText {
  /** What belongs to no finished block yet. */
  readonly open: string
  /** Whether a blank line is before it. */
  readonly gap: boolean
  /** Characters that `open` had when it was last looked through. */
  readonly lexedAt: number
  /** A CR at the end of the last piece: the LF may come with the next. */
  readonly held: string
}

export interface MarkdownBlock {
  readonly text: string
  /** Whether a blank line is before it. */
  readonly gap: boolean
}

export const NO_TEXT: OpenText = { open: '', gap: true, lexedAt: 0, held: '' }

/** Characters that are looked through on each new line. Longer text waits until it has grown by a quarter, so that all of it is O(n). */
const CHEAP = 2000
const GROWTH = 1.25

export function pushText(text: OpenText, piece: string): { readonly text: OpenText; readonly done: readonly MarkdownBlock[] } {
  const came = text.held + piece
  const held = came.endsWith('\r') ? '\r' : ''
  const lines = came.slice(0, came.length - held.length).replace(/\r\n?/g, '\n')
  const next: OpenText = { ...text, held, open: text.open + lines }
  const isDue = lines.includes('\n') && (next.open.length < CHEAP || next.open.length >= text.lexedAt * GROWTH)
  return isDue ? cut(next) : { text: next, done: [] }
}

/** The rest, at the end of the text. */
export function endText({ open, gap }: OpenText): readonly MarkdownBlock[] {
  return blocksIn(open, gap).map(blockOf)
}

function cut(text: OpenText): { readonly text: OpenText; readonly done: readonly MarkdownBlock[] } {
  // A line that is not whole may become anything.
  const whole = text.open.slice(0, text.open.lastIndexOf('\n') + 1)
  const blocks = blocksIn(whole, text.gap)
  const last = blocks.at(-1)
  if (!last || blocks.length === 1) return { text: { ...text, lexedAt: text.open.length }, done: [] }
  const open = text.open.slice(last.from)
  return { text: { ...text, open, gap: last.gap, lexedAt: open.length }, done: blocks.slice(0, -1).map(blockOf) }
}

const blockOf = ({ text, gap }: MarkdownBlock): MarkdownBlock => ({ text, gap })

/** What is between them is blank. */
function blocksIn(text: string, gap: boolean): (MarkdownBlock & { readonly from: number })[] {
  const blocks: (MarkdownBlock & { readonly from: number })[] = []
  let from = 0
  let before = gap
  for (const token of blockTokens(text)) {
    const isBlank = token.type === 'space'
    if (!isBlank) blocks.push({ text: token.raw, gap: before, from })
    before = /\n[ \t]*\n$/.test(token.raw) || (isBlank && (before || /\n[ \t]*\n/.test(token.raw)))
    from += token.raw.length
  }
  return blocks
}
