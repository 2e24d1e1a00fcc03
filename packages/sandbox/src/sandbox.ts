/** A sandbox: one workspace, one backend, its limits. */

import type { Enforcement, Network } from './backend.ts'
import type { BackendName, Command, Completed } from './command.ts'
import type { Limits } from './limits.ts'

export interface SandboxOptions {
  /** Absolute path of the folder that commands may change. */
  readonly workspace: string
  /** Default `auto`: the first whose probe passes, of bubblewrap, docker, podman (seatbelt on macOS). `none` only by name. */
  readonly backend?: 'auto' | BackendName
  /** Default `default`. */
  readonly profile?: 'default' | 'strict'
  /** Default `none`. */
  readonly network?: Network
  /** Over those of the profile. */
  readonly limits?: Partial<Limits>
  /** A uid, or the owner of the workspace: the default. */
  readonly user?: number | 'auto'
  /** Further folders. */
  readonly mounts?: readonly { readonly path: string; readonly mode?: 'read-only' | 'read-write' }[]
  /** Names of further variables that are let through from the host's environment. */
  readonly env?: readonly string[]
  /** Of containers. A local image; nothing is pulled. */
  readonly image?: string
  /** Default `process.env`. */
  readonly hostEnv?: Readonly<Record<string, string | undefined>>
}

export interface Sandbox {
  readonly backend: BackendName
  readonly workspace: string
  readonly limits: Limits
  readonly network: Network
  readonly enforces: Enforcement
  /**
   * Runs a command to its end.
   * @returns of a command that exited with 0
   * @throws CommandError of any other end; CommandRefused when nothing was run; SandboxError when the sandbox could not start
   */
  readonly run: (command: Command) => Promise<Completed>
  /** Starts one that goes on in the background. Without a `timeout` it runs until it is killed or the sandbox is closed. */
  readonly start: (command: Command) => Promise<Running>
  /** Ends all commands and removes the sandbox's own folders. */
  readonly close: () => Promise<void>
}

/** A command in the background. */
export interface Running {
  /** Head and tail so far, as {@link Completed} has them. */
  readonly output: () => Pick<Completed, 'stdout' | 'stderr' | 'droppedBytes'>
  /** Resolves in whatever way it ends. @throws SandboxError */
  readonly ended: Promise<Completed>
  readonly kill: () => Promise<void>
}
