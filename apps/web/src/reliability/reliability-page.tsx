/** The reliability figures: outcomes over time, per tool and model, latency, repairs, retries, and what was caught. */

import { bucketLabel, CAUGHT_LABELS, duration, percent, segmentsOf } from '@mulligan/server/present'
import type { Group, Reliability } from '@mulligan/server/reliability'
import { useEffect, useState } from 'react'
import { api, ServerError } from '../api/client.ts'
import { oneLine } from '../ui/safe-text.ts'
import { Columns, Counts, OutcomeLegend, Shares } from './bars.tsx'
import { LatencyChart } from './latency-chart.tsx'

const PERIODS: readonly (readonly [label: string, ms: number])[] = [
  ['24 hours', 86_400_000],
  ['7 days', 7 * 86_400_000],
  ['30 days', 30 * 86_400_000],
  ['All', Number.POSITIVE_INFINITY],
]

export default function ReliabilityPage() {
  const [period, setPeriod] = useState(2)
  const [tool, setTool] = useState('')
  const [model, setModel] = useState('')
  const [report, setReport] = useState<Reliability>()
  const [error, setError] = useState<string>()

  useEffect(() => {
    let current = true
    const [, ms = 0] = PERIODS[period] ?? []
    api.reliability({ since: Math.max(0, Date.now() - ms), tool, model }).then(
      (found) => {
        if (!current) return
        setReport(found)
        setError(undefined)
      },
      (failure: unknown) => {
        if (current) setError(failure instanceof ServerError ? failure.message : 'The figures cannot be shown.')
      },
    )
    return () => {
      current = false
    }
  }, [period, tool, model])

  return (
    <div className="reliability">
      <header>
        <h1>Reliability</h1>
        <p className="soft">Computed from what the engine recorded, never from what a model wrote.</p>
        <form className="filters" aria-label="Filter" onSubmit={(event) => event.preventDefault()}>
          <fieldset>
            <legend className="hidden">Period</legend>
            {PERIODS.map(([label], at) => (
              <label key={label} className="segment">
                <input type="radio" name="period" checked={period === at} onChange={() => setPeriod(at)} />
                <span>{label}</span>
              </label>
            ))}
          </fieldset>
          <Choice label="Tool" value={tool} options={report?.known.tools ?? []} onChange={setTool} />
          <Choice label="Model" value={model} options={report?.known.models ?? []} onChange={setModel} />
        </form>
      </header>
      {error && (
        <p className="note error" role="alert">
          {error}
        </p>
      )}
      {report &&
        (report.total.calls === 0 ? (
          <p className="soft empty">No tool calls in this period.</p>
        ) : (
          <Figures report={report} onTool={setTool} onModel={setModel} />
        ))}
      {!report && !error && <p className="soft empty">Counting…</p>}
    </div>
  )
}

interface ChoiceProps {
  readonly label: string
  readonly value: string
  readonly options: readonly string[]
  readonly onChange: (value: string) => void
}

const Choice = ({ label, value, options, onChange }: ChoiceProps) => (
  <label className="choice">
    <span>{label}</span>
    <select value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">all</option>
      {options.map((one) => (
        <option key={one} value={one}>
          {oneLine(one, 60)}
        </option>
      ))}
    </select>
  </label>
)

interface FiguresProps {
  readonly report: Reliability
  readonly onTool: (tool: string) => void
  readonly onModel: (model: string) => void
}

