/** Reads everything that a run has stored, as text. */
import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** Each row of each table as JSON, and each line of the log, keyed by a name that identifies it. */
export function keptRows(path: string): Record<string, string> {
  if (!existsSync(path)) return {}
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    // What an index of words keeps is in tables of its own, which are read as the others.
    const tables = database
      .prepare(`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND sql NOT LIKE 'CREATE VIRTUAL%'`)
      .all()
    const rows = tables.flatMap(({ name }) =>
      database
        .prepare(`SELECT * FROM "${String(name)}"`)
        .all()
        .flatMap((row) => (name === 'log' ? linesOf(row) : [`${String(name)}\t${JSON.stringify(row)}`])),
    )
    return Object.fromEntries(rows.map((row, at) => [`${row.slice(0, row.indexOf('\t'))} ${at}`, row]))
  } finally {
    database.close()
  }
}

/** The log writes \x01 for the turn's id. */
const linesOf = ({ body, turn_id }: Readonly<Record<string, unknown>>): string[] =>
  String(body).replaceAll('\x01', String(turn_id)).split('\n')

interface KeptMessage {
  readonly parts?: readonly { readonly type: string; readonly callId?: string }[]
}

/** Calls in stored messages that do not have exactly one result, among the calls and among the events. */
export function unansweredCalls(kept: Readonly<Record<string, string>>): string[] {
  const entries = (kind: string) =>
    Object.values(kept)
      .map((line) => line.split('\t'))
      .filter(([one]) => one === kind)
  /** The latest of several versions. */
  const latest = <T>(kind: string) => [...new Map(entries(kind).map(([, id = '', json = '']) => [id, JSON.parse(json) as T]))]
  const asked = latest<KeptMessage>('message').flatMap(([, { parts = [] }]) =>
    parts.flatMap(({ type, callId }) => (type === 'call' && callId !== undefined ? [callId] : [])),
  )
  const stored = latest<{ readonly result?: { readonly ok?: unknown } }>('call').flatMap(([id, { result }]) =>
    typeof result?.ok === 'boolean' ? [id] : [],
  )
  const told = entries('event').flatMap(([, , payload = '', type]) => {
    const { callId, late } = JSON.parse(payload) as { readonly callId?: string; readonly late?: boolean }
    return type === 'tool.result' && !late ? [callId] : []
  })
  const count = (ids: readonly unknown[], id: string): number => ids.filter((one) => one === id).length
  const wrong = asked.filter((id) => count(stored, id) !== 1 || count(told, id) !== 1)
  return stored.length === asked.length ? wrong : [...wrong, `${stored.length} results for ${asked.length} calls`]
}
