/**
 * A server that dies at a chosen commit: tests start this file as a program. A message `{ killAt: N }` lets it kill itself at the N-th point
 * from there on; the points are before and after each commit of its database.
 */
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { openStore } from '@mulligan/agent'
import pg from 'pg'
import { withoutIntents } from '../../../agent/src/store/without-intents.fixture.ts'
import { serve } from '../serve.ts'

/** What the environment says. */
interface Settings {
  /** A file, or the address of a PostgreSQL database. */
  readonly store: string
  readonly home: string
  readonly token: string
  /** Stores nothing of what is about to begin: the control. */
  readonly noIntents?: boolean
  readonly askedFor?: number
}

let left = Number.POSITIVE_INFINITY
let passed = 0

function point(): void {
  passed++
  if (--left <= 0) process.kill(process.pid, 'SIGKILL')
}

const changes = (sql: string): boolean => /^(?:INSERT|UPDATE|DELETE)\b/.test(sql) && !sql.includes("'expired'")

/** Adds points around each commit of SQLite. */
function watchSqlite(): void {
  let isOpen = false
  for (const name of ['run', 'all'] as const) {
    const original = StatementSync.prototype[name] as (...args: unknown[]) => unknown
    StatementSync.prototype[name] = function (this: StatementSync, ...args: unknown[]) {
      const sql = this.sourceSQL
      if (sql.startsWith('BEGIN')) isOpen = true
      const isCommit = sql === 'COMMIT' || (!isOpen && changes(sql))
      if (sql === 'COMMIT') isOpen = false
      if (isCommit) point()
      const result = original.apply(this, args)
      if (isCommit) point()
      return result
    } as never
  }
  const exec = DatabaseSync.prototype.exec
  DatabaseSync.prototype.exec = function (sql) {
    if (sql === 'ROLLBACK') isOpen = false
    return exec.call(this, sql)
  }
}

/** Adds points around each commit of PostgreSQL: before it is sent, and when its answer has come. */
function watchPostgres(): void {
  const open = new WeakSet<object>()
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown
  pg.Client.prototype.query = function (this: object, ...args: unknown[]) {
    const sql = typeof args[0] === 'string' ? args[0] : String((args[0] as { text?: string })?.text ?? '')
    if (sql.startsWith('BEGIN')) open.add(this)
    const isCommit = sql === 'COMMIT' || (!open.has(this) && changes(sql))
    if (sql === 'COMMIT' || sql === 'ROLLBACK') open.delete(this)
    if (!isCommit) return query.apply(this, args)
    point()
    const done = args.at(-1)
    if (typeof done === 'function')
      return query.apply(this, [
        ...args.slice(0, -1),
        (...given: unknown[]) => {
          point()
          done(...given)
        },
      ])
    return (query.apply(this, args) as Promise<unknown>).then((value) => {
      point()
      return value
    })
  } as never
}

const given = process.env['KILL_SERVER']
if (given !== undefined) {
  const { store: place, home, token, noIntents, askedFor } = JSON.parse(given) as Settings
  process.on('message', ({ killAt }: { readonly killAt: number }) => {
    left = killAt
    process.send?.({ passed })
    passed = 0
  })
  if (place.startsWith('postgres:')) watchPostgres()
  else watchSqlite()
  const store = await openStore(place)
  const server = await serve({
    env: { HOME: home, PATH: process.env['PATH'] ?? '' },
    port: 0,
    token,
    store: noIntents ? withoutIntents(store) : store,
    ...(askedFor !== undefined && { askedFor }),
  })
  process.on('disconnect', () => process.exit())
  process.send?.({ url: server.url })
}
