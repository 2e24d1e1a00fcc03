/** A turn as a picture: requests and calls as bars on one time axis. Each opens to what happened. */
import { duration } from '@mulligan/server/present'
import { useEffect, useMemo, useState } from 'react'
import type { Approval } from '../api/types.ts'
import { ApprovalCard } from '../chat/approval-card.tsx'
import { subjectOf } from '../chat/call-card.tsx'
import { CallDetails } from '../chat/call-details.tsx'
import { MARKS, STATE_LABELS, stateOf } from '../chat/outcome.ts'
import { isOpen, type RequestItem, type Turn } from '../conversation/conversation.ts'
import { Clip } from '../ui/clip.tsx'
import { Markdown } from '../ui/markdown.tsx'
import { timelineHref } from '../ui/route.ts'
import { oneLine, sentence } from '../ui/safe-text.ts'
import { tokens } from '../ui/time.ts'
import { Legend, SHAPES, THIN } from './legend.tsx'
import { type Bar, type Mark, type Row, timelineOf } from './rows.ts'
import { createScale, type Scale, type Span, tickLabel } from './scale.ts'

interface TimelineViewProps {
  readonly turn: Turn
  readonly turns: readonly Turn[]
  readonly sessionId: string
  readonly approvals: readonly Approval[]
  readonly onAnswered: () => void
}

export function TimelineView({ turn, turns, sessionId, approvals, onAnswered }: TimelineViewProps) {
  const now = useClock(isOpen(turn))
  const [open, setOpen] = useState<string>()
  const { rows, waits, from, to } = useMemo(() => timelineOf(turn, now), [turn, now])
  const scale = useMemo(() => createScale({ from, to }, waits), [from, to, waits])
  const index = turns.findIndex(({ id }) => id === turn.id)
  const neighbour = (by: number): string | undefined => {
    const other = turns[index + by]
    return other && timelineHref(sessionId, other.id)
  }
  return (
    <div className="timeline">
      <header className="timeline-head">
        <p className="prompt-line" title={oneLine(turn.prompt, 1000)}>
          <span className="soft">Turn {index + 1}</span> {oneLine(turn.prompt, 200)}
        </p>
        {turns.length > 1 && (
          <nav aria-label="Turns">
            <TurnLink href={neighbour(-1)} label="← Previous" />
            <TurnLink href={neighbour(1)} label="Next →" />
          </nav>
        )}
      </header>
      <Summary turn={turn} span={{ from, to }} rows={rows} />
      <div className="rows">
        <Axis scale={scale} />
        <ol>
          {rows.map((row) => (
            <li key={row.id} className={row.item.kind === 'call' ? `is-${stateOf(row.item)}` : 'is-request'}>
              <button
                type="button"
                className="row"
                data-nav
                aria-expanded={open === row.id}
                onClick={() => setOpen(open === row.id ? undefined : row.id)}
              >
                <Label row={row} />
                <Strip row={row} scale={scale} />
                <span className="hidden">{describe(row)}</span>
              </button>
              {open === row.id && <Opened row={row} approvals={approvals} onAnswered={onAnswered} />}
            </li>
          ))}
        </ol>
      </div>
      <Legend rows={rows} scale={scale} />
      {turn.items.map((item) =>
        item.kind === 'note' ? (
          <p key={item.id} className={`note ${item.tone}`}>
            <span className="soft mono">+{tickLabel(Math.round(item.at - from))}</span> {oneLine(item.text, 600)}
          </p>
        ) : null,
      )}
    </div>
  )
}

const TurnLink = ({ href, label }: { readonly href: string | undefined; readonly label: string }) =>
  href ? <a href={href}>{label}</a> : <span className="soft">{label}</span>

function useClock(runs: boolean): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!runs) return
    const timer = setInterval(() => setNow(Date.now()), 500)
    return () => clearInterval(timer)
  }, [runs])
  return now
}

