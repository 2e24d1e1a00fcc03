/** A store that lasts as long as the process, for libraries and tests that store nothing permanently. */
import type { CallRecord } from '@mulligan/core'
import type { AgentEvent } from '../events.ts'
import type { StoredMessage } from '../history/message.ts'
import { journalOf } from '../journal/journal.ts'
import { type LoggedStep, strictJournal } from '../journal/strict.ts'
import { currentCompaction, isRewind } from '../rewound.ts'
import { joinHistory } from './log.ts'
import { find, wordsIn } from './search.ts'
import { type ApprovalRow, isOpen, type SessionRow, type Store, type TurnRow } from './store.ts'

interface Kept {
  row: SessionRow
  readonly turns: Map<string, TurnRow>
  readonly messages: Map<string, StoredMessage>
  readonly calls: Map<string, CallRecord>
  readonly events: AgentEvent[]
  /** The answer of each ended turn. */
  readonly answers: Map<string, string>
}

export interface MemoryStoreOptions {
  /** Whether its journals are {@link strictJournal}s, for testing the code that uses them. Default false. */
  readonly strict?: boolean
}

export function memoryStore({ strict = false }: MemoryStoreOptions = {}): Store {
  const kept = new Map<string, Kept>()
  /** The owner of each session. */
  const claims = new Map<string, symbol>()
  const logs = new Map<string, LoggedStep[]>()
  const values = new Map<string, Map<string, unknown>>()
  const approvals = new Map<string, ApprovalRow>()
  const requests = new Map<string, { readonly fingerprint: string; readonly response?: string }>()
  const setTurn = (sessionId: string, turnId: string, changes: Partial<TurnRow>): void => {
    const turn = get(sessionId).turns.get(turnId)
    if (turn) get(sessionId).turns.set(turnId, { ...turn, ...changes })
  }
  const get = (id: string): Kept => {
    const found = kept.get(id)
    if (!found) throw new RangeError(`no session ${id}`)
    return found
  }
  return {
    createSession: async ({ id, cwd, title, settings }) => {
      const now = Date.now()
      kept.set(id, {
        row: { id, cwd, title, createdAt: now, updatedAt: now, turns: 0, ...(settings && { settings }) },
        turns: new Map(),
        messages: new Map(),
        calls: new Map(),
        events: [],
        answers: new Map(),
      })
    },
    updateSession: async (id, changes) => {
      const session = kept.get(id)
      if (session) session.row = { ...session.row, ...changes }
    },
    session: async (id) => kept.get(id)?.row,
    sessions: async ({
      cwd,
      idPrefix = '',
      before = Number.POSITIVE_INFINITY,
      since = 0,
      withTasks = idPrefix.includes('/'),
      search = '',
      limit = 50,
      offset = 0,
    } = {}) => {
      const words = wordsIn(search)
      return (
        [...kept.values()]
          .flatMap(({ row, turns, answers }) => {
            const texts = [...turns.values()].map(({ id, prompt }) => [prompt, answers.get(id) ?? ''])
            const found = words.length === 0 ? { rank: 0 } : find({ title: row.title, turns: texts }, words)
            return found ? [{ row, ...found }] : []
          })
          .filter(
            ({ row }) =>
              (cwd === undefined || row.cwd === cwd) && row.id.startsWith(idPrefix) && row.updatedAt < before && row.updatedAt >= since,
          )
          // Those of tasks belong to the session that gave them.
          .filter(({ row }) => withTasks || !row.id.includes('/'))
          .reverse()
          .sort((one, other) => other.rank - one.rank)
          .slice(offset, offset + limit)
          .map(({ row, snippet }) => ({ ...row, ...(snippet !== undefined && { snippet }) }))
      )
    },
    deleteSession: async (id) => {
      if (claims.has(id)) return { busy: 'this process' }
      for (const one of [...kept.keys()].filter((key) => key === id || key.startsWith(`${id}/`))) {
        for (const turnId of kept.get(one)?.turns.keys() ?? []) for (const journals of [logs, values]) journals.delete(turnId)
        for (const row of approvals.values()) if (row.sessionId === one) approvals.delete(row.id)
        kept.delete(one)
      }
      return {}
    },
    claim: async (id, { takeOver = false } = {}) => {
      if (claims.has(id) && !takeOver) return { busy: 'this process' }
      const mine = Symbol(id)
      claims.set(id, mine)
      return {
        release: async () => {
          if (claims.get(id) === mine) claims.delete(id)
        },
      }
    },
    claimed: async (id) => (claims.has(id) ? 'this process' : undefined),
    startTurn: async (turn, message, events = []) => {
      const session = get(turn.sessionId)
      if (session.turns.has(turn.id)) throw new RangeError(`there is a turn ${turn.id}`)
      session.events.push(...events)
      session.turns.set(turn.id, { ...turn, status: 'running', startedAt: Date.now() })
      session.messages.set(message.id, message)
      session.row = { ...session.row, updatedAt: Date.now(), turns: session.turns.size }
    },
    endTurn: async ({ sessionId, turnId, status, answer }, events = []) => {
      const session = get(sessionId)
      session.events.push(...events)
      session.answers.set(turnId, answer)
      setTurn(sessionId, turnId, { status, answer, endedAt: Date.now() })
    },
    turns: async (sessionId) => [...get(sessionId).turns.values()],
    resumableTurns: async () => {
      const asking = new Set([...approvals.values()].filter(({ status }) => status === 'pending').map(({ turnId }) => turnId))
      const ofServers = [...kept.values()].filter(({ row }) => row.settings)
      return ofServers.flatMap(({ turns }) => [...turns.values()].filter((turn) => isOpen(turn) && !asking.has(turn.id)))
    },
    park: async (sessionId, turnId, rows) => {
      for (const row of rows) approvals.set(row.id, row)
      setTurn(sessionId, turnId, { status: 'waiting' })
    },
    unpark: async (sessionId, turnId) => setTurn(sessionId, turnId, { status: 'running' }),
    approvals: async ({ sessionId, turnId, status, limit = 1000 } = {}) =>
      [...approvals.values()]
        .filter((one) => sessionId === undefined || one.sessionId === sessionId)
        .filter((one) => (turnId === undefined || one.turnId === turnId) && (status === undefined || one.status === status))
        .slice(0, limit),
    approval: async (id) => approvals.get(id),
    answer: async (id, answer) => {
      const asked = approvals.get(id)
      if (asked?.status !== 'pending') return false
      approvals.set(id, { ...asked, status: 'answered', answer })
      return true
    },
    expire: async (before) => {
      for (const one of approvals.values())
        if (one.status === 'pending' && one.createdAt < before) approvals.set(one.id, { ...one, status: 'expired' })
    },
    supersede: async (turnId) => {
      for (const one of approvals.values())
        if (one.turnId === turnId && one.status === 'pending')
          approvals.set(one.id, { ...one, status: 'answered', answer: { answer: 'superseded' } })
    },
    settled: async () => undefined,
    reserve: async (key, fingerprint) => {
      const known = requests.get(key)
      if (!known) requests.set(key, { fingerprint })
      return known
    },
    respond: async (key, response) => {
      const known = requests.get(key)
      if (response === undefined) requests.delete(key)
      else if (known) requests.set(key, { ...known, response })
    },
    lastTurn: async (sessionId) => [...get(sessionId).turns.values()].at(-1),
    history: async (sessionId) => joinHistory([...get(sessionId).messages.values()], get(sessionId).calls),
    saveMessage: async (sessionId, message) => void get(sessionId).messages.set(message.id, message),
    saveCall: async (sessionId, _, record) => void get(sessionId).calls.set(record.id, record),
    append: async (events) => {
      for (const event of events) get(event.sessionId).events.push(event)
    },
    events: async ({ sessionId, turnId, after = 0, since = 0 }) => {
      const { events, turns } = get(sessionId)
      const ended = (event: AgentEvent): number => turns.get(event.turnId)?.endedAt ?? Number.POSITIVE_INFINITY
      return events.filter((event) => (event.id ?? 0) > after && (turnId === undefined || event.turnId === turnId) && ended(event) >= since)
    },
    compaction: async (sessionId) => currentCompaction(get(sessionId).events),
    rewinds: async (sessionId) => get(sessionId).events.filter(isRewind),
    branch: async (sessionId, { id, turns }) => {
      const { row, ...from } = get(sessionId)
      const isCopied = (turnId: string): boolean => turns.includes(turnId)
      const turnRows = [...from.turns.values()].filter((turn) => isCopied(turn.id))
      const renamed = <T>(value: T): T => renameIn(value, sessionId, id)
      const byId = <T extends { readonly id: string }>(all: readonly T[]): Map<string, T> =>
        new Map(renamed(all).map((one) => [one.id, one]))
      kept.set(id, {
        row: { ...row, id, createdAt: Date.now(), updatedAt: Date.now(), turns: turnRows.length },
        turns: byId(turnRows),
        messages: byId([...from.messages.values()].filter(({ turnId }) => isCopied(turnId))),
        calls: byId([...from.calls.values()].filter((call) => isCopied(turnOf(call.id)))),
        answers: new Map([...from.answers].filter(([turnId]) => isCopied(turnId)).map(([turnId, text]) => [renamed(turnId), text])),
        events: [...renamed(from.events.filter(({ turnId }) => isCopied(turnId)))],
      })
    },
    lastEventId: async (sessionId) => get(sessionId).events.at(-1)?.id ?? 0,
    journal: async (turnId) => (strict ? strictJournal(of(logs, turnId, () => [])) : journalOf(of(values, turnId, () => new Map()))),
    close: async () => undefined,
  }
}

/** The turn of a call: its id is `session/turn/step/ordinal`. */
const turnOf = (callId: string): string => callId.split('/').slice(0, 2).join('/')

/** Replaces a session's id at the beginning of ids by another, as the SQL of a branch does. */
const renameIn = <T>(value: T, from: string, to: string): T =>
  JSON.parse(JSON.stringify(value).replaceAll(`${from}/`, `${to}/`).replaceAll(`"sessionId":"${from}"`, `"sessionId":"${to}"`)) as T

/** Returns the value of a key, creating it if needed. */
function of<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const value = map.get(key) ?? make()
  map.set(key, value)
  return value
}
