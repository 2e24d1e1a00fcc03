/** Splits streamed Markdown into blocks: finished ones, which later text cannot change, and the one that is still open. Pure. */
import { blockTokens } from './lexer.ts'

export interface OpenText {
  /** Text that does not belong to a finished block yet. */
  readonly open: string
  /** Whether a blank line precedes it. */
  readonly gap: boolean
  /** Length of `open` when it was last lexed. */
  readonly lexedAt: number
  /** A CR at the end of the last piece, held back because the LF may follow in the next one. */
  readonly held: string
}

export interface MarkdownBlock {
  readonly text: string
  /** Whether a blank line precedes it. */
  readonly gap: boolean
}

export const NO_TEXT: OpenText = { open: '', gap: true, lexedAt: 0, held: '' }

/**
 * Up to this length, the open text is lexed on each new line. Longer text is lexed only after it has grown by a quarter, so that the total
 * time is O(n).
 */
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

/** Returns the remaining blocks at the end of the text. */
export function endText({ open, gap }: OpenText): readonly MarkdownBlock[] {
  return blocksIn(open, gap).map(blockOf)
}

function cut(text: OpenText): { readonly text: OpenText; readonly done: readonly MarkdownBlock[] } {
  // An incomplete line may still become anything.
  const whole = text.open.slice(0, text.open.lastIndexOf('\n') + 1)
  const blocks = blocksIn(whole, text.gap)
  const last = blocks.at(-1)
  if (!last || blocks.length === 1) return { text: { ...text, lexedAt: text.open.length }, done: [] }
  const open = text.open.slice(last.from)
  return { text: { ...text, open, gap: last.gap, lexedAt: open.length }, done: blocks.slice(0, -1).map(blockOf) }
}

const blockOf = ({ text, gap }: MarkdownBlock): MarkdownBlock => ({ text, gap })

/** Splits text into blocks, dropping the blank text between them. */
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
