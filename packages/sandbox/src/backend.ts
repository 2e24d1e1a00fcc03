/** What a backend is: it starts processes behind walls. Timeouts, output and reasons are not its business ({@link run}). */
import type { Readable } from 'node:stream'
import type { BackendName } from './command.ts'
import type { Limits } from './limits.ts'
import type { User } from './user.ts'
import type { Network, View } from './view/view.ts'

/** Whether a limit holds against a command that tries to pass it, holds as a rule, or does not exist. */
export type Hold = 'hard' | 'partial' | 'none'

export const ENFORCED = ['files', 'network', 'memory', 'processes', 'cpu', 'disk', 'treeKill'] as const
export type Enforced = (typeof ENFORCED)[number]

/** Per limit, whether it holds and by what: `{ hold: 'partial', by: 'resident memory is read ten times a second' }`. */
export type Enforcement = Readonly<Record<Enforced, { readonly hold: Hold; readonly by: string }>>

export interface OpenRequest {
  readonly view: View
  readonly limits: Limits
  readonly network: Network
  /** Ids that commands run as. */
  readonly user: User
  /** Of containers: the image; undefined for the default one. */
  readonly image: string | undefined
}

export interface Backend {
  readonly name: BackendName
  /**
   * Tries it for real: `true` is run with the full set of limits.
   * @throws SandboxError that says what is missing and how to get it
   */
  readonly open: (request: OpenRequest) => Promise<OpenBackend>
}

export interface OpenBackend {
  readonly name: BackendName
  readonly enforces: Enforcement
  /** What commands see, where that is not what was asked for. */
  readonly view?: View
  /** Shows commands another view from now on; only while none runs. @returns what they see of it @throws SandboxError */
  readonly adopt?: (view: View) => Promise<View>
  /**
   * The same with another view, in the same network where that is the sandbox's own, otherwise without one. To be closed before this one.
   * Absent if nothing can be walled off.
   *
   * @param options of bubblewrap
   */
  readonly beside?: (view: View, options?: Beside) => Promise<OpenBackend>
  /** @throws SandboxError when it can't be started */
  readonly launch: (launch: Launch) => Promise<Child>
  /** Kills what still runs, and leaves nothing behind. */
  readonly close: () => Promise<void>
}

export interface Beside {
  /** What the walls are started in, as `unshare`, which gets the rest as its arguments. */
  readonly prefix?: readonly string[]
  /** Shell commands that are run before there is a command; a launch with the same `before` finds them done. */
  readonly ahead?: () => string | undefined
  /** Default true. To connect to a socket is not a write, so a read-only mount does not prevent it. */
  readonly unixSockets?: boolean
}

export interface Launch {
  readonly argv: readonly string[]
  /** Absolute, as seen inside. */
  readonly cwd: string
  /** All of it: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>
  readonly stdin: Uint8Array | undefined
  /** Of bubblewrap: shell commands that are run outside of the walls first. Where one fails, the command is not run. */
  readonly before?: readonly string[]
}

export interface Child {
  /** Of a process of the host, pipes of `createStdio` (`stdio.ts`), not Node's, which are sockets. */
  readonly stdout: Readable
  readonly stderr: Readable
  /** Resolves when the command itself has ended, though children of it may hold its pipes. @throws SandboxError when the sandbox broke */
  readonly exited: Promise<Exit>
  /**
   * Every process of the command, SIGKILL, whatever they did to hide. Resolves when none is left. It is called after every
   * command too, to end what was left in the background: cheap when there is nothing.
   */
  readonly kill: () => Promise<void>
}

export interface Exit {
  readonly exitCode: number | null
  readonly signal: string | null
  /** The limit that ended it, where the backend knows. */
  readonly limit?: 'memory'
}
