/** Renders Markdown as terminal lines. Pure. The text must already be sanitized for the terminal. */
import type { Token, Tokens } from 'marked'
import stringWidth from 'string-width'
import type { Colors } from '../../ui/colors.ts'
import { diffLines, partsText } from '../../ui/diff-lines.ts'
import { codeParts } from '../../ui/highlight.ts'
import { allTokens } from './lexer.ts'
import { wrapped } from './wrap.ts'

export interface MarkdownLook {
  readonly columns: number
  readonly colors: Colors
  /** Whether nothing is drawn with characters that a screen reader spells out, and tables are lists. Default: no. */
  readonly isPlain?: boolean
  /** Indentation of code blocks. Default: two spaces. */
  readonly codeIndent?: string
}

/** @param markdown Markdown already sanitized for the terminal */
export const markdownLines = (markdown: string, look: MarkdownLook): readonly string[] => linesOfAll(allTokens(markdown), look, false)

/** @param gap whether blocks are separated by a blank line */
const linesOfAll = (tokens: readonly Token[], look: MarkdownLook, gap: boolean): string[] =>
  tokens
    .filter(({ type }) => type !== 'space' && type !== 'checkbox')
    .flatMap((token, at) => [...(gap && at > 0 ? [''] : []), ...linesOf(token as Block, look)])

/** The minimum width of text. Blocks nested deeper are shown as raw Markdown. */
const MIN_COLUMNS = 8

type Block = Tokens.Heading | Tokens.Text | Tokens.Code | Tokens.List | Tokens.Blockquote | Tokens.Table | Tokens.Hr | Tokens.HTML

function linesOf(token: Block, look: MarkdownLook): readonly string[] {
  const { columns, colors, codeIndent = '  ' } = look
  switch (token.type) {
    case 'heading':
      return wrapped(colors.bold(inline(token.tokens, colors)), columns)
    case 'code': {
      const indent = columns - codeIndent.length < MIN_COLUMNS ? '' : codeIndent
      const room = columns - indent.length
      if (/^(?:diff|patch)\b/.test(token.lang ?? ''))
        return indented(diffLines(token.text, { columns: look.isPlain ? undefined : room, colors, long: 'wrap' }), indent)
      const lines = token.text.replaceAll('\t', '    ').split('\n')
      const painted = colors.isColorSupported ? codeParts(lines, token.lang ?? '').map((parts) => partsText(parts, colors)) : lines
      return painted.flatMap((line) => indented(wrapped(line, room), indent))
    }
    case 'hr':
      return [look.isPlain ? '---' : colors.dim('─'.repeat(Math.max(1, Math.min(columns, 40))))]
    case 'blockquote':
      if (columns - 2 < MIN_COLUMNS) return wrapped(token.raw.trimEnd(), columns)
      return indented(linesOfAll(token.tokens, { ...look, columns: columns - 2 }, true), look.isPlain ? '> ' : colors.dim('│ '))
    case 'list':
      return listLines(token, look)
    case 'table':
      return tableLines(token, look)
    default:
      return wrapped('tokens' in token && token.tokens ? inline(token.tokens, colors) : plainText(token), columns)
  }
}

/** Returns HTML and link definitions unchanged. */
const plainText = ({ type, raw }: Block): string => (type === 'text' ? decoded(raw) : raw.trimEnd())

const indented = (lines: readonly string[], by: string): string[] => lines.map((line) => by + line)

const SIGNS = { item: '•', done: '☑', open: '☐' }
const PLAIN_SIGNS = { item: '-', done: '[x]', open: '[ ]' }

function listLines({ items, loose, ordered, start, raw }: Tokens.List, look: MarkdownLook): readonly string[] {
  const signs = look.isPlain ? PLAIN_SIGNS : SIGNS
  const marks = items.map(({ task, checked }, at) =>
    task ? signs[checked ? 'done' : 'open'] : ordered ? `${Number(start || 1) + at}.` : signs.item,
  )
  const width = marks.reduce((most, mark) => Math.max(most, mark.length), 0) + 1
  if (look.columns - width < MIN_COLUMNS) return wrapped(raw.trimEnd(), look.columns)
  return items.flatMap(({ tokens }, at) => {
    const lines = linesOfAll(tokens, { ...look, columns: look.columns - width }, loose)
    const [first = '', ...rest] = indented(lines.length === 0 ? [''] : lines, ' '.repeat(width))
    return [...(loose && at > 0 ? [''] : []), (marks[at] ?? '').padEnd(width) + first.slice(width), ...rest]
  })
}

const BETWEEN = '  '

/** Renders a table in columns if it fits, otherwise each row as a list of its cells. */
function tableLines({ header, rows, align }: Tokens.Table, { columns, colors, isPlain }: MarkdownLook): string[] {
  const head = header.map(({ tokens }) => colors.bold(inline(tokens, colors)))
  const body = rows.map((row) => row.map(({ tokens }) => inline(tokens, colors)))
  const widths = align.map((_, column) => [head, ...body].reduce((most, row) => Math.max(most, stringWidth(row[column] ?? '')), 0))
  const total = widths.reduce((sum, width) => sum + width + BETWEEN.length, -BETWEEN.length)
  if (total > columns || isPlain)
    return body.flatMap((row, at) => [
      ...(at > 0 ? [''] : []),
      ...row.flatMap((cell, column) => wrapped(`${head[column] ?? ''}: ${cell}`, columns)),
    ])
  const padded = (cell: string, column: number): string => {
    const blanks = ' '.repeat((widths[column] ?? 0) - stringWidth(cell))
    return align[column] === 'right' ? blanks + cell : cell + blanks
  }
  const line = (row: readonly string[]): string =>
    align
      .map((_, column) => padded(row[column] ?? '', column))
      .join(BETWEEN)
      .trimEnd()
  return [line(head), colors.dim(widths.map((width) => '─'.repeat(width)).join(BETWEEN)), ...body.map(line)]
}

type Span = Tokens.Strong | Tokens.Em | Tokens.Del | Tokens.Codespan | Tokens.Link | Tokens.Image | Tokens.Br | Tokens.Escape | Tokens.Text

/**
 * Renders emphasis, and shows each link's address next to its text. Terminal hyperlinks are not used, because they can show one address and
 * open another.
 */
const inline = (tokens: readonly Token[], colors: Colors): string => tokens.map((token) => span(token as Span, colors)).join('')

function span(token: Span, colors: Colors): string {
  switch (token.type) {
    case 'strong':
      return colors.bold(inline(token.tokens, colors))
    case 'em':
      return colors.italic(inline(token.tokens, colors))
    case 'del':
      return colors.strikethrough(inline(token.tokens, colors))
    case 'codespan':
      return colors.isColorSupported ? colors.cyan(token.text) : `\`${token.text}\``
    case 'link': {
      const text = inline(token.tokens, colors)
      const isBare = token.text === token.href || `mailto:${token.text}` === token.href
      return isBare ? colors.underline(text) : `${text} (${colors.underline(token.href)})`
    }
    case 'image':
      return `${token.text || 'image'} (${colors.underline(token.href)})`
    case 'br':
      return '\n'
    case 'escape':
      return token.text
    default:
      return 'tokens' in token && token.tokens ? inline(token.tokens, colors) : decoded(token.raw)
  }
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: ' ' }

/** Decodes the named entities that models use. Numeric ones are not decoded, because they could produce control characters. */
const decoded = (text: string): string => text.replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => ENTITIES[name] as string)