function Figures({ report, onTool, onModel }: FiguresProps) {
  const { total, series, bucketMs, turns, answered, requests, sessions, retries } = report
  const recovered = retries.afterOne + retries.afterTwo + retries.afterMore
  const wrong = recovered + retries.never
  return (
    <>
      <dl className="figures tiles">
        <Tile
          value={percent(total.success)}
          label="successful calls"
          more={`${count(total.outcomes.repaired ?? 0)} of them repaired first`}
        />
        <Tile value={count(total.calls)} label="calls" more={`in ${count(requests)} requests`} />
        <Tile
          value={count(total.repairs)}
          label="repairs"
          more={`of ${count(report.repairs.length)} ${report.repairs.length === 1 ? 'kind' : 'kinds'}`}
        />
        <Tile
          value={wrong === 0 ? '–' : percent(recovered / wrong)}
          label="fixed after a hint"
          more={`${count(recovered)} of ${count(wrong)} runs of wrong calls`}
        />
        <Tile
          value={`${count(answered)} / ${count(turns)}`}
          label="turns answered"
          more={`in ${count(sessions)} ${sessions === 1 ? 'session' : 'sessions'}`}
        />
        <Tile
          value={total.latency ? duration(total.latency.p50) : '–'}
          label="median duration"
          more={total.latency ? `p90 ${duration(total.latency.p90)}, p99 ${duration(total.latency.p99)}` : ''}
        />
      </dl>
      <section aria-labelledby="over-time">
        <h2 id="over-time">
          Outcomes <span className="soft">per {bucketLabel(bucketMs)}</span>
        </h2>
        <Columns series={series} bucketMs={bucketMs} />
        <OutcomeLegend outcomes={total.outcomes} />
      </section>
      <section aria-labelledby="latency">
        <h2 id="latency">
          Duration of calls <span className="soft">per {bucketLabel(bucketMs)}</span>
        </h2>
        <LatencyChart series={series} bucketMs={bucketMs} />
      </section>
      <GroupTable title="Tools" of="Tool" rows={report.tools.map(({ tool, ...group }) => [tool, group])} onPick={onTool} />
      <GroupTable title="Models" of="Model" rows={report.models.map(({ model, ...group }) => [model, group])} onPick={onModel} />
      <div className="pair">
        <Counts title="What was caught" rows={report.caught.map(({ what, count: n }) => [CAUGHT_LABELS[what], n])} />
        <div>
          <Counts title="Repairs by kind" rows={report.repairs.map(({ kind, count: n }) => [kind.replaceAll('_', ' '), n])} />
          <Counts
            title="Wrong calls before the tool succeeded"
            rows={[
              ['one', retries.afterOne],
              ['two', retries.afterTwo],
              ['three or more', retries.afterMore],
              ['never in that turn', retries.never],
            ]}
          />
          <Counts title="Errors by type" rows={report.errors.map(({ errorType, count: n }) => [errorType.replaceAll('_', ' '), n])} />
        </div>
      </div>
    </>
  )
}

const count = (value: number): string => value.toLocaleString()

const Tile = ({ value, label, more }: { readonly value: string; readonly label: string; readonly more: string }) => (
  <div>
    <dt>{label}</dt>
    <dd>
      {value}
      <small>{more}</small>
    </dd>
  </div>
)

interface GroupTableProps {
  readonly title: string
  readonly of: string
  readonly rows: readonly (readonly [string, Group])[]
  readonly onPick: (name: string) => void
}

const GroupTable = ({ title, of, rows, onPick }: GroupTableProps) => (
  <section aria-labelledby={`table-${of}`}>
    <h2 id={`table-${of}`}>{title}</h2>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the keyboard */}
    <section className="scroll" tabIndex={0} aria-label={title}>
      <table className="groups">
        <thead>
          <tr>
            <th scope="col">{of}</th>
            <th scope="col">Outcomes</th>
            {['Succeeded', 'Calls', 'Repairs', 'p50', 'p90', 'p99'].map((one) => (
              <th key={one} scope="col">
                {one}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, { outcomes, success, calls, repairs, latency }]) => (
            <tr key={name}>
              <th scope="row">
                <button type="button" className="link" data-nav onClick={() => onPick(name)} title={`Only ${oneLine(name, 100)}`}>
                  {oneLine(name, 60)}
                </button>
              </th>
              <td>
                <Shares segments={segmentsOf(outcomes)} />
              </td>
              <td>{percent(success)}</td>
              <td>{count(calls)}</td>
              <td>{repairs === 0 ? '–' : count(repairs)}</td>
              {[latency?.p50, latency?.p90, latency?.p99].map((ms, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a column has no other identity
                <td key={at}>{ms === undefined ? '–' : duration(ms)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  </section>
)
