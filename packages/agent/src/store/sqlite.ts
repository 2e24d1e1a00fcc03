/**
 * The store in one SQLite file (WAL, private to the user). Writes are queued and go to disk together, in order, at the next
 * turn of the event loop; what must be there before something happens (the intent before an effect) waits for the disk.
 */
import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { CallRecord } from '@mulligan/core'
import { type Compilable, Kysely, sql } from 'kysely'
import type { Compaction } from '../context/compaction.ts'
import type { AssistantMessage, Message } from '../history/message.ts'
import { recordedJournal } from '../journal/journal.ts'
import { claimSession } from './claim.ts'
import { openSqlite, type Write } from './dialect.ts'
import { joinHistory } from './history.ts'
import { createQueue } from './queue.ts'
import { fromCallRow, fromEventRow, fromMessageRow, readJson, toCallRow, toEventRow, toMessageRow } from './rows.ts'
import { type Database, migrate } from './schema.ts'
import { type Claim, type SessionRow, SessionTakenOver, type Store, type TurnRow } from './store.ts'

/**
 * Opens the store, creating it (folder 0700, file 0600) or bringing it up to date.
 * @param path a file, or `:memory:`
 * @throws Error when it can't be written or was written by a newer version
 */
export async function openStore(path: string): Promise<Store> {
  if (path !== ':memory:') prepareFile(path)
  const { dialect, write, value } = openSqlite(path)
  const db = new Kysely<Database>({ dialect })
  await migrate(db, path)
  if (path !== ':memory:') for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) chmodSync(file, 0o600)
  const fenceOf = db.selectFrom('sessions').select('fence').where('id', '=', '').compile().sql
  /** The number of the latest claim of this store, by session. */
  const fences = new Map<string, number>()
  const isMine = (id: string): boolean => !fences.has(id) || value({ sql: fenceOf, parameters: [id] }) === fences.get(id)
  const queue = createQueue(write, isMine)
  const insertMessage = compiledOnce((row: ReturnType<typeof toMessageRow>) =>
    db
      .insertInto('messages')
      .values(row)
      .onConflict((on) => on.column('id').doUpdateSet((to) => ({ content: to.ref('excluded.content') }))),
  )
  const insertCall = compiledOnce((row: ReturnType<typeof toCallRow>) =>
    db
      .insertInto('calls')
      .values(row)
      .onConflict((on) =>
        on.column('id').doUpdateSet((to) => ({
          result: to.ref('excluded.result'),
          attempts: to.ref('excluded.attempts'),
          duration_ms: to.ref('excluded.duration_ms'),
        })),
      ),
  )
  const insertEvent = compiledOnce((row: ReturnType<typeof toEventRow>) => db.insertInto('events').values(row))
  const insertStep = compiledOnce((row: Database['steps']) =>
    db
      .insertInto('steps')
      .values(row)
      .onConflict((on) => on.columns(['turn_id', 'name']).doUpdateSet((to) => ({ value: to.ref('excluded.value') }))),
  )

  async function read<T>(get: () => Promise<T>): Promise<T> {
    await queue.flush().catch((error: unknown) => {
      if (!(error instanceof SessionTakenOver)) throw error
    })
    return get()
  }

  async function claim(sessionId: string, takeOver = false): Promise<Claim> {
    const claimed = await claimSession(db, sessionId, takeOver)
    if ('fence' in claimed) fences.set(sessionId, claimed.fence)
    return claimed
  }

  return {
    createSession: ({ id, cwd, title }) => {
      const now = Date.now()
      const row = { id, cwd, title, created_at: now, updated_at: now, owner: null, lease_until: 0 }
      return queue.add(id, db.insertInto('sessions').values(row).compile())
    },
    session: async (id) => (await read(() => sessions(db).where('sessions.id', '=', id).execute())).map(toSession)[0],
    sessions: async ({ cwd, idPrefix = '', before, limit = 50 } = {}) => {
      const all = sessions(db)
        .where((on) => on.and(cwd === undefined ? [] : [on('cwd', '=', cwd)]))
        .where((on) => on.and(before === undefined ? [] : [on('updated_at', '<', before)]))
        .where((on) => on(on.fn('substr', ['sessions.id', on.val(1), on.val(idPrefix.length)]), '=', idPrefix))
        .orderBy('updated_at', 'desc')
        .orderBy('sessions.id', 'desc')
        .limit(limit)
      return (await read(() => all.execute())).map(toSession)
    },
    deleteSession: (id) =>
      read(async () => {
        if ((await db.selectFrom('sessions').select('id').where('id', '=', id).executeTakeFirst()) === undefined) return {}
        const claimed = await claim(id)
        if ('busy' in claimed) return claimed
        try {
          write(deletionOf(db, id), true)
          fences.delete(id)
          return {}
        } finally {
          await claimed.release()
        }
      }),
    claim: (sessionId, { takeOver } = {}) => read(() => claim(sessionId, takeOver)),
    startTurn: async ({ id, sessionId, prompt, model }, message) => {
      const now = Date.now()
      const turn = {
        id,
        session_id: sessionId,
        prompt,
        model,
        status: 'running',
        answer: null,
        outcome: null,
        started_at: now,
        ended_at: null,
      }
      void queue.add(sessionId, db.insertInto('turns').values(turn).compile())
      void queue.add(
        sessionId,
        db
          .insertInto('messages')
          .values(toMessageRow(sessionId, message, now))
          .onConflict((on) => on.column('id').doNothing())
          .compile(),
      )
      void queue.add(sessionId, db.updateTable('sessions').set({ updated_at: now }).where('id', '=', sessionId).compile())
      await queue.flush()
    },
    endTurn: async (outcome) => {
      const { sessionId, turnId, status, answer } = outcome
      void queue.add(
        sessionId,
        db
          .updateTable('turns')
          .set({ status, answer, outcome: JSON.stringify(outcome), ended_at: Date.now() })
          .where('id', '=', turnId)
          .compile(),
      )
      await queue.flush()
    },
    lastTurn: async (sessionId) => {
      const row = await read(() =>
        db.selectFrom('turns').selectAll().where('session_id', '=', sessionId).orderBy('seq', 'desc').limit(1).executeTakeFirst(),
      )
      return (
        row && {
          id: row.id,
          sessionId: row.session_id,
          prompt: row.prompt,
          model: row.model,
          status: row.status as TurnRow['status'],
        }
      )
    },
    history: async (sessionId) => {
      const messages = await read(() => db.selectFrom('messages').selectAll().where('session_id', '=', sessionId).orderBy('seq').execute())
      const calls = await db
        .selectFrom('calls')
        .selectAll()
        .where('session_id', '=', sessionId)
        .orderBy('turn_id')
        .orderBy('step')
        .orderBy('ordinal')
        .execute()
      return joinHistory(messages.map(fromMessageRow), calls.map(fromCallRow)) as readonly Message[]
    },
    saveMessage: async (sessionId, message: AssistantMessage) => {
      void queue.add(sessionId, insertMessage(toMessageRow(sessionId, message, Date.now())))
      // A reply has cost seconds and money: it is not left to the next turn of the event loop.
      await queue.flush()
    },
    saveCall: async (sessionId, turnId, record: CallRecord) => {
      void queue.add(sessionId, insertCall(toCallRow(sessionId, turnId, record, Date.now())))
      // What became of an effect is known from now on, also if the process is killed at once.
      if (record.effect !== 'read' && record.attempts > 0) await queue.flush()
    },
    append: async (events, durable) => {
      for (const event of events) void queue.add(event.sessionId, insertEvent(toEventRow(event)))
      if (durable) await queue.flush(true)
    },
    events: async ({ sessionId, turnId, after = 0 }) => {
      const wanted = { session_id: sessionId, ...(turnId !== undefined && { turn_id: turnId }) }
      const rows = await read(() =>
        db
          .selectFrom('events')
          .selectAll()
          .where((on) => on.and(wanted))
          .where('id', '>', after)
          .orderBy('id')
          .execute(),
      )
      const callRows = await db
        .selectFrom('calls')
        .selectAll()
        .where((on) => on.and(wanted))
        .execute()
      const messageRows = await db
        .selectFrom('messages')
        .selectAll()
        .where((on) => on.and(wanted))
        .execute()
      const calls = new Map(callRows.map((row) => [row.id, fromCallRow(row)]))
      const messages = new Map(messageRows.map((row) => [row.id, fromMessageRow(row)]))
      return rows.map((row) => fromEventRow(row, calls, messages)).filter((event) => event !== undefined)
    },
    compaction: async (sessionId) => {
      const row = await read(() =>
        db
          .selectFrom('events')
          .select('payload')
          .where('session_id', '=', sessionId)
          .where('type', '=', 'context.compacted')
          .orderBy('id', 'desc')
          .limit(1)
          .executeTakeFirst(),
      )
      return row && readJson<Compaction>(row.payload)
    },
    lastEventId: async (sessionId) => {
      const row = await read(() =>
        db
          .selectFrom('events')
          .select((on) => on.fn.max('id').as('id'))
          .where('session_id', '=', sessionId)
          .executeTakeFirst(),
      )
      return Number(row?.id ?? 0)
    },
    journal: async (turnId, kept = []) => {
      const rows = await read(() => db.selectFrom('steps').selectAll().where('turn_id', '=', turnId).execute())
      return recordedJournal(rows, kept, ({ name, value }) => queue.add(sessionOf(turnId), insertStep({ turn_id: turnId, name, value })))
    },
    close: async () => {
      await queue.flush().catch(() => undefined)
      await db.destroy()
    },
  }
}

