/** What the bars and marks of a timeline mean. */
import { type CallState, STATE_LABELS, stateOf } from '../chat/outcome.ts'
import type { Bar, MarkKind, Row } from './rows.ts'
import type { Scale } from './scale.ts'

export const THIN = new Set<Bar['kind']>(['backoff', 'ready', 'late'])

/** Around the origin, in pixels. */
export const SHAPES: Readonly<Record<MarkKind, string>> = {
  repair: 'M0-6L6 0L0 6L-6 0Z',
  hint: 'M-5-5H5V5H-5Z',
  closed: 'M-6-2H6V2H-6Z',
  guard: 'M0-6L6 5H-6Z',
  denied: 'M-5-3L-3-5L0-2L3-5L5-3L2 0L5 3L3 5L0 2L-3 5L-5 3L-2 0Z',
  unknown: 'M-5 0A5 5 0 1 1 5 0A5 5 0 1 1-5 0Z',
}

const MARK_LABELS: Readonly<Record<MarkKind, string>> = {
  ...{ repair: 'repaired', hint: 'hint given', closed: 'tool closed', guard: 'loop guard', denied: 'denied', unknown: 'outcome unknown' },
}
const BAR_LABELS: Readonly<Record<Bar['kind'], string>> = {
  ...{ request: 'model', 'failed-request': 'failed attempt', backoff: 'pause before a retry', approval: 'waiting for you' },
  ...{ ready: 'waits its turn', run: 'tool runs', late: 'still running after its timeout' },
}

/** Whose bars have a colour of their own. */
const COLOURED: ReadonlySet<CallState> = new Set(['repaired', 'retry', 'failed', 'unavailable', 'indeterminate', 'cancelled'])

export function Legend({ rows, scale }: { readonly rows: readonly Row[]; readonly scale: Scale }) {
  const bars = new Set(rows.flatMap((row) => row.bars.map(({ kind }) => kind)))
  const marks = new Set(rows.flatMap((row) => row.marks.map(({ kind }) => kind)))
  const states = new Set(
    rows.flatMap(({ item, bars: all }) => (item.kind === 'call' && all.some(({ kind }) => kind === 'run') ? [stateOf(item)] : [])),
  )
  return (
    <ul className="legend" aria-label="Legend">
      {[...bars].map((kind) => (
        <li key={kind}>
          <svg className="swatch" aria-hidden="true">
            <rect className={`bar ${kind}`} x="0" y={THIN.has(kind) ? 4 : 1} width="18" height={THIN.has(kind) ? 4 : 10} rx="2" />
          </svg>
          {BAR_LABELS[kind]}
        </li>
      ))}
      {[...states]
        .filter((state) => COLOURED.has(state))
        .map((state) => (
          <li key={state} className={`is-${state}`}>
            <svg className="swatch" aria-hidden="true">
              <rect className="bar run" x="0" y="1" width="18" height="10" rx="2" />
            </svg>
            {STATE_LABELS[state]}
          </li>
        ))}
      {[...marks].map((kind) => (
        <li key={kind}>
          <svg className="swatch" aria-hidden="true" viewBox="-9 -6 18 12">
            <path className={`mark ${kind}`} d={SHAPES[kind]} />
          </svg>
          {MARK_LABELS[kind]}
        </li>
      ))}
      {scale.breaks.length > 0 && (
        <li>
          <svg className="swatch" aria-hidden="true">
            <rect className="break" width="18" height="12" />
          </svg>
          long wait, shortened
        </li>
      )}
    </ul>
  )
}
