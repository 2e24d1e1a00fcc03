import type { FileHandle } from 'node:fs/promises'
import type { Resolved } from '../../workspace/workspace.ts'
import type { FileLimits } from '../common/limits.ts'

/** A file that is open to be read, and what of it was asked for. */
export interface OpenFile {
  readonly file: Resolved
  readonly handle: FileHandle
  /** Bytes. */
  readonly size: number
  readonly call: { readonly path: string; readonly offset: number; readonly limit: number }
  readonly limits: FileLimits
  readonly signal: AbortSignal
  /** To read into, over and over. */
  readonly chunk: Buffer
  /** Bytes from the start of the file that are in {@link OpenFile.chunk} at first. */
  readonly first: number
}
