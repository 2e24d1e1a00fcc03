/** Renders a conversation: the finished items, and below them the current activity, which never exceeds the screen height. */
import { oneLine } from '@mulligan/host/light'
import { Box, Text } from 'ink'
import type { ReactNode } from 'react'
import type { Colors } from '../ui/colors.ts'
import { diffLines } from '../ui/diff-lines.ts'
import { thoughtLine } from '../ui/events-to-lines.ts'
import { plural } from '../ui/text.ts'
import type { ChatState } from './chat-types.ts'
import { markdownLines } from './markdown/lines.ts'
import { cutLine, hanging, wrapped } from './markdown/wrap.ts'
import { tidy } from './own-shell.ts'
import { doingText, passed, tailText } from './status.ts'
import { todoLines } from './todo.ts'
import { type Card, hasGap, type Item, type OpenCall, type Row } from './view.ts'

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

/** Replaces tabs, because Ink counts a tab as zero columns. */
const untabbed = (text: string): string => text.replaceAll('\t', '    ')

function CardView({ card: { mark, head, repairs, display, earlier, more, isRead }, ...look }: { readonly card: Card } & Look): ReactNode {
  const { columns, colors } = look
  const tint = isRead ? colors.dim : (line: string) => line
  const body = [
    ...(repairs.length > 0 ? wrapped(colors.dim(repairs.join(', ')), columns - 2) : []),
    ...(earlier > 0 ? [colors.dim(`… ${plural(earlier, 'earlier line')} · Ctrl-O shows them`)] : []),
    ...(display === '' ? [] : bodyLines(display, look).map(tint)),
    ...(more > 0 ? [colors.dim(`… ${plural(more, 'more line')} · Ctrl-O shows them`)] : []),
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

const DIFF = /^(`{3,})diff\n([\s\S]*)\n\1$/

/** Renders the body without wrapping. Lines that are too long are cut. */
function bodyLines(display: string, { columns, colors }: Look): readonly string[] {
  const diff = DIFF.exec(display)?.[2]
  if (diff !== undefined) return diffLines(diff, { columns: columns - 2, colors, long: 'cut', isNamed: true })
  return markdownLines(display, { colors, columns: 10_000, codeIndent: '' }).map((line) => cutLine(line, columns - 2))
}

/** Renders lines that already fit the width, so they are not wrapped again. */
export function Lines({ lines }: { readonly lines: readonly string[] }): ReactNode {
  return <Text wrap="truncate-end">{lines.map((line) => (line === '' ? ' ' : line)).join('\n')}</Text>
}

const MARK_WIDTH = 2

/** Renders wrapped text next to a mark, with continuation lines aligned with the text. */
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

export interface LiveProps extends Look {
  readonly state: ChatState
  readonly rows: number
  readonly subject: (tool: string, input: unknown) => string
  /** Milliseconds since 1970. */
  readonly now: number
}

/** Maximum lines of a call's progress output. */
const PROGRESS = 3
/** Maximum lines of the user's own command while it runs. */
const PRINTED = 8
/** Maximum number of running calls shown. More than this rarely run in parallel. */
const CALLS = 4
/** Maximum lines of the model's task list. */
const TODOS = 8
/** Lines reserved for the input, the status line and the gaps. */
const REST = 12

export function Live({ state, rows, subject, now, ...look }: LiveProps): ReactNode {
  const { view, items, busy, isStopping, question } = state
  const { columns, colors } = look
  // The question of a call that asks is shown already.
  const running = view.calls.filter(({ startedAt, tool }) => startedAt !== undefined && !(question && tool === 'ask_user'))
  const todos = todoLines(view.todos, { ...look, lines: busy?.with === 'turn' && !question ? Math.min(TODOS, (rows - REST) / 2) : 1 })
  const text = tailText(view.text.open, Math.max(2, rows - REST - todos.length), columns)
  const answer = { kind: 'answer', text, gap: view.text.gap } as const
  return (
    <>
      {text.trim() !== '' && (
        <Box marginTop={hasGap(items.at(-1), answer) ? 1 : 0} width={columns}>
          <Lines lines={markdownLines(text, look)} />
        </Box>
      )}
      {running.slice(0, CALLS).map((call) => (
        <Running key={call.id} call={call} subject={subject} now={now} {...look} />
      ))}
      {running.length > CALLS && <Text>{colors.dim(`  and ${running.length - CALLS} more`)}</Text>}
      {busy?.printed !== undefined && <Progress text={tidy(busy.printed)} lines={PRINTED} {...look} />}
      {busy && !question && (
        <Box marginTop={1}>
          <Text wrap="truncate-end">{colors.dim(busyText(state, now) + (isStopping ? '' : ' · Esc or Ctrl-C stops'))}</Text>
        </Box>
      )}
      {todos.length > 0 && (
        <Box marginTop={busy && !question ? 0 : 1}>
          <Lines lines={todos} />
        </Box>
      )}
    </>
  )
}

/** Renders what was submitted and not sent yet. */
export function Queued({ state: { waiting }, colors }: { readonly state: ChatState } & Look): ReactNode {
  const named = (name: string, all: readonly string[]) => all.map((one) => `${colors.dim(name)} ${oneLine(one, 200)}`)
  const lines = [...named('steering', waiting.steering), ...named('queued', waiting.queued)]
  return (
    lines.length > 0 && (
      <Box marginTop={1}>
        <Lines lines={[...lines, colors.dim('Esc takes the last one back')]} />
      </Box>
    )
  )
}

function busyText({ busy, view, isStopping, serverSays }: ChatState, now: number): string {
  if (!busy) return ''
  if (isStopping) return 'stopping; press Ctrl-C again to quit immediately'
  if (busy.with === 'turn') return view.doing ? doingText(view.doing, view.calls, now, serverSays) : 'beginning'
  return `${busy.with === 'shell' ? `your command runs: ${oneLine(busy.what, 60)}` : oneLine(busy.what, 60)}${passed(busy.since, now)}`
}

type RunningProps = Pick<LiveProps, 'subject' | 'now'> & { readonly call: OpenCall } & Look

function Running({ call, subject, now, ...look }: RunningProps): ReactNode {
  const { columns, colors } = look
  const head = `${colors.bold(oneLine(call.tool, 64))} ${oneLine(subject(call.tool, call.input), 100)}`
  return (
    <>
      <Hanging mark={colors.cyan('○')} text={cutLine(head, columns - 14) + colors.dim(passed(call.startedAt ?? now, now))} {...look} />
      <Progress text={call.progress} lines={PROGRESS} {...look} />
    </>
  )
}

/** Renders the last lines of a text that is still growing. */
function Progress({ text, lines, colors }: { readonly text: string; readonly lines: number } & Look): ReactNode {
  const shown = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-lines)
  return shown.map((line, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: they are drawn again each time
    <Text key={at} wrap="truncate-end">
      {colors.dim(`  ${line.replaceAll('\t', ' ')}`)}
    </Text>
  ))
}