function Summary({ turn, span, rows }: { readonly turn: Turn; readonly span: Span; readonly rows: readonly Row[] }) {
  const sum = (kinds: readonly Bar['kind'][]): number =>
    rows.flatMap(({ bars }) => bars).reduce((total, bar) => total + (kinds.includes(bar.kind) ? bar.to - bar.from : 0), 0)
  const calls = rows.flatMap(({ item }) => (item.kind === 'call' ? [item] : []))
  const time = (kinds: readonly Bar['kind'][]): string => (sum(kinds) === 0 ? '–' : duration(sum(kinds)))
  const figures: readonly (readonly [string, string])[] = [
    ['total', duration(span.to - span.from)],
    ['model', time(['request', 'failed-request'])],
    ['tools', time(['run'])],
    ...(sum(['approval']) === 0 ? [] : [['waited for you', time(['approval'])] as const]),
    ['calls', String(calls.length)],
    ['repaired', String(calls.filter(({ repairs }) => repairs.length > 0).length)],
    ['hints', String(calls.filter(({ result }) => result && !result.ok && result.status === 'retry').length)],
    ['tokens in', tokens(turn.inputTokens)],
    ['tokens out', tokens(turn.outputTokens)],
  ]
  return (
    <dl className="figures">
      {figures.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

const at = (share: number): string => `${(share * 100).toFixed(3)}%`

function Axis({ scale }: { readonly scale: Scale }) {
  return (
    <div className="axis">
      <svg aria-hidden="true">
        {scale.ticks.map(({ at: share, label }) => (
          <text key={share} x={at(share)} y="14" className={share > 0.94 ? 'end' : share < 0.02 ? 'start' : ''}>
            {label}
          </text>
        ))}
      </svg>
    </div>
  )
}

function Label({ row: { item } }: { readonly row: Row }) {
  if (item.kind === 'request')
    return (
      <span className="label request">
        <span className="name">{item.concluding ? 'last request' : `request ${item.step}`}</span>
        <span className="subject">
          {item.inputTokens === undefined ? '' : `${tokens(item.inputTokens)} → ${tokens(item.outputTokens ?? 0)} tokens`}
        </span>
      </span>
    )
  const state = stateOf(item)
  return (
    <span className="label">
      <span className="mark" aria-hidden="true">
        {MARKS[state]}
      </span>
      <span className="name">{oneLine(item.tool, 64)}</span>
      <span className="subject">{subjectOf(item)}</span>
      <span className="hidden">{STATE_LABELS[state]}</span>
    </span>
  )
}

const HEIGHT = 26
/** The duration stands after its bar; before one that ends later than this; on one that also starts earlier than that. */
const [EARLY, LATE] = [0.14, 0.86]

function Strip({ row, scale }: { readonly row: Row; readonly scale: Scale }) {
  const last = row.bars.at(-1)
  const end = last ? scale.at(last.to) : 0
  const start = Math.min(...row.bars.map(({ from }) => scale.at(from)))
  const total = timeOf(row)
  const marks = placed(row.marks, scale)
  // Beside the marks at the end of the bar.
  const aside = Math.max(0, ...marks.map(({ mark, dx }) => (scale.at(mark.at) > end - CLOSE ? dx + 4 : 0)))
  return (
    <svg className="strip" aria-hidden="true">
      {scale.ticks.map(({ at: share }) => (
        <line key={share} className="tick" x1={at(share)} x2={at(share)} y1="0" y2={HEIGHT} />
      ))}
      {scale.breaks.map(({ from, to }) => (
        <rect key={from} className="break" x={at(scale.at(from))} width={at(scale.at(to) - scale.at(from))} y="0" height={HEIGHT} />
      ))}
      {row.bars.map(({ kind, from, to, label }) => (
        <g key={`${kind}${from}`}>
          <title>{`${label}, ${duration(to - from)}`}</title>
          <rect
            className={`bar ${kind}`}
            x={at(scale.at(from))}
            width={at(Math.max(0.002, scale.at(to) - scale.at(from)))}
            y={THIN.has(kind) ? 11 : 6}
            height={THIN.has(kind) ? 4 : 14}
            rx="2"
          />
        </g>
      ))}
      {marks.map(({ mark: { at: time, kind, label }, dx }) => (
        <svg key={`${kind}${time}${label}`} x={at(scale.at(time))} y={HEIGHT / 2} overflow="visible" aria-hidden="true">
          <title>{label}</title>
          <path className={`mark ${kind}`} d={SHAPES[kind]} transform={`translate(${dx} 0)`} />
        </svg>
      ))}
      {total > 0 && (
        <text
          className={end <= LATE ? 'took' : start > EARLY ? 'took end' : 'took inside'}
          x={at(end <= LATE ? end : start)}
          dx={end <= LATE ? 8 + aside : start > EARLY ? -8 : 8}
          y={17}
        >
          {duration(total)}
        </text>
      )}
    </svg>
  )
}

/** The time of the work itself: waiting for a person or for its turn is seen in the bars. */
const timeOf = ({ item, bars }: Row): number =>
  item.kind === 'call' && item.durationMs !== undefined
    ? item.durationMs
    : bars.reduce((sum, { kind, from, to }) => sum + (kind === 'approval' || kind === 'ready' ? 0 : to - from), 0)

/** Marks of the same moment stand side by side. */
function placed(marks: readonly Mark[], scale: Scale): readonly { readonly mark: Mark; readonly dx: number }[] {
  let [before, dx] = [-1, 0]
  return marks
    .toSorted((a, b) => a.at - b.at)
    .map((mark) => {
      const place = scale.at(mark.at)
      dx = place - before < CLOSE ? dx + 13 : 0
      before = place
      return { mark, dx }
    })
}

const CLOSE = 0.012

const describe = ({ bars, marks }: Row): string =>
  [...bars.map(({ label, from, to }) => `${label} ${duration(to - from)}`), ...marks.map(({ label }) => label)].join('; ')

function Opened({ row: { item }, approvals, onAnswered }: { readonly row: Row } & Pick<TimelineViewProps, 'approvals' | 'onAnswered'>) {
  if (item.kind === 'request') return <OpenedRequest item={item} />
  const question = approvals.find(({ callId }) => callId === item.id)
  return (
    <div className="opened">
      {question && <ApprovalCard approval={question} onAnswered={onAnswered} />}
      {item.result && !item.result.ok && <p>{oneLine(item.result.error, 1000)}</p>}
      <CallDetails call={item} />
    </div>
  )
}

function OpenedRequest({ item }: { readonly item: RequestItem }) {
  return (
    <div className="opened">
      <dl className="facts">
        {item.attempts.map(({ at: began, endedAt, why, backoffMs }, index) => (
          <div key={began}>
            <dt>Attempt {index + 1}</dt>
            <dd>
              {why
                ? sentence(oneLine(why, 400))
                : item.completedAt === undefined
                  ? 'No answer yet.'
                  : `Answered after ${duration(item.completedAt - began)}.`}
              {endedAt !== undefined && ` Failed after ${duration(endedAt - began)}.`}
              {backoffMs !== undefined && ` Tried again after ${duration(backoffMs)}.`}
            </dd>
          </div>
        ))}
        {item.model && (
          <div>
            <dt>Model</dt>
            <dd>{oneLine(item.model, 100)}</dd>
          </div>
        )}
        {item.concluding && (
          <div>
            <dt>Last request</dt>
            <dd>because of {item.concluding}</dd>
          </div>
        )}
      </dl>
      {item.reasoning !== '' && <Clip text={item.reasoning} first={4000} className="plain" />}
      {item.text.trim() !== '' && <Markdown text={item.text} />}
    </div>
  )
}
