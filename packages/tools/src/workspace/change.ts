/** Describes changes of a tool to the workspace: a list of changes that take effect together or not at all. */
import type { FileHandle } from 'node:fs/promises'

/** A path that passed the checks. */
export interface Resolved {
  /** Real path on this machine. Use it to open the file; never show it to the model. */
  readonly absolute: string
  /** The path as the model sees it. */
  readonly relative: string
  readonly kind: 'file' | 'directory' | 'missing'
  /** Whether the path is a link that was not followed; `kind` is then `file`. */
  readonly isLink?: boolean
  /** Real path of the containing root: the workspace, or the folder of spilled results. */
  readonly root: string
  /** Whether it is a spilled result. */
  readonly output: boolean
}

export type Change =
  /** `before`: SHA-256 of the replaced content; undefined for a file that must not exist yet. */
  | { readonly kind: 'write'; readonly file: Resolved; readonly bytes: Uint8Array; readonly before: string | undefined }
  /** If `before` is undefined, any content may be deleted. */
  | { readonly kind: 'delete'; readonly file: Resolved; readonly before: string | undefined }
  /** `bytes`: the new content, if it changes too. Nothing may exist at `to`. */
  | {
      readonly kind: 'move'
      readonly from: Resolved
      readonly to: Resolved
      readonly before: string | undefined
      readonly bytes?: Uint8Array
    }
  /** Also creates missing parent folders. */
  | { readonly kind: 'make_dir'; readonly directory: Resolved }

/** A path that a command changed on its layer, relative to the workspace with forward slashes. */
export interface LayerChange {
  readonly path: string
  /** State in the workspace when the change set was made. */
  readonly before: State
  /** State on the layer. The `mtime` of a file is kept. */
  readonly after: State
}

export type OpenOnLayer = (path: string) => Promise<FileHandle>

export interface ChangeLog {
  /**
   * Makes the changes in order, or none of them.
   *
   * @param callId id of the call that makes them: `session/turn/step/ordinal`
   * @param signal if it is aborted while a content is being written to disk, no change is made, however slow the disk is
   * @throws ModelRetry (conflict) if a file does not match `before`; the signal's reason; file system errors
   */
  readonly apply: (callId: string, changes: readonly Change[], signal?: AbortSignal) => Promise<void>
  /**
   * Makes the changes of a command on its layer, or none of them.
   *
   * @param open opens a file of the layer for reading
   * @throws ModelRetry (conflict) if a path does not match `before`; file system errors
   */
  readonly adopt: (callId: string, open: OpenOnLayer, changes: readonly LayerChange[]) => Promise<void>
}

/** State of a path, as far as it is recorded and restored. */
export type State =
  | { readonly kind: 'missing' }
  | FileState
  | (Rights & { readonly kind: 'directory' })
  | { readonly kind: 'link'; readonly target: string }
  /** A socket or the like, which is never created or removed. */
  | { readonly kind: 'other' }

export interface FileState extends Rights {
  readonly kind: 'file'
  /** SHA-256 of the content. */
  readonly hash: string
  readonly size: number
  /** Milliseconds since 1970. Only set if the file gets this time instead of the time of writing. */
  readonly mtime?: number
}

interface Rights {
  /** Permission bits; absent for a new file, which gets the default of the process. */
  readonly mode?: number
  readonly owner?: { readonly uid: number; readonly gid: number }
  /** Distinguishes two folders that were moved. */
  readonly inode?: number
}
