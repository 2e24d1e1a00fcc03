/** Renders Markdown as terminal lines. Pure. */
import type { Colors } from '../../ui/colors.ts'
import { widthOf } from '../input/width.ts'
import { type Drawn, drawnOf } from './blocks.ts'
import { wrapped } from './wrap.ts'

export interface MarkdownLook {
  readonly columns: number
  readonly colors: Colors
  /** What code is indented by. Default: two blanks. */
  readonly codeIndent?: string
}

/** @param markdown fit for a terminal */
export const markdownLines = (markdown: string, look: MarkdownLook): readonly string[] =>
  linesOfAll(drawnOf(markdown, look.colors), look, false)

const linesOfAll = (blocks: readonly Drawn[], look: MarkdownLook, gap: boolean): string[] =>
  blocks.flatMap((block, at) => [...(gap && at > 0 ? [''] : []), ...linesOf(block, look)])

function linesOf(block: Drawn, look: MarkdownLook): readonly string[] {
  const { columns, colors, codeIndent = '  ' } = look
  switch (block.kind) {
    case 'text':
      return wrapped(block.text, columns)
    case 'code':
      return block.text.split('\n').flatMap((line) => indented(wrapped(line, columns - codeIndent.length), codeIndent))
    case 'rule':
      return [colors.dim('─'.repeat(Math.max(1, Math.min(columns, 40))))]
    case 'quote':
      return indented(linesOfAll(block.blocks, { ...look, columns: columns - 2 }, true), colors.dim('│ '))
    case 'list':
      return listLines(block, look)
    case 'table':
      return tableLines(block, look)
  }
}

const indented = (lines: readonly string[], by: string): string[] => lines.map((line) => by + line)

function listLines({ items, gap }: Extract<Drawn, { kind: 'list' }>, look: MarkdownLook): string[] {
  const width = items.reduce((most, { mark }) => Math.max(most, mark.length), 0) + 1
  return items.flatMap(({ mark, blocks }, at) => {
    const lines = linesOfAll(blocks, { ...look, columns: look.columns - width }, gap)
    const [first = '', ...rest] = indented(lines.length === 0 ? [''] : lines, ' '.repeat(width))
    return [...(gap && at > 0 ? [''] : []), mark.padEnd(width) + first.slice(width), ...rest]
  })
}

const BETWEEN = 2

/** In columns where there is room; else each row as a list of its cells. */
function tableLines({ rows, right }: Extract<Drawn, { kind: 'table' }>, { columns, colors }: MarkdownLook): string[] {
  const [head = [], ...body] = rows
  const widths = right.map((_, column) => rows.reduce((most, row) => Math.max(most, cellWidth(row[column])), 0))
  const total = widths.reduce((sum, width) => sum + width + BETWEEN, -BETWEEN)
  if (total > columns)
    return body.flatMap((row, at) => [
      ...(at > 0 ? [''] : []),
      ...row.flatMap((cell, column) => wrapped(`${head[column] ?? ''}: ${cell}`, columns)),
    ])
  const line = (row: readonly string[]): string =>
    widths
      .map((width, column) => padded(row[column] ?? '', width, right[column] ?? false))
      .join(' '.repeat(BETWEEN))
      .trimEnd()
  return [line(head), colors.dim(widths.map((width) => '─'.repeat(width)).join(' '.repeat(BETWEEN))), ...body.map(line)]
}

const STYLES = /\x1b\[\d*m/g
const cellWidth = (cell = ''): number => widthOf(cell.replace(STYLES, ''))

function padded(cell: string, width: number, isRight: boolean): string {
  const blanks = ' '.repeat(Math.max(0, width - cellWidth(cell)))
  return isRight ? blanks + cell : cell + blanks
}
