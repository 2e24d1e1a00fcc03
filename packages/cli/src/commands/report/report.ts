/** `mulligan report`: how reliable tool calls were, from the stored events, as text, JSON or one HTML page. */
import { oneLine } from '@mulligan/host/light'
import {
  CAUGHT_LABELS,
  DEFAULT_PERIOD,
  duration,
  type Group,
  percent,
  type Reliability,
  readReliability,
  reliabilityHtml,
} from '@mulligan/server/reliability'
import { fromHome, workingFolder } from '../../paths.ts'
import { EXIT } from '../../process.ts'
import { findSession } from '../../session.ts'
import type { Output } from '../../ui/output.ts'
import { type FolderFlags, plural, print, table } from '../../ui/text.ts'
import { withStore, writeTo } from '../sessions/sessions.ts'

export interface ReportFlags extends FolderFlags {
  /** Includes the sessions of every folder. */
  readonly all?: boolean
  readonly session?: string
  /** Age in milliseconds; `Infinity` for everything. Default: 30 days; of a session, everything. */
  readonly since?: number
  readonly tool?: string
  readonly model?: string
  /** Writes the page to this file. */
  readonly html?: string
  readonly force?: boolean
}

/** @throws UsageError */
export async function reportCommand(flags: ReportFlags, output: Output): Promise<number> {
  const { json, all = false, session, tool, model, html, force = false } = flags
  const age = flags.since ?? (session === undefined ? DEFAULT_PERIOD : Number.POSITIVE_INFINITY)
  const folder = workingFolder(flags.cwd)
  const now = Date.now()
  const since = Math.max(0, now - age)
  const { report, subject } = await withStore(output, async (store) => {
    const named = session === undefined ? undefined : (await findSession(store, folder, session)).id
    const place = named === undefined ? (all ? undefined : folder) : undefined
    const query = { cwd: place, session: named, since, tool, model }
    const parts = [named === undefined ? (all ? 'all sessions' : `sessions in ${fromHome(folder)}`) : `session ${named}`]
    if (since > 0) parts.push(`since ${new Date(since).toISOString().slice(0, 16).replace('T', ' ')} UTC`)
    if (tool !== undefined) parts.push(`tool ${tool}`)
    if (model !== undefined) parts.push(`model ${model}`)
    return { report: await readReliability(store, query), subject: oneLine(parts.join(', '), 400) }
  })
  if (html !== undefined) {
    writeTo(html, await reliabilityHtml(report, { subject, now }), force, '--html')
    output.err(`The report was written to ${html}.\n`)
    if (!json) return EXIT.ok
  }
  print(output, json, report, textOf(report, subject))
  return EXIT.ok
}

function textOf(report: Reliability, subject: string): readonly string[] {
  const { total, turns, answered, sessions, requests, retries } = report
  if (total.calls === 0) return [`No tool calls: ${subject}.`]
  const named = (list: readonly (readonly [string, number])[]): string[] =>
    list.flatMap(([label, count]) => (count > 0 ? [`  ${String(count).padStart(7)}  ${label}`] : []))
  const section = (title: string, lines: readonly string[]): readonly string[] => (lines.length === 0 ? [] : ['', title, ...lines])
  return [
    `Reliability of ${subject}`,
    '',
    `${percent(total.success)} of ${plural(total.calls, 'call')} succeeded, ${total.outcomes.repaired ?? 0} of them after a repair.`,
    `${answered} of ${plural(turns, 'turn')} answered, in ${plural(sessions, 'session')} and ${plural(requests, 'request')}.`,
    '',
    ...groupTable(
      'TOOL',
      report.tools.map(({ tool, ...group }) => [tool, group]),
    ),
    '',
    ...groupTable(
      'MODEL',
      report.models.map(({ model, ...group }) => [model, group]),
    ),
    ...section('Caught', named(report.caught.map(({ what, count }) => [CAUGHT_LABELS[what], count]))),
    ...section('Repairs', named(report.repairs.map(({ kind, count }) => [kind.replaceAll('_', ' '), count]))),
    ...section(
      'Wrong calls until the tool succeeded',
      named([
        ['one', retries.afterOne],
        ['two', retries.afterTwo],
        ['three or more', retries.afterMore],
        ['never in that turn', retries.never],
      ]),
    ),
    ...section('Errors', named(report.errors.map(({ errorType, count }) => [errorType.replaceAll('_', ' '), count]))),
  ]
}

function groupTable(of: string, rows: readonly (readonly [string, Group])[]): readonly string[] {
  const cells = rows.map(([name, { calls, success, repairs, outcomes, latency }]) => [
    oneLine(name, 40),
    String(calls),
    percent(success),
    String(repairs),
    String(outcomes.retry ?? 0),
    ...[latency?.p50, latency?.p90, latency?.p99].map((ms) => (ms === undefined ? '-' : duration(ms))),
  ])
  return table([[of, 'CALLS', 'SUCCEEDED', 'REPAIRS', 'WRONG', 'P50', 'P90', 'P99'], ...cells])
}
