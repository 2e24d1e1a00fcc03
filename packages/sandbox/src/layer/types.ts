/** Types for layers, which keep a command's writes apart from the workspace until a person has decided about them. */
import type { FileHandle } from 'node:fs/promises'
import type { Command, Completed } from '../command.ts'

export interface LayerSupport {
  readonly hold: 'overlay' | 'none'
  /** What provides the support, or why there is none. */
  readonly by: string
}

export interface LayerOptions {
  /** Secret files and folders, as paths relative to the workspace. Commands see them as empty, and change sets leave them out. */
  readonly masks?: readonly string[]
  /** All layers of a session share their changes to ignored files. Default: shared within this sandbox only. */
  readonly session?: string
  readonly ignored?: Ignored
}

/**
 * Returns which of these paths git ignores according to the workspace's rules, not those of the layer, whose `.gitignore` a command
 * may have written. The contents of a returned folder are not queried, so never return a folder that contains tracked files.
 */
export type Ignored = (
  paths: readonly { readonly path: string; readonly isDirectory: boolean }[],
) => Iterable<string> | Promise<Iterable<string>>

/** A file, folder or link, in the workspace or in the layer. */
export type Entry =
  | {
      readonly type: 'file'
      /** Permission bits, never including setuid or setgid. */
      readonly mode: number
      readonly size: number
      readonly mtimeMs: number
      /** Undefined if it can't be read. */
      readonly sha256: string | undefined
      readonly binary: boolean
      /** Whether setuid or setgid was set. Neither is kept. */
      readonly setuid?: true
    }
  | { readonly type: 'directory'; readonly mode: number; readonly mtimeMs: number }
  | { readonly type: 'link'; readonly target: string }
  | { readonly type: 'special'; readonly what: 'fifo' | 'socket' | 'device' | 'name' }

export interface Change {
  /** Relative to the workspace, with `/` as the separator; `.` for the workspace itself. */
  readonly path: string
  /** `modified`: the content, link target or type (such as a file in place of a folder) changed. `mode`: only the mode changed. */
  readonly kind: 'added' | 'modified' | 'deleted' | 'mode'
  /** The entry in the workspace. */
  readonly before?: Entry
  /** The entry in the layer. */
  readonly after?: Entry
  /** Whether the path is in a `.git` folder. */
  readonly git: boolean
  /** Whether it is run or loaded outside the sandbox: git hooks and settings, `.mulligan`, `mulligan.json`. */
  readonly protected: boolean
  /** Why it can't be kept: it is a pipe, a socket or a device, or its name is not UTF-8. */
  readonly unsupported?: string
}

export interface ChangeSet {
  /** Sorted by path, so that a folder comes before its contents. For a deleted folder, all its contents are listed too. */
  readonly changes: readonly Change[]
  /** Ignored paths, outermost only. */
  readonly ignored: readonly string[]
  /** SHA-256 of `changes`, including contents but not times. A decision is valid only for the change set with this hash. */
  readonly hash: string
  /** Total size of the changed files in the layer. */
  readonly bytes: number
}

/** The changes of a layer while no command is running in it. */
export interface Changed {
  /** @throws LayerError if there are too many changes, they are too large, or the layer is gone */
  readonly changes: () => Promise<ChangeSet>
  /** Opens a regular file in the layer for reading, without following links. The caller closes it. @throws LayerError */
  readonly open: (path: string) => Promise<FileHandle>
  /**
   * Moves the changes to ignored files to the session's private layer, where later commands see them. Files in a folder that the
   * workspace does not have stay in this layer; call this again once that folder has been kept.
   */
  readonly keepIgnored: () => Promise<void>
  /** Removes the layer with all its contents. */
  readonly discard: () => Promise<void>
}

export interface Layer extends Changed {
  /** Identifies the layer, including as a {@link WaitingLayer}. */
  readonly id: string
  /**
   * Runs a command on the layer, without network access. If the command is interrupted (by a timeout, an abort or a limit), the
   * layer is discarded.
   * @throws as `Sandbox.run`
   */
  readonly run: (command: Command) => Promise<Completed>
  /** Records that the layer is waiting for a decision, so that it outlives this process. See {@link listLayers}. */
  readonly wait: (note?: string) => Promise<ChangeSet>
}

/** A layer that is waiting for a decision. */
export interface WaitingLayer extends Changed {
  readonly id: string
  readonly workspace: string
  readonly session: string | undefined
  /** Hash of the change set that was shown. */
  readonly hash: string
  readonly note: string
  /** Milliseconds since 1970. */
  readonly since: number
}

/** Thrown when a layer can't be used as requested. */
export class LayerError extends Error {
  override readonly name = 'LayerError'
  /** `gone`: discarded or interrupted. `entries`, `bytes`: more changes than a layer may have. `path`: not a file in the layer. */
  readonly reason: 'unsupported' | 'gone' | 'entries' | 'bytes' | 'path' | 'busy'
  readonly remedy: string | undefined

  constructor(reason: LayerError['reason'], message: string, remedy?: string) {
    super(message)
    this.reason = reason
    this.remedy = remedy
  }
}

/** Explains from a command's output why a folder could not be renamed in a layer. Returns undefined for other failures. */
export const layerHint = ({ stderr, stdout }: Pick<Completed, 'stderr' | 'stdout'>): string | undefined =>
  /\bEXDEV\b|cross-device link/i.test(`${stderr}\n${stdout}`)
    ? 'A folder of the workspace can not be renamed while its changes are kept apart (EXDEV): an overlay with userxattr has no redirect_dir. `mv` copies it instead; from a program, copy it and delete the old one.'
    : undefined
