/** Findings in one JSON document: eslint, biome, ruff, pyright, shellcheck. They differ in the names of the fields. */
import { isRecord } from '../record.ts'
import { type Printed, severityOf } from './line.ts'

/** The findings of a document; undefined for a text that is none. */
export function parseJson(text: string): Printed[] | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch {
    return undefined
  }
  const list = Array.isArray(document) ? document : isRecord(document) ? listIn(document) : undefined
  return list?.flatMap((entry: unknown): Printed[] => {
    if (!isRecord(entry)) return []
    const { filePath, messages } = entry
    // eslint: a list for each file.
    const each = Array.isArray(messages) ? messages.filter(isRecord).map((one) => ({ ...one, file: filePath })) : [entry]
    return each.flatMap((one) => finding(one) ?? [])
  })
}

const listIn = (document: Readonly<Record<string, unknown>>): unknown[] | undefined =>
  ['diagnostics', 'generalDiagnostics', 'comments', 'results'].map((name) => document[name]).find(Array.isArray)

function finding(one: Readonly<Record<string, unknown>>): Printed | undefined {
  const location = isRecord(one['location']) ? one['location'] : {}
  const range = isRecord(one['range']) ? one['range'] : undefined
  const start = [location['start'], range?.['start']].find(isRecord) ?? location
  const path = [one['file'], one['filename'], location['path']].find((value) => typeof value === 'string')
  const message = one['message']
  if (path === undefined || typeof message !== 'string') return undefined
  const line = number(one['line'] ?? start['line'] ?? start['row'])
  const column = number(one['column'] ?? start['column'] ?? start['character'])
  // The language server protocol counts from 0.
  const base = range ? 1 : 0
  const rule = [one['ruleId'], one['code'], one['rule'], one['category']].find((value) => typeof value === 'string')
  const level = one['severity'] ?? one['level'] ?? 'error'
  return {
    path,
    ...(line !== undefined && { line: line + base }),
    ...(column !== undefined && { column: column + base }),
    severity: typeof level === 'number' ? (level === 1 ? 'warning' : 'error') : severityOf(String(level)),
    message: rule === undefined ? message : `${message} (${rule})`,
  }
}

const number = (value: unknown): number | undefined => (typeof value === 'number' && Number.isInteger(value) ? value : undefined)
