/** Bars of the reliability page, as plain SVG. */
import { columnsOf, OUTCOME_LABELS, type Segment, segmentsOf } from '@mulligan/server/present'
import type { Bucket, Group } from '@mulligan/server/reliability'
import { fullTime } from '../ui/time.ts'

const at = (share: number): string => `${(share * 100).toFixed(3)}%`

export function Columns({ series, bucketMs }: { readonly series: readonly Bucket[]; readonly bucketMs: number }) {
  const columns = columnsOf(series, bucketMs)
  return (
    <>
      <svg className="columns" role="img" aria-label="Shares of outcomes over time; the table below has the totals">
        {columns.map(({ at: time, outcome, count, x, width, from, share }) => (
          <rect
            key={`${time}${outcome}`}
            className={`o-${outcome}`}
            x={at(x + width * 0.06)}
            width={at(width * 0.88)}
            y={at(from)}
            height={at(share)}
          >
            <title>{`${fullTime(time)}: ${count} ${OUTCOME_LABELS[outcome]}`}</title>
          </rect>
        ))}
      </svg>
      <p className="ends soft">
        <span>{fullTime(series[0]?.at ?? 0)}</span>
        <span>{fullTime((series.at(-1)?.at ?? 0) + bucketMs)}</span>
      </p>
    </>
  )
}

export const OutcomeLegend = ({ outcomes }: { readonly outcomes: Group['outcomes'] }) => (
  <ul className="legend">
    {segmentsOf(outcomes).map(({ outcome, count }) => (
      <li key={outcome}>
        <svg className="swatch" aria-hidden="true">
          <rect className={`o-${outcome}`} width="10" height="10" y="1" rx="2" />
        </svg>
        {OUTCOME_LABELS[outcome]} <b>{count.toLocaleString()}</b>
      </li>
    ))}
  </ul>
)

export const Shares = ({ segments }: { readonly segments: readonly Segment[] }) => (
  <svg className="shares" role="img" aria-label={segments.map(({ outcome, count }) => `${count} ${OUTCOME_LABELS[outcome]}`).join(', ')}>
    {segments.map(({ outcome, count, from, share }) => (
      <rect key={outcome} className={`o-${outcome}`} x={at(from)} width={at(share)} height="10">
        <title>{`${count} ${OUTCOME_LABELS[outcome]}`}</title>
      </rect>
    ))}
  </svg>
)

export function Counts({ title, rows }: { readonly title: string; readonly rows: readonly (readonly [string, number])[] }) {
  if (rows.length === 0) return null
  const most = Math.max(1, ...rows.map(([, n]) => n))
  return (
    <section className="counts">
      <h2>{title}</h2>
      <table>
        <tbody>
          {rows.map(([label, n]) => (
            <tr key={label} className={n === 0 ? 'none' : ''}>
              <th scope="row">{label}</th>
              <td>{n.toLocaleString()}</td>
              <td>
                <svg className="shares" aria-hidden="true">
                  <rect className="o-count" width={at(n / most)} height="10" rx="2" />
                </svg>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
