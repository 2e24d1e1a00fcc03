/** What a check says about one place, and what one run says that another does not. */

export type Severity = 'error' | 'warning' | 'info'

export interface Finding {
  /** Relative to the workspace, with forward slashes. */
  readonly path: string
  /** From 1. */
  readonly line?: number
  readonly column?: number
  readonly severity: Severity
  /** One line, with the rule or code where the check names one. */
  readonly message: string
}

/** The same finding after lines above it came or went: numbers of lines in the message do not count either. */
const keyOf = ({ path, message }: Finding): string => `${path}\0${message.replace(/\bline \d+|:\d+:\d+/g, '')}`

/**
 * The findings of `some` that `others` do not have. They are counted: of two that read the same, where `others` have one, one is left,
 * the one on a line where none was.
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

/** All that one or the other has, counted. */
export const union = (some: readonly Finding[], others: readonly Finding[]): Finding[] => [...some, ...difference(others, some)]

/** Without those that say the same of the same place: two runs over one header, a project that is built twice. */
export function distinct(findings: readonly Finding[]): Finding[] {
  const seen = new Set<string>()
  return findings.filter(({ path, line, column, message }) => {
    const at = `${path}\0${line}\0${column}\0${message}`
    if (line === undefined) return true
    return seen.has(at) ? false : seen.add(at)
  })
}

const RANK: Readonly<Record<Severity, number>> = { error: 0, warning: 1, info: 2 }

/** Errors first, then by place. */
export const inOrder = (findings: readonly Finding[]): Finding[] =>
  findings.toSorted(
    (a, b) =>
      RANK[a.severity] - RANK[b.severity] ||
      (a.path < b.path ? -1 : a.path > b.path ? 1 : 0) ||
      (a.line ?? 0) - (b.line ?? 0) ||
      (a.column ?? 0) - (b.column ?? 0),
  )

/** `src/a.ts:1:7 error TS2322: …` */
export const findingLine = ({ path, line, column, severity, message }: Finding): string =>
  `${[path, line, column].filter((one) => one !== undefined).join(':')} ${severity}: ${message}`
