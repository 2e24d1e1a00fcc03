/** What a tool does to the workspace: a list of changes that take effect all together or not at all. */
import type { FileHandle } from 'node:fs/promises'
import type { Resolved } from './resolved.ts'

export type Change =
  /** `before`: SHA-256 of the content that is replaced; undefined for a file that must not exist yet. */
  | { readonly kind: 'write'; readonly file: Resolved; readonly bytes: Uint8Array; readonly before: string | undefined }
  /** `before` undefined: whatever is in it. */
  | { readonly kind: 'delete'; readonly file: Resolved; readonly before: string | undefined }
  /** `bytes`: the new content, when it changes too. Nothing may stand at `to`. */
  | {
      readonly kind: 'move'
      readonly from: Resolved
      readonly to: Resolved
      readonly before: string | undefined
      readonly bytes?: Uint8Array
    }
  /** With the folders it lies in. */
  | { readonly kind: 'make_dir'; readonly directory: Resolved }

/** One path that a command changed on its layer, relative to the workspace with forward slashes. */
export interface LayerChange {
  readonly path: string
  /** What stood in the workspace when the change set was made. */
  readonly before: State
  /** What stands on the layer. `mtime` of a file is kept. */
  readonly after: State
}

export type OpenOnLayer = (path: string) => Promise<FileHandle>

export interface ChangeLog {
  /**
   * Makes the changes, in order, or none of them.
   *
   * @param callId of the call that makes them: `session/turn/step/ordinal`
   * @param signal when it is aborted while a content is being written to disk, no change is made, however slow the disk is
   * @throws ModelRetry (conflict) when a file is not as `before` says; the signal's reason; the error of the file system when it fails
   */
  readonly apply: (callId: string, changes: readonly Change[], signal?: AbortSignal) => Promise<void>
  /**
   * Makes what a command did on its layer, or none of it.
   *
   * @param open a file of the layer, to be read
   * @throws ModelRetry (conflict) when a path is not as `before` says; the error of the file system when it fails
   */
  readonly adopt: (callId: string, open: OpenOnLayer, changes: readonly LayerChange[]) => Promise<void>
}

/** What stands at a path, as far as it is recorded and brought back. */
export type State = Missing | FileState | DirectoryState | LinkState | OtherState

export interface Missing {
  readonly kind: 'missing'
}
export interface FileState {
  readonly kind: 'file'
  /** SHA-256 of the content. */
  readonly hash: string
  readonly size: number
  /** Permission bits; absent for a new file, which gets what the process gives. */
  readonly mode?: number
  readonly owner?: Owner
  readonly inode?: number
  /** Milliseconds since 1970, where the file is to have this time rather than that of its writing. */
  readonly mtime?: number
}
export interface DirectoryState {
  readonly kind: 'directory'
  readonly mode?: number
  readonly owner?: Owner
  /** Tells two folders apart that were moved about. */
  readonly inode?: number
}
export interface LinkState {
  readonly kind: 'link'
  readonly target: string
}
/** A socket or the like: never made, never removed. */
export interface OtherState {
  readonly kind: 'other'
}
interface Owner {
  readonly uid: number
  readonly gid: number
}
