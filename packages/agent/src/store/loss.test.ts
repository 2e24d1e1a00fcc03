/** SQLite files that are damaged or lose their latest writes: the loss is detected, and the backup restores what it has. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, utimesSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AgentEvent } from '../events.ts'
import { openStore } from './open.ts'
import { repairStore } from './repair.ts'
import type { Store } from './store.ts'

let folder: string
let path: string
let backup: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mulligan-loss-'))
  path = join(folder, 'store.db')
  backup = `${path}.backup`
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const event = (sessionId: string, id: number): AgentEvent => ({
  id,
  sessionId,
  turnId: `${sessionId}/1`,
  at: 0,
  type: 'warning',
  message: 'x',
})

async function turns(store: Store, sessionId: string, from: number, to: number, prompt = 'go'): Promise<void> {
  for (let n = from; n <= to; n++) {
    const turnId = `${sessionId}/${n}`
    await store.startTurn({ id: turnId, sessionId, prompt, model: 'p/m' }, { role: 'user', id: `${turnId}/0`, turnId, text: prompt })
    await store.append([event(sessionId, n)], true)
    const ledger = { changed: [], failed: [], unknown: [] }
    const usage = { inputTokens: 1, outputTokens: 1 }
    await store.endTurn({ sessionId, turnId, status: 'answered', answer: 'ok', ledger, usage, requests: 1 })
  }
}

async function opened(): Promise<{ readonly store: Store; readonly warnings: readonly string[] }> {
  const warnings: string[] = []
  return { store: await openStore(path, { onWarning: (text) => warnings.push(text) }), warnings }
}

async function withSession(id: string, count: number): Promise<void> {
  const { store } = await opened()
  await store.createSession({ id, cwd: '/w', title: id })
  await turns(store, id, 1, count)
  await store.close()
}

async function damage(file: string, table: string): Promise<void> {
  const database = new DatabaseSync(file)
  const page = Number(database.prepare('SELECT max(pageno) AS page FROM dbstat WHERE name = ?').get(table)?.['page'])
  database.close()
  const handle = await open(file, 'r+')
  await handle.write(Buffer.alloc(4096, 0x5a), 0, 4096, (page - 1) * 4096)
  await handle.close()
}

const aDayAgo = (): void => utimesSync(backup, new Date(Date.now() - 25 * 3_600_000), new Date(Date.now() - 25 * 3_600_000))
const countIn = (file: string): unknown => {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    return database.prepare('SELECT count(*) AS turns FROM turns').get()?.['turns']
  } finally {
    database.close()
  }
}

describe('the backup', () => {
  it('is made after ten turns, and then once a day; the one before is kept, and both are private', async () => {
    await withSession('s', 9)
    expect(existsSync(backup)).toBe(false)
    const { store } = await opened()
    await turns(store, 's', 10, 10)
    await store.close()
    expect([countIn(backup), statSync(backup).mode & 0o777]).toEqual([10, 0o600])

    const again = await opened()
    await turns(again.store, 's', 11, 12)
    await again.store.close()
    expect(countIn(backup)).toBe(10)

    aDayAgo()
    const later = await opened()
    await turns(later.store, 's', 13, 13)
    await later.store.close()
    expect([countIn(backup), countIn(`${path}.backup-2`), existsSync(`${path}.backup-new`)]).toEqual([13, 10, false])
  })

  it('does not hold up a turn', async () => {
    await withSession('s', 9)
    const { store } = await opened()
    await turns(store, 's', 10, 10)
    // The turn has ended, but the thread has only just started.
    expect([existsSync(backup), existsSync(`${path}.backup-new`)]).toEqual([false, true])
    await turns(store, 's', 11, 11)
    await store.close()
    expect(existsSync(backup)).toBe(true)
  })

  it('has nothing of a deleted session', async () => {
    await withSession('kept', 5)
    const { store } = await opened()
    await store.createSession({ id: 'secret', cwd: '/w', title: 'secret' })
    await turns(store, 'secret', 1, 5, 'unmistakable')
    await store.close()
    expect(readFileSync(backup, 'latin1')).toContain('unmistakable')
    const again = await opened()
    await again.store.deleteSession('secret')
    await again.store.close()
    expect(readFileSync(backup, 'latin1')).not.toContain('unmistakable')
    expect(countIn(backup)).toBe(5)
    expect((await opened()).warnings).toEqual([])
  })

  it('that is still being made when the store is closed keeps the process until it is done', async () => {
    await withSession('s', 9)
    const program = `
      import { openStore } from ${JSON.stringify(new URL('./open.ts', import.meta.url).href)}
      const store = await openStore(${JSON.stringify(path)})
      await store.startTurn({ id: 's/10', sessionId: 's', prompt: '', model: 'p/m' }, { role: 'user', id: 's/10/0', turnId: 's/10', text: '' })
      const ledger = { changed: [], failed: [], unknown: [] }
      const usage = { inputTokens: 1, outputTokens: 1 }
      await store.endTurn({ sessionId: 's', turnId: 's/10', status: 'answered', answer: '', ledger, usage, requests: 1 })
      await store.close()
      console.log('closed')
    `
    // Node ends with 13 if only something that does not keep it is waited for.
    expect(spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })).toMatchObject({
      status: 0,
      stdout: 'closed\n',
    })
    expect(countIn(backup)).toBe(10)
  })

  it('a damaged store keeps the backup that it has', async () => {
    await withSession('s', 10)
    aDayAgo()
    await damage(path, 'log')
    const { store } = await opened()
    await turns(store, 's', 11, 11).catch(() => undefined)
    await store.close()
    expect(countIn(backup)).toBe(10)
    expect(existsSync(`${path}.backup-2`)).toBe(false)
  })
})

describe('mulligan sessions repair', () => {
  it.each([true, false])('brings back what the damaged file lost, from the backup: %s', async (hasBackup) => {
    await withSession('s', 10)
    if (!hasBackup) rmSync(backup)
    await damage(path, 'log')
    const { saved, restored, damaged } = await repairStore(path)
    expect([saved.turns, damaged]).toEqual([10, ['log']])
    expect(restored.log).toBe(hasBackup ? saved.log : 0)
    const { store } = await opened()
    expect(await store.events({ sessionId: 's' })).toHaveLength(hasBackup ? 10 : 0)
    await store.close()
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('of a file that is gone, or that is no database any more, makes one of the backup', async () => {
    await withSession('s', 10)
    rmSync(path)
    expect(await repairStore(path)).toMatchObject({ kept: undefined, saved: { turns: 10 }, restored: { turns: 10 } })
    expect(countIn(path)).toBe(10)
    truncateSync(path, 100)
    expect(await repairStore(path)).toMatchObject({ saved: { turns: 10 } })
    expect(countIn(path)).toBe(10)
  })

  it('keeps the questions that wait, what was answered, and the keys of requests', async () => {
    const { store } = await opened()
    await store.createSession({ id: 's', cwd: '/w', title: 's' })
    const turnId = 's/1'
    await store.startTurn({ id: turnId, sessionId: 's', prompt: 'go', model: 'p/m' }, { role: 'user', id: 's/1/0', turnId, text: 'go' })
    const asked = { sessionId: 's', turnId, kind: 'approval', hash: 'h', question: { of: 1 }, createdAt: 1, status: 'pending' } as const
    await store.park('s', turnId, [
      { ...asked, id: 'a', callId: 's/1/1/0' },
      { ...asked, id: 'b', callId: 's/1/1/1' },
    ])
    await store.answer('b', { answer: 'no', reason: 'later' })
    await store.reserve('k', 'f')
    await store.respond('k', 'done')
    await store.close()
    expect(await repairStore(path)).toMatchObject({ saved: { approvals: 2, requests: 1 }, damaged: [] })
    const repaired = (await opened()).store
    expect([await repaired.approval('a'), await repaired.approval('b')]).toEqual([
      { ...asked, id: 'a', callId: 's/1/1/0' },
      { ...asked, id: 'b', callId: 's/1/1/1', status: 'answered', answer: { answer: 'no', reason: 'later' } },
    ])
    expect([await repaired.answer('a', { answer: 'once' }), await repaired.reserve('k', 'f')]).toEqual([
      true,
      { fingerprint: 'f', response: 'done' },
    ])
    await repaired.close()
  })

  it('keeps turns of the backup whose place in the order was given again', async () => {
    await withSession('s', 4)
    copyFileSync(path, join(folder, 'older'))
    const { store } = await opened()
    await store.createSession({ id: 'lost', cwd: '/w', title: 'lost' })
    await turns(store, 'lost', 1, 6)
    await store.close()
    expect(countIn(backup)).toBe(10)
    copyFileSync(join(folder, 'older'), path)
    const after = await opened()
    await after.store.createSession({ id: 'new', cwd: '/w', title: 'new' })
    await turns(after.store, 'new', 1, 3)
    await after.store.close()
    expect(await repairStore(path)).toMatchObject({ saved: { sessions: 3, turns: 13 }, damaged: [] })
    const repaired = await opened()
    const ids = async (sessionId: string) => (await repaired.store.events({ sessionId })).map((one) => `${one.turnId} ${one.id}`)
    expect([(await ids('s')).length, (await ids('lost')).at(-1), (await ids('new')).at(-1)]).toEqual([4, 'lost/1 6', 'new/1 3'])
    await repaired.store.close()
  })
})

describe('the latest writes', () => {
  /** Leaves the files as after a kill: the latest writes are only in the journal. */
  async function killed(): Promise<void> {
    path = join(mkdtempSync(join(folder, 'run-')), 'store.db')
    await withSession('s', 3)
    const { store } = await opened()
    await turns(store, 's', 4, 7)
    await store.createSession({ id: 'new', cwd: '/w', title: 'new' })
    await store.session('new')
    for (const end of ['', '-wal', '.last-events']) copyFileSync(`${path}${end}`, `${path}.killed${end}`)
    await store.close()
    path = `${path}.killed`
  }

  it('a journal that was removed is noticed, once', async () => {
    await killed()
    rmSync(`${path}-wal`)
    const { store, warnings } = await opened()
    expect(warnings).toEqual([
      expect.stringMatching(/lost its latest writes\. Missing: the last 4 events of session s, session new\..*no backup/),
    ])
    expect(await store.lastEventId('s')).toBe(3)
    await store.close()
    const again = await opened()
    expect(again.warnings).toEqual([])
    await again.store.close()
  })

  it('control: with the journal there, and without the file that knows, nothing is said', async () => {
    await killed()
    const { store, warnings } = await opened()
    expect([warnings, await store.lastEventId('s')]).toEqual([[], 7])
    await store.close()
    await killed()
    rmSync(`${path}-wal`)
    rmSync(`${path}.last-events`)
    const unaware = await opened()
    expect([unaware.warnings, await unaware.store.lastEventId('s')]).toEqual([[], 3])
    await unaware.store.close()
  })

  it('a file that was replaced by an older one is noticed, and the backup is named', async () => {
    await withSession('s', 10)
    rmSync(path)
    const { store, warnings } = await opened()
    expect(warnings).toEqual([
      expect.stringMatching(/Missing: session s\..*`mulligan sessions repair` restores what the backup of 20\d\d-/),
    ])
    await store.close()
  })

  it('the file that knows stays small and private, and garbage in it is nothing', async () => {
    await withSession('s', 3)
    const known = `${path}.last-events`
    expect(statSync(known).mode & 0o777).toBe(0o600)
    const { store } = await opened()
    for (let id = 4; id < 6000; id++)
      await store.append([event('s', id)], id % 500 === 0).then(() => (id % 2 ? store.session('s') : undefined))
    await store.close()
    expect(statSync(known).size).toBeLessThan(66_000)
    const handle = await open(known, 'a')
    await handle.write('["s",\n{}\n\0\0["x"]\n[7,"s"]\n')
    await handle.close()
    expect((await opened()).warnings).toEqual([])
  })
})
