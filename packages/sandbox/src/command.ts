/** What is asked to be run, and what it came to. */

/** A script for the shell, or a program with its arguments. */
export type CommandLine = { readonly script: string; readonly argv?: never } | { readonly argv: readonly string[]; readonly script?: never }

export type Command = CommandLine & {
  /** Relative to the workspace, or absolute. Default: the workspace. */
  readonly cwd?: string
  /** Set for this command, over what the sandbox sets. */
  readonly env?: Readonly<Record<string, string>>
  /** Default: none, stdin is closed. */
  readonly stdin?: string | Uint8Array
  /** Seconds. Default: the sandbox's; never more than {@link MAX_TIMEOUT}. */
  readonly timeout?: number
  /** Nothing but the sandbox's own home and `/tmp` can be written, and there is no network. Default: as the sandbox is. */
  readonly workspace?: 'read-only'
  /** With `workspace: 'read-only'`: files and folders of the workspace that are seen empty. */
  readonly masks?: readonly string[]
  /** Kills the whole process tree. */
  readonly signal?: AbortSignal
  /** Sees the output as it comes, whole characters only. */
  readonly onOutput?: (text: string, stream: 'stdout' | 'stderr') => void
  /** The same, as it came. */
  readonly onBytes?: (bytes: Uint8Array, stream: 'stdout' | 'stderr') => void
}

/**
 * Why it ended: by itself (`exit`, or `signal` from one of its own), or because a limit ended it. `memory`, `disk` and
 * `output` name the limit.
 */
export type Reason = 'exit' | 'signal' | 'timeout' | 'aborted' | 'memory' | 'disk' | 'output'

/** A command that ended, in whatever way. */
export interface Completed {
  /** Null where a signal ended it; behind walls that hide the signal it is 128 and the signal's number, as in a shell. */
  readonly exitCode: number | null
  /** `SIGKILL` and the like; null where it exited. */
  readonly signal: string | null
  readonly reason: Reason
  /**
   * Head and tail of what came, at most `limits.output` bytes of each stream. Where something was left out between them, it
   * says so: `[… 1234 bytes left out …]`.
   */
  readonly stdout: string
  readonly stderr: string
  /** Of both streams, left out between head and tail, or never read. */
  readonly droppedBytes: number
  readonly durationMs: number
  readonly backend: BackendName
  /** What it made where no command may, and was taken away when it ended. Left out where there is nothing. */
  readonly removed?: readonly Removed[]
}

/** Something that a command made at a protected path where nothing was: `.git`, `.mulligan`. */
export interface Removed {
  /** Absolute: where it stood. */
  readonly path: string
  /** Where it is now. It is nobody's to delete but the person's. */
  readonly to: string
}

export const BACKENDS = ['bubblewrap', 'docker', 'podman', 'seatbelt', 'none'] as const
export type BackendName = (typeof BACKENDS)[number]

/** A command in the background. */
export interface Running {
  /** Head and tail so far, as {@link Completed} has them. */
  readonly output: () => Pick<Completed, 'stdout' | 'stderr' | 'droppedBytes'>
  /** Resolves in whatever way it ends. @throws SandboxError */
  readonly ended: Promise<Completed>
  readonly kill: () => Promise<void>
}
