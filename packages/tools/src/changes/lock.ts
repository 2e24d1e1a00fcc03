/**
 * Ensures that only one process at a time plans and makes changes in a workspace. SQLite holds the lock, so it is released when the process
 * ends.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { ToolFailure } from '@mulligan/core'
import { notRecorded } from './tree.ts'

/** Milliseconds. */
export const LOCK_WAIT = 10_000
/** Milliseconds between two attempts. A random delay of up to the same length is added, so that two processes do not stay in step. */
const PAUSE = 15
const SQLITE_BUSY = 5

/**
 * @param folder folder with the changes of the workspace; created when the lock is first taken
 * @param wait milliseconds to wait for others
 * @throws ToolFailure (conflict) if another process holds the lock for that long; the signal's reason
 */
export async function withLock<T>(folder: string, wait: number, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const lock = await take(folder, wait, signal)
  if (!lock) throw busy()
  return work().finally(() => lock.close())
}

/** Runs `work` unless another process holds the lock. */
export async function ifUnlocked<T>(folder: string, work: () => Promise<T>): Promise<T | undefined> {
  const lock = await take(folder, 0)
  return lock && work().finally(() => lock.close())
}

/** @returns undefined if another process holds it */
async function take(folder: string, wait: number, signal?: AbortSignal): Promise<DatabaseSync | undefined> {
  const until = Date.now() + wait
  const database = await open(folder)
  for (;;)
    try {
      // Nothing is ever written to the database, so it needs no journal file.
      database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
      return database
    } catch (error) {
      const isBusy = (error as { readonly errcode?: number }).errcode === SQLITE_BUSY
      if (isBusy && Date.now() < until && !signal?.aborted) {
        await sleep(PAUSE * (1 + Math.random()))
        continue
      }
      database.close()
      if (!isBusy) throw notRecorded(error)
      signal?.throwIfAborted()
      return undefined
    }
}

async function open(folder: string): Promise<DatabaseSync> {
  const { DatabaseSync } = await import('node:sqlite')
  const path = join(folder, 'lock.db')
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    // Private to the user. Only created if it is new, because closing a file releases all locks that this process has on it.
    if (!existsSync(path)) writeFileSync(path, '', { flag: 'a', mode: 0o600 })
    return new DatabaseSync(path)
  } catch (error) {
    throw notRecorded(error)
  }
}

const busy = (): ToolFailure =>
  new ToolFailure('Another process is changing files in this workspace just now, so nothing was changed.', {
    errorType: 'conflict',
    constraint: 'one process at a time; the same call can be made again',
  })
