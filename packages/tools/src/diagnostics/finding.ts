/** Findings of a check, and how the findings of two runs are compared. */

export type Severity = 'error' | 'warning' | 'info'

export interface Finding {
  /** Relative to the workspace, with forward slashes. */
  readonly path: string
  /** Counted from 1. */
  readonly line?: number
  readonly column?: number
  readonly severity: Severity
  /** One line, including the rule or code if the check names one. */
  readonly message: string
}

/** Identifies a finding regardless of lines added or removed above it; line numbers in the message are ignored too. */
const keyOf = ({ path, message }: Finding): string => `${path}\0${message.replace(/\bline \d+|:\d+:\d+/g, '')}`

/**
 * Returns the findings in `some` that are not in `others`. Identical findings are counted: if `some` has two and `others` one, one is
 * returned, preferably on a line where `others` has none.
 */
export function difference(some: readonly Finding[], others: readonly Finding[]): Finding[] {
  const known = Map.groupBy(others, keyOf)
  const left = new Set<Finding>()
  for (const [key, same] of Map.groupBy(some, keyOf)) {
    const before = known.get(key) ?? []
    const lines = new Set(before.map(({ line }) => line))
    const [elsewhere, there] = [same.filter(({ line }) => !lines.has(line)), same.filter(({ line }) => lines.has(line))]
    for (const finding of [...elsewhere, ...there].slice(0, Math.max(0, same.length - before.length))) left.add(finding)
  }
  return some.filter((finding) => left.has(finding))
}

/** Returns everything in either list, counting identical findings as in {@link difference}. */
export const union = (some: readonly Finding[], others: readonly Finding[]): Finding[] => [...some, ...difference(others, some)]

/** Removes findings with the same message for the same place, as when two runs report one header or a project is built twice. */
export function distinct(findings: readonly Finding[]): Finding[] {
  const seen = new Set<string>()
  return findings.filter(({ path, line, column, message }) => {
    const at = `${path}\0${line}\0${column}\0${message}`
    if (line === undefined) return true
    return seen.has(at) ? false : seen.add(at)
  })
}

const RANK: Readonly<Record<Severity, number>> = { error: 0, warning: 1, info: 2 }

/** Sorts by severity, then by place. */
export const inOrder = (findings: readonly Finding[]): Finding[] =>
  findings.toSorted(
    (a, b) =>
      RANK[a.severity] - RANK[b.severity] ||
      (a.path < b.path ? -1 : a.path > b.path ? 1 : 0) ||
      (a.line ?? 0) - (b.line ?? 0) ||
      (a.column ?? 0) - (b.column ?? 0),
  )

/** Formats a finding, for example `src/a.ts:1:7 error: TS2322: …`. */
export const findingLine = ({ path, line, column, severity, message }: Finding): string =>
  `${[path, line, column].filter((one) => one !== undefined).join(':')} ${severity}: ${message}`
