/** The rows of a turn's timeline: one per model request and per call, with bars and marks in milliseconds. Pure. */
import { type CallItem, type Item, pendingApproval, type RequestItem, type Turn } from '../conversation/conversation.ts'
import type { Span } from './scale.ts'

export type BarKind = 'request' | 'failed-request' | 'backoff' | 'approval' | 'ready' | 'run' | 'late'
export type MarkKind = 'repair' | 'hint' | 'closed' | 'guard' | 'denied' | 'unknown'

export interface Bar extends Span {
  readonly kind: BarKind
  readonly label: string
}

export interface Mark {
  readonly at: number
  readonly kind: MarkKind
  readonly label: string
}

export interface Row {
  readonly id: string
  readonly item: RequestItem | CallItem
  readonly bars: readonly Bar[]
  readonly marks: readonly Mark[]
}

export interface Timeline extends Span {
  readonly rows: readonly Row[]
  /** Periods in which only a person or a clock was waited for. */
  readonly waits: readonly Span[]
}

/** @param now the end of what still runs, milliseconds since 1970 */
export function timelineOf(turn: Turn, now: number): Timeline {
  const end = turn.endedAt ?? Math.max(now, turn.lastAt)
  const rows = turn.items.flatMap((item) => (item.kind === 'note' ? [] : [rowOf(item, end)]))
  return { from: turn.startedAt, to: Math.max(end, turn.startedAt + 1), rows, waits: idle(rows) }
}

const rowOf = (item: Exclude<Item, { kind: 'note' }>, end: number): Row =>
  item.kind === 'request' ? requestRow(item, end) : callRow(item, end)

function requestRow(item: RequestItem, end: number): Row {
  const bars: Bar[] = []
  const marks: Mark[] = []
  for (const [index, { at, endedAt, why, backoffMs }] of item.attempts.entries()) {
    const next = item.attempts[index + 1]?.at
    const until = endedAt ?? item.completedAt ?? end
    const name = item.attempts.length > 1 ? `attempt ${index + 1}` : 'model request'
    bars.push({ kind: endedAt === undefined ? 'request' : 'failed-request', from: at, to: until, label: why ? `${name}: ${why}` : name })
    if (endedAt !== undefined && (next !== undefined || backoffMs !== undefined))
      bars.push({ kind: 'backoff', from: endedAt, to: next ?? Math.min(end, endedAt + (backoffMs ?? 0)), label: 'waiting to try again' })
  }
  for (const { why } of item.quoted) marks.push({ at: item.completedAt ?? end, kind: 'guard', label: `call in the text, not run: ${why}` })
  return { id: item.id, item, bars, marks }
}

function callRow(item: CallItem, end: number): Row {
  const bars: Bar[] = []
  const until = item.endedAt ?? end
  const open = pendingApproval(item)
  for (const wait of item.approvals)
    bars.push({
      ...{ kind: 'approval', from: wait.at, to: wait === open ? end : (wait.resolvedAt ?? until) },
      label: wait.answer === undefined ? 'waiting for approval' : `approval: ${wait.answer}`,
    })
  const first = Math.min(...[...item.approvals.map(({ at }) => at), ...item.starts, until])
  if (first > item.at) bars.push({ kind: 'ready', from: item.at, to: first, label: 'waiting for its turn' })
  for (const [index, at] of item.starts.entries()) {
    const next = item.starts[index + 1]
    const name = item.starts.length > 1 ? `attempt ${index + 1}` : 'running'
    // When an attempt failed is not recorded, only when the next one began.
    bars.push({
      kind: next === undefined ? 'run' : 'backoff',
      from: at,
      to: next ?? until,
      label: next === undefined ? name : `${name}, then a pause`,
    })
  }
  if (item.late) bars.push({ kind: 'late', from: until, to: item.late.at, label: 'still running after its timeout' })
  return { id: item.id, item, bars: bars.sort((a, b) => a.from - b.from), marks: marksOf(item, until) }
}

function marksOf(item: CallItem, until: number): readonly Mark[] {
  const { result, hint, closed, warning, repairs } = item
  const marks: Mark[] = repairs.map(({ at, repair }) => ({ at, kind: 'repair', label: `repaired: ${repair.why}` }))
  if (hint) marks.push({ at: hint.at, kind: 'hint', label: `hint given: ${hint.errorType}, ${hint.triesLeft} tries left` })
  else if (result && !result.ok && result.status === 'retry')
    marks.push({ at: until, kind: 'hint', label: `hint given: ${result.errorType}` })
  if (closed) marks.push({ at: closed.at, kind: 'closed', label: 'tool closed' })
  if (warning)
    marks.push({ at: warning.at, kind: 'guard', label: `${warning.repeats} times the same${warning.blocked ? ': blocked' : ''}` })
  if (result && !result.ok && result.status === 'denied') marks.push({ at: until, kind: 'denied', label: 'denied' })
  if (result && !result.ok && result.status === 'indeterminate') marks.push({ at: until, kind: 'unknown', label: 'outcome unknown' })
  return marks
}

const WAITING = new Set<BarKind>(['approval', 'backoff', 'ready'])

/** The periods covered by waiting and by no work. */
function idle(rows: readonly Row[]): readonly Span[] {
  const bars = rows.flatMap(({ bars: own }) => own)
  const waits = merged(bars.filter(({ kind }) => WAITING.has(kind)))
  const work = merged(bars.filter(({ kind }) => !WAITING.has(kind)))
  return waits.flatMap((wait) => {
    let pieces: Span[] = [wait]
    for (const { from, to } of work)
      pieces = pieces.flatMap((piece) =>
        to <= piece.from || from >= piece.to
          ? [piece]
          : [
              { from: piece.from, to: Math.max(piece.from, from) },
              { from: Math.min(piece.to, to), to: piece.to },
            ].filter((one) => one.to > one.from),
      )
    return pieces
  })
}

function merged(spans: readonly Span[]): readonly Span[] {
  const list: { from: number; to: number }[] = []
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    const last = list.at(-1)
    if (last && from <= last.to) last.to = Math.max(last.to, to)
    else list.push({ from, to })
  }
  return list
}
