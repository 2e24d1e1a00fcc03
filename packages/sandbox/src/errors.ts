/** The two ways in which running a command fails. They know nothing of tools or models. */
import type { Completed } from './command.ts'

/** The command ran, and did not end with exit code 0. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly completed: Completed

  constructor(completed: Completed) {
    const { reason, exitCode, signal } = completed
    super(reason === 'exit' ? `the command exited with ${exitCode}` : reason === 'signal' ? `${signal} ended the command` : ENDED[reason])
    this.completed = completed
  }
}

const ENDED = {
  timeout: 'the command took longer than it may',
  aborted: 'the command was stopped',
  memory: 'the command took more memory than it may',
  disk: 'the command wrote more than it may',
  output: 'the command printed more than it may',
} as const

export interface SandboxFault {
  /** What is wrong, for a person. */
  readonly message: string
  /** What to do about it: a command, a setting. */
  readonly remedy?: string
  readonly cause?: unknown
}

/** The sandbox could not start, or is gone: nothing is known of the command, or it never ran. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError'
  readonly remedy: string | undefined

  constructor({ message, remedy, cause }: SandboxFault) {
    super(message, { cause })
    this.remedy = remedy
  }
}

/** The command can't be run as it is asked for: a working directory that does not exist, a NUL in an argument. Nothing was run. */
export class CommandRefused extends Error {
  override readonly name = 'CommandRefused'
  readonly parameter: 'cwd' | 'command' | 'env' | 'timeout'

  constructor(parameter: CommandRefused['parameter'], message: string) {
    super(message)
    this.parameter = parameter
  }
}
