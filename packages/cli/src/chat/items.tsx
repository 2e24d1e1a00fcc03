/** Draws what is finished in a conversation. */

import { Box, Text } from 'ink'
import type { ReactNode } from 'react'
import type { Colors } from '../ui/colors.ts'
import { thoughtLine } from '../ui/events-to-lines.ts'
import { plural } from '../ui/plural.ts'
import type { Card } from './card.ts'
import { markdownLines } from './markdown/lines.ts'
import { cutLine, hanging, wrapped } from './markdown/wrap.ts'
import type { Item, Row } from './view.ts'

export interface Look {
  readonly columns: number
  readonly colors: Colors
}

export function ItemView({ item, gap, ...look }: { readonly item: Item; readonly gap: boolean } & Look): ReactNode {
  return (
    <Box marginTop={gap ? 1 : 0} flexDirection="column" width={look.columns}>
      <Body item={item} {...look} />
    </Box>
  )
}

function Body({ item, ...look }: { readonly item: Item } & Look): ReactNode {
  const { colors } = look
  switch (item.kind) {
    case 'user':
      return (
        <>
          <Hanging mark={colors.cyan('>')} text={colors.bold(item.text)} {...look} />
          {(item.notes ?? []).map((note) => (
            <Hanging key={note} mark="" text={colors.dim(note)} {...look} />
          ))}
        </>
      )
    case 'answer':
      return <Lines lines={markdownLines(item.text, look)} />
    case 'thinking':
      return <Text>{`  ${thoughtLine(item.characters, colors)}`}</Text>
    case 'rows':
      return <Rows rows={item.rows} {...look} />
    case 'call':
      return <CardView card={item.card} {...look} />
    default:
      return <Lines lines={item.lines.flatMap((line) => hanging(untabbed(line), look.columns))} />
  }
}

function Rows({ rows, columns, colors }: { readonly rows: readonly Row[] } & Look): ReactNode {
  const width = Math.max(...rows.map(([what]) => what.length)) + 2
  const lines = rows.flatMap(([what, says]) => {
    const [first = '', ...rest] = wrapped(says, columns - width)
    return [`${colors.bold(what)}${' '.repeat(width - what.length)}${first}`, ...rest.map((line) => ' '.repeat(width) + line)]
  })
  return <Lines lines={lines} />
}

/** Ink gives a tab no width. */
const untabbed = (text: string): string => text.replaceAll('\t', '    ')

function CardView({ card: { mark, head, repairs, display, more, isRead }, ...look }: { readonly card: Card } & Look): ReactNode {
  const { columns, colors } = look
  const tint = isRead ? colors.dim : (line: string) => line
  const body = [
    ...(repairs.length > 0 ? wrapped(colors.dim(repairs.join(', ')), columns - 2) : []),
    ...(display === '' ? [] : bodyLines(display, look).map(tint)),
    ...(more > 0 ? [colors.dim(`… ${plural(more, 'more line')}`)] : []),
  ]
  return (
    <>
      <Hanging mark={mark} text={head} {...look} />
      {body.length > 0 && (
        <Box paddingLeft={2} flexDirection="column">
          <Lines lines={body} />
        </Box>
      )}
    </>
  )
}

/** Line by line as it is: what is too long is cut. */
function bodyLines(display: string, { columns, colors }: Look): readonly string[] {
  return markdownLines(display, { colors, columns: 10_000, codeIndent: '' }).map((line) => cutLine(line, columns - 2))
}

/** They fit in the width, so that nothing is wrapped once more. */
export function Lines({ lines }: { readonly lines: readonly string[] }): ReactNode {
  return <Text wrap="truncate-end">{lines.map((line) => (line === '' ? ' ' : line)).join('\n')}</Text>
}

const MARK_WIDTH = 2

/** What is too long for a line continues below its own beginning, not below the mark. */
export function Hanging({ mark, text, columns }: { readonly mark: string; readonly text: string } & Look): ReactNode {
  return (
    <Box>
      <Box flexShrink={0} width={MARK_WIDTH}>
        <Text>{mark}</Text>
      </Box>
      <Lines lines={wrapped(untabbed(text), columns - MARK_WIDTH)} />
    </Box>
  )
}
