/** Contents by their hash: what a file was, and what it becomes. */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { copyFile, readdir, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256 } from '../files/common/file-bytes.ts'
import { CHUNK, copyAndHash, toDisk } from './copy.ts'
import { notRecorded } from './not-recorded.ts'
import type { FileState } from './state.ts'
import { type Contents, codeOf, syncDirectory, Unexpected, within } from './tree.ts'

export interface Blobs extends Contents {
  /** @returns its hash */
  readonly put: (bytes: Uint8Array) => Promise<string>
  /**
   * Keeps what stands at a path of the workspace.
   * @throws Unexpected when that is not `state`
   */
  readonly keep: (root: string, path: string, state: FileState) => Promise<void>
  /**
   * Keeps what an open file holds.
   * @throws Lost when that has another hash
   */
  readonly take: (from: number, hash: string) => Promise<void>
}

/** A content that is not in the store, or not as it was put there. */
export class Lost extends Error {}

/** Contents that no record names are left for as long, as they may belong to a plan that is just being made. Milliseconds. */
const GRACE = 60 * 60 * 1000
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0

export interface DiskBlobs extends Blobs {
  readonly bytes: (hash: string) => Promise<Buffer>
  /** It is there, as it was put in. */
  readonly isWhole: (hash: string) => Promise<boolean>
  /** What was put in stays there when the power fails. */
  readonly sync: () => Promise<void>
  /** Removes what is not among the hashes. */
  readonly retain: (hashes: ReadonlySet<string>, now: number) => Promise<void>
}

/** @param dir is made when something is first put in */
export function diskBlobs(dir: string): DiskBlobs {
  /** Put in by this process, so known to be whole. */
  const known = new Set<string>()
  let isSynced = true

  function isThere(hash: string): boolean {
    if (!known.has(hash)) return false
    const now = new Date()
    return succeeds(() => utimesSync(join(dir, hash), now, now))
  }

  function openNew(path: string): number {
    try {
      return openSync(path, 'wx+', 0o600)
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error
      mkdirSync(dir, { recursive: true, mode: 0o700 })
      return openSync(path, 'wx+', 0o600)
    }
  }

  /** Fills a file of its own and gives it its name in one step. */
  async function fill(write: (to: number, path: string) => Promise<string>): Promise<string> {
    const temporary = join(dir, `${randomBytes(6).toString('hex')}.tmp`)
    try {
      const fd = openNew(temporary)
      let hash: string
      try {
        hash = await write(fd, temporary)
        await toDisk(fd)
      } finally {
        closeSync(fd)
      }
      renameSync(temporary, join(dir, hash))
      known.add(hash)
      isSynced = false
      return hash
    } catch (error) {
      succeeds(() => unlinkSync(temporary))
      throw error instanceof Unexpected || error instanceof Lost ? error : notRecorded(error)
    }
  }

  async function reading<T>(hash: string, use: (from: number) => T): Promise<Awaited<T>> {
    const from = openKept(join(dir, hash), hash)
    try {
      return await use(from)
    } finally {
      closeSync(from)
    }
  }

  return {
    put: async (bytes) => {
      const hash = sha256(bytes)
      if (isThere(hash)) return hash
      return fill(async (to) => {
        writeFileSync(to, bytes)
        return hash
      })
    },
    keep: async (root, path, state) => {
      if (isThere(state.hash)) return
      await within(root, path, async (at) => {
        await fill(async (to, temporary) => {
          // Never a second name for the file: a program that has it open would go on writing into what is kept.
          try {
            if (state.size > CHUNK) await copyFile(at, temporary, constants.COPYFILE_FICLONE)
            else copyFileSync(at, temporary, constants.COPYFILE_FICLONE)
          } catch (error) {
            throw codeOf(error) === 'ENOENT' ? new Unexpected(path) : error
          }
          fchmodSync(to, 0o600)
          // Of the copy: the file may be written to meanwhile.
          const { hash } = await copyAndHash(to)
          if (hash !== state.hash) throw new Unexpected(path)
          return hash
        })
      })
    },
    take: async (from, hash) => {
      if (isThere(hash)) return
      await fill(async (to) => {
        if ((await copyAndHash(from, to)).hash !== hash) throw new Lost(hash)
        return hash
      })
    },
    copyTo: async (hash, to) => {
      if ((await reading(hash, (from) => copyAndHash(from, to))).hash !== hash) throw new Lost(hash)
    },
    bytes: async (hash) => {
      const bytes = await reading(hash, (from) => readFileSync(from))
      if (sha256(bytes) !== hash) throw new Lost(hash)
      return bytes
    },
    isWhole: (hash) =>
      reading(hash, (from) => copyAndHash(from)).then(
        (found) => found.hash === hash,
        () => false,
      ),
    sync: async () => {
      if (!isSynced) await syncDirectory(dir)
      isSynced = true
    },
    retain: async (hashes, now) => {
      for (const name of await readdir(dir).catch(() => []))
        if (!hashes.has(name)) {
          const found = await stat(join(dir, name)).catch(() => undefined)
          if (found && now - Math.max(found.mtimeMs, found.ctimeMs) > GRACE) await unlink(join(dir, name)).catch(() => undefined)
        }
    },
  }
}

function openKept(path: string, hash: string): number {
  try {
    return openSync(path, constants.O_RDONLY | NO_FOLLOW)
  } catch (cause) {
    throw new Lost(hash, { cause })
  }
}

function succeeds(work: () => void): boolean {
  try {
    work()
    return true
  } catch {
    return false
  }
}

/**
 * For changes without a record.
 *
 * @param keepsBefore false where nothing has to be taken back: a single change is made whole or not at all
 */
export function memoryBlobs(keepsBefore: boolean): Blobs {
  const contents = new Map<string, Uint8Array>()
  return {
    put: async (bytes) => {
      const hash = sha256(bytes)
      contents.set(hash, bytes)
      return hash
    },
    keep: async (root, path, state) => {
      if (!keepsBefore || contents.has(state.hash)) return
      await within(root, path, async (at) => {
        const from = openSync(at, constants.O_RDONLY | NO_FOLLOW)
        try {
          contents.set(state.hash, readFileSync(from))
        } finally {
          closeSync(from)
        }
      })
    },
    take: async (from, hash) => {
      const bytes = readFileSync(from)
      if (sha256(bytes) !== hash) throw new Lost(hash)
      contents.set(hash, bytes)
    },
    copyTo: async (hash, to) => {
      const bytes = contents.get(hash)
      if (!bytes) throw new Lost(hash)
      writeFileSync(to, bytes)
    },
  }
}
