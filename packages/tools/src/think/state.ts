/** Session state of the thinking tools. */
import { randomBytes } from 'node:crypto'
import { readFileSync, renameSync, statSync } from 'node:fs'
import { mkdir, rename, unlink, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ToolFailure } from '@mulligan/core'

export interface SessionState {
  readonly get: (key: string) => unknown
  /** Makes the value available to `get` immediately. */
  readonly set: (key: string, value: unknown) => void | Promise<void>
  /** Returns notes for the model about the state itself, each of them once. */
  readonly takeNotes?: () => readonly string[]
}

/** Bytes of JSON. */
const MAX_BYTES = 1024 * 1024

/** Creates a state that is lost when the process ends. */
export function memoryState(): SessionState {
  const values = new Map<string, unknown>()
  return { get: (key) => values.get(key), set: (key, value) => void values.set(key, value) }
}

/**
 * Creates a state in a JSON file that only its owner can read, written atomically. A file that cannot be read is renamed to
 * `<file>.broken`, and the state starts empty.
 *
 * @throws ToolFailure (too_large) from `set` beyond 1 MiB; the value is then not stored
 */
export function fileState(file: string): SessionState {
  const notes: string[] = []
  const values = new Map<string, unknown>()
  try {
    if (statSync(file).size > MAX_BYTES) throw new RangeError('too large')
    const read: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (typeof read !== 'object' || read === null || Array.isArray(read)) throw new TypeError('no object')
    for (const [key, value] of Object.entries(read)) values.set(key, value)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      notes.push('What was noted earlier in this session could not be read and is lost.')
      putAside(file)
    }
  }
  let last: Promise<void> = Promise.resolve()
  return {
    get: (key) => values.get(key),
    set: (key, value) => {
      const text = JSON.stringify(Object.fromEntries([...values, [key, value]]))
      if (Buffer.byteLength(text) > MAX_BYTES)
        throw new ToolFailure('The notes of this session are full.', { errorType: 'too_large', status: 'failed' })
      values.set(key, value)
      // Write one after the other, or an older text could replace a newer one.
      const written = last.then(() => save(file, text))
      last = written.catch(() => undefined)
      return written
    },
    takeNotes: () => notes.splice(0),
  }
}

function putAside(file: string): void {
  try {
    renameSync(file, `${file}.broken`)
  } catch {
    // It is overwritten by the next change.
  }
}

async function save(file: string, text: string): Promise<void> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await writeFile(temporary, text, { mode: 0o600, flag: 'wx' })
    await rename(temporary, file)
  } catch (cause) {
    await unlink(temporary).catch(() => undefined)
    const { code = 'unknown error' } = cause as NodeJS.ErrnoException
    throw new ToolFailure(`The notes of this session could not be saved (${code}).`, { cause })
  }
}

/** Returns the state's notes as part of a result. */
export function noted(state: SessionState, more: readonly string[] = []): { readonly notes?: readonly string[] } {
  const notes = [...(state.takeNotes?.() ?? []), ...more]
  return notes.length > 0 ? { notes } : {}
}
