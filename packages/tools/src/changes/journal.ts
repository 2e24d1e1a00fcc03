/**
 * Stores changesets on disk: `pending/` contains those in progress, `done/` the finished ones, and a rename moves one to the other. The
 * file name contains the order, the stored bytes and the turn.
 */
import { randomBytes } from 'node:crypto'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { readdir, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { sha256 } from '../sha256.ts'
import type { State } from '../workspace/change.ts'
import type { DiskBlobs } from './blobs.ts'
import type { Step } from './state.ts'
import { codeOf, notRecorded, opened, syncDirectory, toDisk } from './tree.ts'

/** Built when a record is read, because that takes a few milliseconds. */
function changesetSchema() {
  const rights = { mode: z.int().optional(), owner: z.object({ uid: z.int(), gid: z.int() }).optional(), inode: z.number().optional() }
  const hash = z.string().regex(/^[0-9a-f]{64}$/)
  const state = z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('missing') }),
    z.object({ kind: z.literal('file'), hash, size: z.int(), ...rights, mtime: z.number().optional() }),
    z.object({ kind: z.literal('directory'), ...rights }),
    z.object({ kind: z.literal('link'), target: z.string() }),
  ])
  /** Must lie below the workspace, whoever wrote the record. */
  const path = z.string().refine((text) => text !== '' && !text.split('/').some((part) => part === '' || part === '.' || part === '..'))
  const temporary = z.string().regex(/^\.mulligan-[0-9a-f]+\.tmp$/)
  const steps = z.array(
    z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('set'), path, before: state, after: state, temporary, lenient: z.boolean().optional() }),
      z.object({ kind: z.literal('move'), from: path, to: path, state }),
    ]),
  )
  return z.object({
    version: z.literal(1),
    /** `call` was made by a tool; `undo` and `redo` undo a turn and redo it. */
    kind: z.enum(['call', 'undo', 'redo']),
    turn: z.string(),
    callId: z.string().optional(),
    /** Milliseconds since 1970. */
    at: z.number(),
    steps,
    /** For an undo or redo: the steps that it could not undo or redo. */
    left: steps.optional(),
  })
}
let schema: ReturnType<typeof changesetSchema> | undefined

/** A changeset as it is stored. */
export type Changeset = Readonly<Omit<z.infer<ReturnType<typeof changesetSchema>>, 'steps' | 'left'>> & {
  readonly steps: readonly Step[]
  readonly left?: readonly Step[]
}

export interface Entry {
  readonly name: string
  /** The same for all changesets of a turn. */
  readonly group: string
  readonly bytes: number
}

const MAX_GROUP = 120

/** Encodes a turn for use in a file name. */
function groupOf(turn: string): string {
  const safe = encodeURIComponent(turn).replaceAll('_', '%5F').replaceAll('*', '%2A')
  return safe.length <= MAX_GROUP ? safe : `${safe.slice(0, 40)}${sha256(turn).slice(0, 40)}`
}

export type Journal = ReturnType<typeof createJournal>

export function createJournal(dir: string) {
  const folders = { pending: join(dir, 'pending'), done: join(dir, 'done') }
  const { pending, done } = folders
  let latest = 0

  /** Increases even within a millisecond and when the clock is set back. */
  async function nextNumber(): Promise<string> {
    if (latest === 0) latest = Math.max(0, ...[...(await names(done)), ...(await names(pending))].map((name) => Number.parseInt(name, 10)))
    latest = Math.max(Date.now(), latest + 1)
    return String(latest).padStart(14, '0')
  }

  return {
    /** @returns its name. @throws ToolFailure if it can't be written */
    begin: async (changeset: Changeset): Promise<string> => {
      try {
        for (const folder of [pending, done]) mkdirSync(folder, { recursive: true, mode: 0o700 })
        const name = [await nextNumber(), randomBytes(4).toString('hex'), bytesOf(changeset.steps), groupOf(changeset.turn)].join('_')
        const [temporary, planned] = [join(pending, `${name}.tmp`), join(pending, `${name}.json`)]
        const write = async (fd: number): Promise<void> => {
          writeFileSync(fd, JSON.stringify(changeset))
          await toDisk(fd)
        }
        try {
          await opened(temporary, 'wx', write, 0o600)
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
    finish: async (name: string): Promise<void> => {
      renameSync(join(pending, name), join(done, name))
      // The rename completes it. If the power fails before the rename is on disk, all of it is rolled back.
      for (const folder of [done, pending]) await syncDirectory(folder).catch(() => undefined)
    },
    abandon: (name: string): Promise<void> => unlink(join(pending, name)),
    /** Oldest first. */
    list: async (of: keyof typeof folders): Promise<readonly Entry[]> => (await names(folders[of])).map(entryOf),
    /** Returns undefined if it can't be read. */
    read: (of: keyof typeof folders, name: string): Promise<Changeset | undefined> =>
      readFile(join(folders[of], name), 'utf8')
        .then((text) => {
          schema ??= changesetSchema()
          return schema.parse(JSON.parse(text)) as Changeset
        })
        .catch(() => undefined),
    remove: (name: string): Promise<void> => unlink(join(done, name)),
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

const sizeOf = (one: State): number => (one.kind === 'file' ? one.size : 0)
const bytesOf = (all: readonly Step[]): number =>
  all.reduce((sum, step) => sum + (step.kind === 'set' ? sizeOf(step.before) + sizeOf(step.after) : 0), 0)

export interface Retention {
  /** Number of turns to keep. */
  readonly turns: number
  /** Bytes of content to keep; the latest turn is kept even if it is larger. */
  readonly bytes: number
}

export const DEFAULT_RETENTION: Retention = { turns: 100, bytes: 2 * 1024 ** 3 }

/** Removes old turns, so that the store does not grow forever. */
export async function prune(journal: Journal, blobs: DiskBlobs, retention: Retention): Promise<void> {
  const old = tooOld(await journal.list('done'), retention)
  if (old.length === 0) return
  // Latest first: if this is interrupted, only the beginning of a turn is left, and it is removed the next time.
  for (const { name } of old.toReversed()) await journal.remove(name)
  const inFolder = async (of: 'done' | 'pending') => Promise.all((await journal.list(of)).map(({ name }) => journal.read(of, name)))
  const changesets = [...(await inFolder('done')), ...(await inFolder('pending'))]
  await blobs.retain(new Set(changesets.flatMap((changeset) => changeset?.steps.flatMap(hashesOf) ?? [])))
}

/** @param entries oldest first */
export function tooOld(entries: readonly Entry[], { turns, bytes }: Retention): readonly Entry[] {
  const groups = new Map<string, number>()
  for (const { group, bytes: size } of entries.toReversed()) groups.set(group, (groups.get(group) ?? 0) + size)
  const kept = new Set<string>()
  let total = 0
  for (const [group, size] of groups) {
    total += size
    if (kept.size > 0 && (kept.size >= turns || total > bytes)) break
    kept.add(group)
  }
  return entries.filter(({ group }) => !kept.has(group))
}

const hashesOf = (step: Step): readonly string[] =>
  step.kind === 'set' ? [step.before, step.after].flatMap((one) => (one.kind === 'file' ? [one.hash] : [])) : []