/** A turn is named after its session. */
const sessionOf = (turnId: string): string => turnId.slice(0, turnId.lastIndexOf('/'))

function prepareFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
}

/** All rows of a session, those that refer to others first. */
const deletionOf = (db: Kysely<Database>, id: string): readonly Write[] => [
  // What is deleted is overwritten, and does not stay in the free pages of the file.
  sql`PRAGMA secure_delete = ON`.compile(db),
  db
    .deleteFrom('steps')
    .where('turn_id', 'in', (on) => on.selectFrom('turns').select('id').where('session_id', '=', id))
    .compile(),
  db.deleteFrom('events').where('session_id', '=', id).compile(),
  db.deleteFrom('calls').where('session_id', '=', id).compile(),
  db.deleteFrom('messages').where('session_id', '=', id).compile(),
  db.deleteFrom('turns').where('session_id', '=', id).compile(),
  db.deleteFrom('sessions').where('id', '=', id).compile(),
]

const sessions = (db: Kysely<Database>) =>
  db
    .selectFrom('sessions')
    .selectAll()
    .select((on) =>
      on
        .selectFrom('turns')
        .select((turn) => turn.fn.countAll<number>().as('turns'))
        .whereRef('turns.session_id', '=', 'sessions.id')
        .as('turns'),
    )

const toSession = (row: {
  id: string
  cwd: string
  title: string
  created_at: number
  updated_at: number
  turns: number | null
}): SessionRow => ({
  id: row.id,
  cwd: row.cwd,
  title: row.title,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  turns: row.turns ?? 0,
})

/** A statement that is built and compiled once: what is written brings the values of a row, in the order of its keys. */
function compiledOnce<Row extends object>(build: (row: Row) => Compilable): (row: Row) => Write {
  let text: string | undefined
  return (row) => {
    text ??= build(row).compile().sql
    return { sql: text, parameters: Object.values(row) }
  }
}
