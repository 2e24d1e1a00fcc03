/** Draws what is going on: the open end of the answer, the calls that run, what waits. It is never higher than the screen. */

import { oneLine } from '@mulligan/host/light'
import { Box, Text } from 'ink'
import type { ReactNode } from 'react'
import type { ChatState } from './chat-types.ts'
import { Hanging, Lines, type Look } from './items.tsx'
import { tailText } from './live-text.ts'
import { markdownLines } from './markdown/lines.ts'
import { cutLine } from './markdown/wrap.ts'
import { doingText, passed } from './status.ts'
import { hasGap, type OpenCall } from './view.ts'

export interface LiveProps extends Look {
  readonly state: ChatState
  readonly rows: number
  readonly subject: (tool: string, input: unknown) => string
  /** Milliseconds since 1970. */
  readonly now: number
}

/** Lines of a call's progress. */
const PROGRESS = 3
/** Calls that are drawn; more run at once only rarely. */
const CALLS = 4
/** Lines that the input, the status line and the gaps take. */
const REST = 12

export function Live({ state, rows, subject, now, ...look }: LiveProps): ReactNode {
  const { view, items, busy, isStopping, question } = state
  const { columns, colors } = look
  const running = view.calls.filter(({ startedAt }) => startedAt !== undefined)
  const text = tailText(view.text.open, Math.max(2, rows - REST), columns)
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
      {busy && !question && (
        <Box marginTop={1}>
          <Text wrap="truncate-end">{colors.dim(busyText(state, now) + (isStopping ? '' : ' · Ctrl-C stops'))}</Text>
        </Box>
      )}
    </>
  )
}

/** What was sent and waits. */
export function Queued({ state, colors }: { readonly state: ChatState } & Look): ReactNode {
  return state.queued.map((one, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the same text may wait twice
    <Text key={at} wrap="truncate-end">{`${colors.dim('queued')} ${oneLine(one, 200)}`}</Text>
  ))
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
  const lines = call.progress
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-PROGRESS)
  return (
    <>
      <Hanging mark={colors.cyan('○')} text={cutLine(head, columns - 14) + colors.dim(passed(call.startedAt ?? now, now))} {...look} />
      {lines.map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are drawn again each time
        <Text key={at} wrap="truncate-end">
          {colors.dim(`  ${line.replaceAll('\t', ' ')}`)}
        </Text>
      ))}
    </>
  )
}
