/**
 * Changesets on disk. `pending/` has those that are being made, `done/` those that were; a rename leads from one to the
 * other. The name tells the order, the bytes that are kept for it, and the turn.
 */
import { createHash, randomBytes } from 'node:crypto'
import { closeSync, mkdirSync, openSync, renameSync, writeFileSync } from 'node:fs'
import { readdir, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { State } from '../workspace/change.ts'
import { toDisk } from './copy.ts'
import { notRecorded } from './not-recorded.ts'
import { type Changeset, parseChangeset } from './record.ts'
import type { Step } from './step.ts'
import { codeOf, syncDirectory } from './tree.ts'

export interface Entry {
  readonly name: string
  /** The same for all of one turn. */
  readonly group: string
  readonly bytes: number
}

export interface Journal {
  /** @returns its name. @throws ToolFailure when it can't be written */
  readonly begin: (changeset: Changeset) => Promise<string>
  readonly finish: (name: string) => Promise<void>
  readonly abandon: (name: string) => Promise<void>
  /** Oldest first. */
  readonly list: (of: 'pending' | 'done') => Promise<readonly Entry[]>
  /** Undefined for one that can't be read. */
  readonly read: (of: 'pending' | 'done', name: string) => Promise<Changeset | undefined>
  readonly remove: (name: string) => Promise<void>
}

const MAX_GROUP = 120

/** The turn as a part of a file name. */
function groupOf(turn: string): string {
  const safe = encodeURIComponent(turn).replaceAll('_', '%5F').replaceAll('*', '%2A')
  return safe.length <= MAX_GROUP ? safe : `${safe.slice(0, 40)}${createHash('sha256').update(turn).digest('hex').slice(0, 40)}`
}

export function createJournal(dir: string): Journal {
  const pending = join(dir, 'pending')
  const done = join(dir, 'done')
  let latest = 0

  /** Rises also within a millisecond, and when the clock is set back. */
  async function nextNumber(): Promise<string> {
    if (latest === 0) latest = Math.max(0, ...[...(await names(done)), ...(await names(pending))].map((name) => Number.parseInt(name, 10)))
    latest = Math.max(Date.now(), latest + 1)
    return String(latest).padStart(14, '0')
  }

  return {
    begin: async (changeset) => {
      try {
        mkdirSync(pending, { recursive: true, mode: 0o700 })
        mkdirSync(done, { recursive: true, mode: 0o700 })
        const name = [await nextNumber(), randomBytes(4).toString('hex'), bytesOf(changeset.steps), groupOf(changeset.turn)].join('_')
        const [temporary, planned] = [join(pending, `${name}.tmp`), join(pending, `${name}.json`)]
        try {
          await writeDurably(temporary, JSON.stringify(changeset))
          renameSync(temporary, planned)
          await syncDirectory(pending)
        } catch (error) {
          for (const path of [temporary, planned]) await unlink(path).catch(() => undefined)
          throw error
        }
        return `${name}.json`
      } catch (error) {
        throw notRecorded(error)
      }
    },
    finish: async (name) => {
      renameSync(join(pending, name), join(done, name))
      // It is done by its name. Should the power fail before that is on disk, it is taken back, as a whole too.
      for (const folder of [done, pending]) await syncDirectory(folder).catch(() => undefined)
    },
    abandon: (name) => unlink(join(pending, name)),
    list: async (of) => (await names(of === 'done' ? done : pending)).map(entryOf),
    read: async (of, name) => {
      try {
        return parseChangeset(await readFile(join(of === 'done' ? done : pending, name), 'utf8'))
      } catch {
        return undefined
      }
    },
    remove: (name) => unlink(join(done, name)),
  }
}

async function names(dir: string): Promise<string[]> {
  const all = await readdir(dir).catch((error) => {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  })
  return all.filter((name) => name.endsWith('.json')).sort()
}

function entryOf(name: string): Entry {
  const [, , bytes = '0', ...group] = name.replace(/\.json$/, '').split('_')
  return { name, bytes: Number(bytes), group: group.join('_') }
}

const sizeOf = (state: State): number => (state.kind === 'file' ? state.size : 0)
const bytesOf = (steps: readonly Step[]): number =>
  steps.reduce((sum, step) => sum + (step.kind === 'set' ? sizeOf(step.before) + sizeOf(step.after) : 0), 0)

async function writeDurably(path: string, text: string): Promise<void> {
  const fd = openSync(path, 'wx', 0o600)
  try {
    writeFileSync(fd, text)
    await toDisk(fd)
  } finally {
    closeSync(fd)
  }
}
