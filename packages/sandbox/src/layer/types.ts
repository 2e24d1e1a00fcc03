/** What a layer is to its callers: a command's writes, kept apart from the workspace until a person has decided about them. */
import type { FileHandle } from 'node:fs/promises'
import type { Command, Completed } from '../command.ts'

export interface LayerSupport {
  readonly hold: 'overlay' | 'none'
  /** By what, or why not. */
  readonly by: string
}

export interface LayerOptions {
  /** Secret files and folders, as paths from the workspace: commands see them empty, and no change set names them. */
  readonly masks?: readonly string[]
  /** Changes to ignored files are shared by all layers of a session. Default: by those of this sandbox. */
  readonly session?: string
  readonly ignored?: Ignored
}

/**
 * Which of these paths git ignores, by the rules of the workspace and not of the layer, whose `.gitignore` a command may have
 * written. What is in a folder named here is not asked for: name none that holds tracked files.
 */
export type Ignored = (
  paths: readonly { readonly path: string; readonly isDirectory: boolean }[],
) => Iterable<string> | Promise<Iterable<string>>

/** A file, folder or link, in the workspace or in the layer. */
export type Entry =
  | {
      readonly type: 'file'
      /** Permission bits. The bits that lend the owner's or group's rights (setuid, setgid) are never among them. */
      readonly mode: number
      readonly size: number
      readonly mtimeMs: number
      /** Undefined if it can't be read. */
      readonly sha256: string | undefined
      readonly binary: boolean
      /** It has setuid or setgid set, which is not kept. */
      readonly setuid?: true
    }
  | { readonly type: 'directory'; readonly mode: number; readonly mtimeMs: number }
  | { readonly type: 'link'; readonly target: string }
  | { readonly type: 'special'; readonly what: 'fifo' | 'socket' | 'device' | 'name' }

export interface Change {
  /** From the workspace, with `/`; `.` for the workspace itself. */
  readonly path: string
  /** `modified`: other content, another link target, or another type (a file where there was a folder). `mode`: only the mode. */
  readonly kind: 'added' | 'modified' | 'deleted' | 'mode'
  /** In the workspace. */
  readonly before?: Entry
  /** In the layer. */
  readonly after?: Entry
  /** In a `.git` folder. */
  readonly git: boolean
  /** Run or loaded outside of the sandbox: hooks and settings of git, `.mulligan`, `mulligan.json`. */
  readonly protected: boolean
  /** Why it can't be kept: a pipe, a socket, a device, a name that is not UTF-8. */
  readonly unsupported?: string
}

export interface ChangeSet {
  /** Sorted by path, so that a folder comes before what is in it. Of a deleted folder all that was in it is listed too. */
  readonly changes: readonly Change[]
  /** What is ignored: the outermost paths only. */
  readonly ignored: readonly string[]
  /** SHA-256 of `changes`, contents included, times not. A decision holds only for the change set with this hash. */
  readonly hash: string
  /** Of the files in the layer that are changes. */
  readonly bytes: number
}

/** The changes of a layer, while nothing runs in it. */
export interface Changed {
  /** @throws LayerError when they are too many or too large, or the layer is gone */
  readonly changes: () => Promise<ChangeSet>
  /** A regular file as it is in the layer, to be read; no link is followed. The caller closes it. @throws LayerError */
  readonly open: (path: string) => Promise<FileHandle>
  /**
   * Moves the changes of ignored files to the session's private layer, which later commands see. What is in a folder that the
   * workspace does not have stays: call it again when that one was kept.
   */
  readonly keepIgnored: () => Promise<void>
  /** Removes it, with all that it holds. */
  readonly discard: () => Promise<void>
}

export interface Layer extends Changed {
  /** For {@link WaitingLayer}. */
  readonly id: string
  /**
   * Runs a command on the layer, without network. One that was cut off (a timeout, an abort, a limit) takes the layer with it.
   * @throws as `Sandbox.run`
   */
  readonly run: (command: Command) => Promise<Completed>
  /** Writes down that it waits for a decision, so that it outlives this process: {@link listLayers}. */
  readonly wait: (note?: string) => Promise<ChangeSet>
}

/** A layer that a decision is awaited for. */
export interface WaitingLayer extends Changed {
  readonly id: string
  readonly workspace: string
  readonly session: string | undefined
  /** Of the change set that was shown. */
  readonly hash: string
  readonly note: string
  /** Milliseconds since 1970. */
  readonly since: number
}

/** The layer can't be used as asked. */
export class LayerError extends Error {
  override readonly name = 'LayerError'
  /** `gone`: discarded, or cut off. `entries`, `bytes`: more changes than a layer may have. `path`: not a file of the layer. */
  readonly reason: 'unsupported' | 'gone' | 'entries' | 'bytes' | 'path' | 'busy'
  readonly remedy: string | undefined

  constructor(reason: LayerError['reason'], message: string, remedy?: string) {
    super(message)
    this.reason = reason
    this.remedy = remedy
  }
}
