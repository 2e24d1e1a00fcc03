import type { Workspace } from '../../workspace/workspace.ts'
import type { Jobs } from '../background/jobs.ts'
import type { CommandPolicy } from '../command-policy/command-policy.ts'
import type { ShellLayers } from '../layer/layers.ts'
import type { SessionSandbox } from './sandbox.ts'

/** What the tools of one session share. */
export interface ShellSession {
  readonly workspace: Workspace
  readonly sandbox: SessionSandbox
  readonly jobs: Jobs
  readonly commandPolicy: CommandPolicy
  /** Where commands run on layers. Absent: they run in the workspace itself. */
  readonly layers?: ShellLayers
}

/** A call of `bash`, with its defaults. */
export interface ShellCall {
  readonly command: string
  readonly cwd: string
  /** Seconds. */
  readonly timeout: number
  readonly background: boolean
  /** Any exit code is an answer, and none a failure. */
  readonly allow_non_zero_exit: boolean
  /** `direct`: on the real files, after a question. Only where commands run on layers otherwise. */
  readonly writes?: 'direct' | undefined
}

/** Seconds a command may take where a call does not say, and at most. */
export const DEFAULT_TIMEOUT = 120
export const MAX_TIMEOUT = 600
