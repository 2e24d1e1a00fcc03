/**
 * Keeps the messages and calls of the sessions that were read last. Rows are only ever added to a session's log, so each read parses only
 * what is new: a turn costs the same in a short and in a long session.
 */
import type { Message } from '../history/message.ts'
import type { Driver } from './driver.ts'
import { createEntries, type Entries, joinHistory, type LogRow } from './log.ts'
import { keyOf, ROW_NUMBER, ROWS } from './schema.ts'

/** Characters of log rows whose content is kept. The session read last is kept even if it alone is longer. */
const MAX_CHARACTERS = 16_000_000

/** Has one row without a body if there is nothing new, and none if the session does not exist. */
const NEW_ROWS = `SELECT turn_id, body, ${ROW_NUMBER} AS row FROM sessions
  LEFT JOIN log ON log.seq > ${keyOf('?')} AND log.seq < (sessions.number + 1) * ${ROWS} WHERE sessions.id = ? ORDER BY seq`

type NewRow = LogRow & { readonly row: number }

interface Kept {
  readonly entries: ReturnType<typeof createEntries>
  /** The number of the last row that was read. */
  last: number
  characters: number
  /** The history, unless rows were added since. */
  history?: readonly Message[]
}

/** @param maxCharacters characters of rows after which the sessions read least recently are forgotten */
export function createHistoryCache({ all }: Pick<Driver, 'all'>, maxCharacters = MAX_CHARACTERS) {
  /** By session, the one read last at the end. */
  const cache = new Map<string, Kept>()

  function keep(sessionId: string, kept: Kept): void {
    cache.delete(sessionId)
    cache.set(sessionId, kept)
    let characters = 0
    for (const one of cache.values()) characters += one.characters
    for (const [id, one] of cache) {
      if (characters <= maxCharacters || id === sessionId) break
      characters -= one.characters
      cache.delete(id)
    }
  }

  /** Returns all messages and calls of a session. */
  async function read(sessionId: string): Promise<Kept> {
    const after = cache.get(sessionId)?.last ?? 0
    const rows = await all<NewRow | { readonly row: null }>(NEW_ROWS, after, sessionId)
    if (rows.length === 0) cache.delete(sessionId)
    // Another read may have added rows, or the session may have been forgotten, in the meantime.
    const kept = cache.get(sessionId) ?? { entries: createEntries(sessionId, ['message', 'call']), last: 0, characters: 0 }
    if (kept.last < after) return read(sessionId)
    const added = rows.filter((one): one is NewRow => one.row !== null && one.row > kept.last)
    if (added.length > 0) {
      kept.entries.add(added)
      kept.last = added.at(-1)?.row ?? kept.last
      for (const { body } of added) kept.characters += body.length
      delete kept.history
    }
    if (rows.length > 0) keep(sessionId, kept)
    return kept
  }

  return {
    history: async (sessionId: string): Promise<readonly Message[]> => {
      const kept = await read(sessionId)
      kept.history ??= joinHistory([...kept.entries.messages.values()], kept.entries.calls)
      return kept.history
    },
    entries: async (sessionId: string): Promise<Pick<Entries, 'messages' | 'calls'>> => (await read(sessionId)).entries,
    forget: (sessionId: string): void => void cache.delete(sessionId),
  }
}
