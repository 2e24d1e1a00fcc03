import type { Workspace } from '../../workspace/workspace.ts'
import type { Jobs } from '../background/jobs.ts'
import type { CommandPolicy } from '../command-policy/command-policy.ts'
import type { SessionSandbox } from '../common/sandbox.ts'
import type { ShellLayers } from '../layer/layers.ts'

/** State shared by the tools of one session. */
export interface ShellSession {
  readonly workspace: Workspace
  readonly sandbox: SessionSandbox
  readonly jobs: Jobs
  readonly commandPolicy: CommandPolicy
  /** Runs commands on layers. If absent, commands run in the workspace itself. */
  readonly layers?: ShellLayers
}

/** A call of `bash` with its defaults applied. */
export interface ShellCall {
  readonly command: string
  readonly cwd: string
  /** Seconds. */
  readonly timeout: number
  readonly background: boolean
  /** Treat any exit code as a result rather than a failure. */
  readonly allow_non_zero_exit: boolean
  /** `direct`: run on the real files, after approval. Otherwise commands run on a layer. Only used when layers are available. */
  readonly writes?: 'direct' | undefined
}

/** Seconds a command may take: the default, and the maximum. */
export const DEFAULT_TIMEOUT = 120
export const MAX_TIMEOUT = 600
