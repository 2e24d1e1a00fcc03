/** Defines backends, which start sandboxed processes. Timeouts, output and end reasons are handled elsewhere ({@link run}). */
import type { Readable } from 'node:stream'
import type { BackendName } from './command.ts'
import type { Limits } from './limits.ts'
import type { User } from './user.ts'
import type { Network, View } from './view/view.ts'

/**
 * Whether a limit holds even against a command that tries to exceed it (`hard`), usually holds (`partial`), or does not exist
 * (`none`).
 */
export type Hold = 'hard' | 'partial' | 'none'

export type Enforced = 'files' | 'network' | 'memory' | 'processes' | 'cpu' | 'disk' | 'treeKill'

/** For each limit, whether it holds and what enforces it: `{ hold: 'partial', by: 'resident memory is read ten times a second' }`. */
export type Enforcement = Readonly<Record<Enforced, { readonly hold: Hold; readonly by: string }>>

export interface OpenRequest {
  readonly view: View
  readonly limits: Limits
  readonly network: Network
  /** The user and group IDs that commands run as. */
  readonly user: User
  /** The container image; undefined for the default one. */
  readonly image: string | undefined
}

export interface Backend {
  readonly name: BackendName
  /**
   * Opens the backend and tests it by running `true` with all limits set.
   * @throws SandboxError that says what is missing and how to get it
   */
  readonly open: (request: OpenRequest) => Promise<OpenBackend>
}

export interface OpenBackend {
  readonly name: BackendName
  readonly enforces: Enforcement
  /** What commands see, if it differs from the requested view. */
  readonly view?: View
  /** Switches commands to another view; allowed only while none is running. @returns the view commands get @throws SandboxError */
  readonly adopt?: (view: View) => Promise<View>
  /**
   * Opens the same backend with another view. It uses the sandbox's own network if there is one, otherwise no network. Close it
   * before this one. Absent if the backend can't isolate anything.
   *
   * @param options used only by bubblewrap
   */
  readonly beside?: (view: View, options?: Beside) => Promise<OpenBackend>
  /** @throws SandboxError if it can't be started */
  readonly launch: (launch: Launch) => Promise<Child>
  /** Kills everything still running and leaves nothing behind. */
  readonly close: () => Promise<void>
}

export interface Beside {
  /** The command to start the sandbox with, such as `unshare`, which receives the rest as its arguments. */
  readonly prefix?: readonly string[]
  /** Returns shell commands to run before the command is known. They are not repeated for a launch with the same `before`. */
  readonly ahead?: () => string | undefined
  /** Default true. Connecting to a socket is not a write, so a read-only mount does not prevent it. */
  readonly unixSockets?: boolean
}

export interface Launch {
  readonly argv: readonly string[]
  /** An absolute path, as seen inside. */
  readonly cwd: string
  /** The complete environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>
  readonly stdin: Uint8Array | undefined
  /** Used only by bubblewrap: shell commands to run outside the sandbox first. If one fails, the command is not run. */
  readonly before?: readonly string[]
}

export interface Child {
  /** For a host process, a pipe from `createStdio` (`stdio.ts`), because Node's own are sockets. */
  readonly stdout: Readable
  readonly stderr: Readable
  /**
   * Resolves when the command itself has ended, even if its children still hold its pipes. @throws SandboxError when the sandbox
   * failed
   */
  readonly exited: Promise<Exit>
  /**
   * Sends SIGKILL to every process of the command, even hidden ones, and resolves when none is left. It is also called after every
   * command to end background processes, so it must be cheap if there are none.
   */
  readonly kill: () => Promise<void>
}

export interface Exit {
  readonly exitCode: number | null
  readonly signal: string | null
  /** The limit that ended the command, if the backend knows. */
  readonly limit?: 'memory'
}
