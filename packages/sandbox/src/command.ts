/** Commands to run, their results, and the errors they can end with. */

/** A script for the shell, or a program with its arguments. */
export type CommandLine = { readonly script: string; readonly argv?: never } | { readonly argv: readonly string[]; readonly script?: never }

export type Command = CommandLine & {
  /** Relative to the workspace, or absolute. Default: the workspace. */
  readonly cwd?: string
  /** Variables for this command, overriding the sandbox's. */
  readonly env?: Readonly<Record<string, string>>
  /** Default: none, stdin is closed. */
  readonly stdin?: string | Uint8Array
  /** In seconds. Default: the sandbox's timeout; at most {@link MAX_TIMEOUT}. */
  readonly timeout?: number
  /** Makes everything but the sandbox's own home and `/tmp` read-only and turns off the network. Default: the sandbox's settings. */
  readonly workspace?: 'read-only'
  /** With `workspace: 'read-only'`: files and folders of the workspace that appear empty. */
  readonly masks?: readonly string[]
  /** Kills the whole process tree. */
  readonly signal?: AbortSignal
  /** Called with output as it arrives, in whole characters only. */
  readonly onOutput?: (text: string, stream: 'stdout' | 'stderr') => void
  /** Called with the raw bytes of the output as they arrive. */
  readonly onBytes?: (bytes: Uint8Array, stream: 'stdout' | 'stderr') => void
}

/**
 * Why the command ended: on its own (`exit`, or `signal` if one of its own processes sent it), or because of a limit. `memory`,
 * `disk` and `output` name the limit.
 */
export type Reason = 'exit' | 'signal' | 'timeout' | 'aborted' | 'memory' | 'disk' | 'output'

/** A command that ended, for any reason. */
export interface Completed {
  /** Null if a signal ended it. If the sandbox hides the signal, this is 128 plus the signal's number, as in a shell. */
  readonly exitCode: number | null
  /** For example `SIGKILL`; null if it exited. */
  readonly signal: string | null
  readonly reason: Reason
  /**
   * Head and tail of the output, at most `limits.output` bytes of each stream. If something in between was left out, a note says
   * so: `[… 1234 bytes left out …]`.
   */
  readonly stdout: string
  readonly stderr: string
  /** Bytes of both streams that were left out between head and tail, or never read. */
  readonly droppedBytes: number
  readonly durationMs: number
  readonly backend: BackendName
  /** What the command created where no command may, and was moved away when it ended. Absent if there is nothing. */
  readonly removed?: readonly Removed[]
}

/** Something a command created at a protected path that did not exist before: `.git`, `.mulligan`. */
export interface Removed {
  /** The absolute path where it was. */
  readonly path: string
  /** Where it is now. Only the user may delete it. */
  readonly to: string
}

export const BACKENDS = ['bubblewrap', 'docker', 'podman', 'seatbelt', 'none'] as const
export type BackendName = (typeof BACKENDS)[number]
export type EngineName = Extract<BackendName, 'docker' | 'podman'>

/** The default container image: Node.js, git, Python and a compiler, from Docker Hub. */
export const DEFAULT_IMAGE = 'docker.io/library/node:24-bookworm'

export interface PullOptions {
  /** Default: the first that responds. */
  readonly backend?: EngineName
  readonly signal?: AbortSignal
  /** Receives a progress line for display whenever the engine reports something new. */
  readonly onProgress?: (line: string) => void
}

/** A command in the background. */
export interface Running {
  /** Returns the head and tail so far, in the format of {@link Completed}. */
  readonly output: () => Pick<Completed, 'stdout' | 'stderr' | 'droppedBytes'>
  /** Resolves when the command ends, for any reason. @throws SandboxError */
  readonly ended: Promise<Completed>
  readonly kill: () => Promise<void>
}

/** Thrown when a command ran but did not end with exit code 0. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly completed: Completed

  constructor(completed: Completed) {
    const { reason, exitCode, signal } = completed
    super(reason === 'exit' ? `the command exited with ${exitCode}` : reason === 'signal' ? `${signal} ended the command` : ENDED[reason])
    this.completed = completed
  }
}

/** @returns the result if it exited with 0 @throws CommandError otherwise */
export function resultOf(completed: Completed): Completed {
  if (completed.reason === 'exit' && completed.exitCode === 0) return completed
  throw new CommandError(completed)
}

const ENDED = {
  timeout: 'the command exceeded its time limit',
  aborted: 'the command was stopped',
  memory: 'the command exceeded its memory limit',
  disk: 'the command exceeded its disk limit',
  output: 'the command exceeded its output limit',
} as const

export interface SandboxFault {
  /** A description of the problem for the user. */
  readonly message: string
  /** How to fix it: a command or a setting. */
  readonly remedy?: string
  readonly cause?: unknown
}

/** Thrown when the sandbox could not start or is gone. The command either never ran, or its result is unknown. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError'
  readonly remedy: string | undefined

  constructor({ message, remedy, cause }: SandboxFault) {
    super(message, { cause })
    this.remedy = remedy
  }
}

/**
 * Thrown when a command can't be run as requested, for example because the working directory does not exist or an argument contains
 * a NUL. Nothing was run.
 */
export class CommandRefused extends Error {
  override readonly name = 'CommandRefused'
  readonly parameter: 'cwd' | 'command' | 'env' | 'timeout'

  constructor(parameter: CommandRefused['parameter'], message: string) {
    super(message)
    this.parameter = parameter
  }
}
