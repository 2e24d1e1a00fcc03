/** Rolling backups of a SQLite store: the latest two, at most one a day, made by a separate thread. */
import { closeSync, existsSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { Worker } from 'node:worker_threads'

const DAY = 24 * 3_600_000
/** Number of turns before the first backup. */
const FIRST_AFTER = 10
/** Milliseconds after which an unfinished backup is considered aborted. */
const GIVEN_UP = 3_600_000

/** Returns the paths of the backups, latest first. */
export const backupsOf = (path: string): readonly [string, string] => [`${path}.backup`, `${path}.backup-2`]

export function createBackups(path: string) {
  const [latest, previous] = backupsOf(path)
  const made = `${path}.backup-new`
  let running: Promise<void> | undefined
  let worker: Worker | undefined

  const ageOf = (file: string): number => {
    const found = statSync(file, { throwIfNoEntry: false })
    return found ? Date.now() - found.mtimeMs : Number.POSITIVE_INFINITY
  }

  function start(): void {
    if (running || !reserve()) return
    running = copy()
      .then(() => {
        if (existsSync(latest)) renameSync(latest, previous)
        renameSync(made, latest)
      })
      // The store is unreadable or the disk is full: keep the older backups and try again at the next turn.
      .catch(() => rmSync(made, { force: true }))
      .finally(() => {
        running = undefined
        worker = undefined
      })
  }

  async function copy(): Promise<void> {
    worker = startCopy(path, made)
    await ended(worker)
  }

  /** Reserves the new backup file: private from the start, and for one process at a time. */
  function reserve(): boolean {
    if (ageOf(made) > GIVEN_UP) rmSync(made, { force: true })
    try {
      closeSync(openSync(made, 'wx', 0o600))
      return true
    } catch {
      return false
    }
  }

  return {
    /** Starts a backup if one is due. @param turns number of turns in the store; called only if there is no backup yet */
    startIfDue(turns: () => number): void {
      if (running) return
      const age = ageOf(latest)
      if (age === Number.POSITIVE_INFINITY ? turns() >= FIRST_AFTER : age > DAY) start()
    },
    /** Replaces all backups after a deletion, so that none contains the deleted content. */
    renew(): void {
      const hadOne = existsSync(latest)
      for (const file of [made, latest, previous]) rmSync(file, { force: true })
      if (hadOne) start()
    },
    /** Waits for the running backup. The process does not end meanwhile. */
    async finished(): Promise<void> {
      worker?.ref()
      await running
    },
  }
}

function startCopy(from: string, to: string): Worker {
  // The compiled file, or the source if run from source.
  const program = new URL(import.meta.url.endsWith('.ts') ? './backup-worker.ts' : './backup-worker.js', import.meta.url)
  const worker = new Worker(program, { workerData: { from, to }, execArgv: [], env: {}, stderr: true })
  worker.unref()
  return worker
}

const ended = (worker: Worker): Promise<void> =>
  new Promise((resolve, reject) => {
    worker.on('error', reject)
    worker.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`the backup ended with ${code}`))))
  })
