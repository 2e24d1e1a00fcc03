/** What the thinking tools keep in a session. */
import { randomBytes } from 'node:crypto'
import { readFileSync, renameSync, statSync } from 'node:fs'
import { mkdir, rename, unlink, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ToolFailure } from '@mulligan/core'

export interface SessionState {
  readonly get: (key: string) => unknown
  /** What was set is there for `get` at once. */
  readonly set: (key: string, value: unknown) => void | Promise<void>
  /** What the model should know of the state itself; each is told once. */
  readonly takeNotes?: () => readonly string[]
}

/** Bytes of JSON. */
const MAX_BYTES = 1024 * 1024

/** State that ends with the process. */
export function memoryState(): SessionState {
  const values = new Map<string, unknown>()
  return { get: (key) => values.get(key), set: (key, value) => void values.set(key, value) }
}

/**
 * State in a JSON file that only its owner can read, written in one step. A file that cannot be read is put aside as
 * `<file>.broken`, and the state starts anew.
 *
 * @throws ToolFailure (too_large) from `set` past 1 MiB; nothing is kept of that value then
 */
export function fileState(file: string): SessionState {
  const { values, problem } = load(file)
  let notes = problem === undefined ? [] : [problem]
  let last: Promise<void> = Promise.resolve()
  return {
    get: (key) => values.get(key),
    set: (key, value) => {
      const text = JSON.stringify(Object.fromEntries([...values, [key, value]]))
      if (Buffer.byteLength(text) > MAX_BYTES)
        throw new ToolFailure('The notes of this session are full.', { errorType: 'too_large', status: 'failed' })
      values.set(key, value)
      // One after the other, or an older text could replace a newer one.
      const written = last.then(() => save(file, text))
      last = written.catch(() => undefined)
      return written
    },
    takeNotes: () => {
      const taken = notes
      notes = []
      return taken
    },
  }
}

function load(file: string): { readonly values: Map<string, unknown>; readonly problem?: string } {
  try {
    if (statSync(file).size > MAX_BYTES) throw new RangeError('too large')
    const read: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (typeof read !== 'object' || read === null || Array.isArray(read)) throw new TypeError('no object')
    return { values: new Map(Object.entries(read)) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { values: new Map() }
    try {
      renameSync(file, `${file}.broken`)
    } catch {
      // It is replaced at the next change.
    }
    return { values: new Map(), problem: 'What was noted earlier in this session could not be read and is lost.' }
  }
}

async function save(file: string, text: string): Promise<void> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await writeFile(temporary, text, { mode: 0o600, flag: 'wx' })
    await rename(temporary, file)
  } catch (error) {
    await unlink(temporary).catch(() => undefined)
    throw new ToolFailure(`The notes of this session could not be saved (${(error as NodeJS.ErrnoException).code ?? 'unknown error'}).`, {
      cause: error,
    })
  }
}

/** The notes of the state, as a part of a result. */
export function noted(state: SessionState, more: readonly string[] = []): { readonly notes?: readonly string[] } {
  const notes = [...(state.takeNotes?.() ?? []), ...more]
  return notes.length > 0 ? { notes } : {}
}
