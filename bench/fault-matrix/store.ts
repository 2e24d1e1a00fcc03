/** Everything that a run has kept, as text. */
import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** Each row of each table as JSON, under a name that says which. */
export function keptRows(path: string): Record<string, string> {
  if (!existsSync(path)) return {}
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    const tables = database.prepare(`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`).all()
    return Object.fromEntries(
      tables.flatMap(({ name }) =>
        database
          .prepare(`SELECT * FROM "${String(name)}"`)
          .all()
          .map((row, at) => [`${String(name)} ${at}`, JSON.stringify(row)] as const),
      ),
    )
  } finally {
    database.close()
  }
}

interface KeptMessage {
  readonly role: string
  readonly parts?: readonly { readonly type: string; readonly callId?: string }[]
}

/** Calls in kept messages that do not have exactly one result, in the table of calls and among the events. */
export function unansweredCalls(kept: Readonly<Record<string, string>>): string[] {
  const rows = (table: string) =>
    Object.entries(kept)
      .filter(([name]) => name.startsWith(`${table} `))
      .map(([, text]) => JSON.parse(text) as Record<string, string>)
  const asked = rows('messages')
    .map(({ content = '' }) => JSON.parse(content) as KeptMessage)
    .flatMap(({ parts = [] }) => parts.flatMap(({ type, callId }) => (type === 'call' && callId !== undefined ? [callId] : [])))
  const stored = rows('calls').flatMap(({ id, result = '' }) => (typeof JSON.parse(result).ok === 'boolean' ? [id] : []))
  const told = rows('events').flatMap(({ type, payload = '' }) => {
    const { callId, late } = JSON.parse(payload) as { readonly callId?: string; readonly late?: boolean }
    return type === 'tool.result' && !late ? [callId] : []
  })
  const count = (ids: readonly unknown[], id: string): number => ids.filter((one) => one === id).length
  const wrong = asked.filter((id) => count(stored, id) !== 1 || count(told, id) !== 1)
  return stored.length === asked.length ? wrong : [...wrong, `${stored.length} results for ${asked.length} calls`]
}
