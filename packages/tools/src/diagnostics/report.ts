/** What the checks say of a change, added to its result. */
import { type ContentPart, ok, type ToolOk } from '@mulligan/core'
import { plural } from '../files/common/page.ts'
import { fenced } from '../files/common/unified-diff.ts'
import type { CheckReport } from './check.ts'
import { type Finding, findingLine, inOrder } from './finding.ts'
import { isRecord } from './record.ts'

/** Stands in the result's data as `diagnostics`. */
export interface Diagnostics {
  /** In the changed files, and not there before the session's first change. At most as many as are shown. */
  readonly new: readonly Finding[]
  readonly newCount: number
  /** In other files, and come with this change; the first few. */
  readonly elsewhere: readonly Finding[]
  readonly elsewhereCount: number
  /** How many are gone with this change. */
  readonly gone: number
  /** The checks that have looked. */
  readonly checks: readonly string[]
}

/** Of other files only the first are shown. */
const MAX_ELSEWHERE = 5

export function withReports(result: ToolOk, reports: readonly CheckReport[], most: number): ToolOk {
  const fresh = inOrder(reports.flatMap((report) => report.fresh))
  const elsewhere = inOrder(reports.flatMap((report) => report.elsewhere))
  const gone = reports.reduce((sum, report) => sum + report.gone, 0)
  const diagnostics: Diagnostics = {
    new: fresh.slice(0, most),
    newCount: fresh.length,
    elsewhere: elsewhere.slice(0, MAX_ELSEWHERE),
    elsewhereCount: elsewhere.length,
    gone,
    checks: reports.filter(({ looked }) => looked).map(({ label }) => label),
  }
  const notes = reports.flatMap(({ troubles, sinceUnknown, label, fresh }) => [
    ...troubles,
    ...(sinceUnknown && fresh.length > 0 ? [`It is not known what "${label}" said before this change: some of it may be old.`] : []),
  ])
  const says = textOf(diagnostics)
  const { ok: _, data, ...rest } = result
  const { content, display, notes: had = [] } = rest
  const more = notes.length > 0 ? { notes: [...had, ...notes] } : {}
  if (says === '') return ok(data, { ...rest, ...more })
  return ok(isRecord(data) ? { ...data, diagnostics } : data, {
    ...rest,
    ...more,
    content: appended(content, data, says),
    display: display === undefined ? fenced(says) : `${display}\n\n${fenced(says)}`,
  })
}

function textOf({ new: fresh, newCount, elsewhere, elsewhereCount, gone, checks }: Diagnostics): string {
  if (checks.length === 0) return ''
  const by = checks.join(', ')
  const lines =
    newCount === 0
      ? [`Checked with ${by}: nothing new in what was changed.`]
      : [`New since before the changes, by ${by}: ${plural(newCount, 'finding')}`, ...listed(fresh, newCount)]
  if (elsewhereCount > 0)
    lines.push(`Come with this change in other files: ${plural(elsewhereCount, 'finding')}`, ...listed(elsewhere, elsewhereCount))
  if (gone > 0) lines.push(`Gone with this change: ${plural(gone, 'finding')}.`)
  return lines.join('\n')
}

function listed(shown: readonly Finding[], count: number): string[] {
  const more = count - shown.length
  return [...shown.map((finding) => `  ${findingLine(finding)}`), ...(more > 0 ? [`  … and ${more} more`] : [])]
}

function appended(content: ToolOk['content'], data: unknown, says: string): string | readonly ContentPart[] {
  if (content === undefined) return `${typeof data === 'string' ? data : JSON.stringify(data)}\n${says}`
  return typeof content === 'string' ? `${content}\n${says}` : [...content, { type: 'text', text: says }]
}
