/** Findings that stand in one line. */
import type { Severity } from '../finding.ts'

/** A finding as its check prints it: the path is still the check's. */
export interface Printed {
  readonly path: string
  /** The path is a name without its folders. */
  readonly nameOnly?: boolean
  readonly line?: number
  readonly column?: number
  readonly severity: Severity
  readonly message: string
}

/** Beyond a drive's letter, a path has no colon. */
const PATH = String.raw`((?:[A-Za-z]:[\\/])?[^:]+)`
/** `a.ts(1,7): error TS2322: …`, and MSVC's without a column. */
const PARENTHESES = /^(.+?)\((\d+)(?:,(\d+))?\): (fatal error|error|warning|info|message) (.+)$/
/** `a.ts:1:7 - error TS2322: …`, of tsc and pyright. Without a severity it is a remark on the finding before it. */
const DASH = new RegExp(String.raw`^${PATH}:(\d+):(\d+) - (error|warning|information|message)(?::| (?=TS\d))\s*(.+)$`)
/** `a.c:1:7: error: …`, and what says no severity. */
const COLONS = new RegExp(String.raw`^(?:vet: )?${PATH}:(\d+)(?::(\d+))?: (.+)$`)
/** `::error title=…,file=a.ts,line=1,col=7::…` */
const ANNOTATION = /^::(error|warning|notice) (.*?)::(.+)$/

const KIND = /^(fatal error|error|warning|information|info|style|note|remark|help)(?:\[([\w:-]+)\])?: *(.*)$/i

export function parseLine(line: string): Printed | undefined {
  const annotated = line.startsWith('::') ? ANNOTATION.exec(line) : null
  if (annotated) return annotation(annotated)
  const [, path, row, column, kind, message] = PARENTHESES.exec(line) ?? DASH.exec(line.trimStart()) ?? []
  if (path !== undefined && kind !== undefined && isPath(path))
    return { ...place(path, row, column), severity: severityOf(kind), message: (message as string).replace(/^: /, '') }
  const [, of, at, offset, rest] = COLONS.exec(line) ?? []
  return of === undefined || !isPath(of) ? undefined : afterColons(place(of, at, offset), rest as string)
}

function afterColons(at: Pick<Printed, 'path'>, rest: string): Printed | undefined {
  const [, kind, code, message] = KIND.exec(rest) ?? []
  if (kind !== undefined) {
    // A compiler's note belongs to the finding before it; shellcheck's is a finding.
    if (/^(?:note|remark|help)$/i.test(kind) && !/\[SC\d+\]$/.test(rest)) return undefined
    return { ...at, severity: severityOf(kind), message: code === undefined ? (message as string) : `${code}: ${message}` }
  }
  const [, level] = /\[(Error|Warning)(?:\/[^[\]]*)?\]$/.exec(rest) ?? []
  return { ...at, severity: level === 'Warning' || /^W\d+ /.test(rest) ? 'warning' : 'error', message: rest }
}

function annotation([, kind, fields, message]: RegExpExecArray): Printed | undefined {
  const given = new Map((fields as string).split(',').map((field) => field.split('=') as [string, string]))
  const path = given.get('file')
  if (path === undefined) return undefined
  const rule = given.get('title')
  return {
    ...place(path, given.get('line'), given.get('col')),
    severity: severityOf(kind as string),
    message: rule === undefined ? (message as string) : `${message} (${rule})`,
  }
}

/** Not a time of day, an address or a word before a colon. */
export const isPath = (text: string): boolean => /[./\\]/.test(text) && /[A-Za-z]/.test(text) && !/^\s|\s$|:\/\//.test(text)

export function place(path: string, line: string | undefined, column?: string): Pick<Printed, 'path' | 'line' | 'column'> {
  return { path, ...(line !== undefined && { line: Number(line) }), ...(column !== undefined && { column: Number(column) }) }
}

export function severityOf(kind: string): Severity {
  if (/error/i.test(kind)) return 'error'
  return /warn/i.test(kind) ? 'warning' : 'info'
}
