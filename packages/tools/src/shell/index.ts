import type { Tool } from '@mulligan/core'
import type { Command, Completed, Sandbox } from '@mulligan/sandbox'
import { ignoringComments } from '../comments.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { createJobs } from './background/jobs.ts'
import { DEFAULT_TIMEOUT, type ShellSession } from './bash/session.ts'
import { bashTool } from './bash/tool.ts'
import { bashKillTool } from './bash_kill/tool.ts'
import { bashOutputTool } from './bash_output/tool.ts'
import { createCommandPolicy } from './command-policy/command-policy.ts'
import { memoizedSandbox } from './common/sandbox.ts'
import { createLayers, type IgnoredChanges } from './layer/layers.ts'

export interface ShellOptions {
  readonly workspace: Workspace
  /** Opens the session's sandbox. Called for the first command, and again if that failed. */
  readonly sandbox: () => Promise<Sandbox>
  /** What commands can reach. With `bridge`, or without any isolation, `bash` is `external`. Default `none`. */
  readonly network?: 'none' | 'bridge'
  /** Seconds a command may take if the call does not set a timeout. Default 120, at most 600. */
  readonly timeout?: number
  /**
   * Runs commands on throwaway layers of the workspace where layers are available, and otherwise with the workspace read-only. Nothing
   * needs approval beforehand; their changes are approved or rejected afterwards. Ignored when there is a network. Default false.
   */
  readonly layers?: boolean
  /** With `layers`: secret files that commands may read, as paths relative to the workspace. Default: none. */
  readonly readableSecrets?: readonly string[]
  /** The user's home folder, used to find paths that commands must not touch. Default: the home of the current user. */
  readonly home?: string
}

export interface ShellTools {
  readonly tools: readonly Tool[]
  /** With `layers`: what commands changed in git-ignored files. `dispose` drops these changes unless they are kept. */
  readonly ignored: IgnoredChanges
  /**
   * Runs a command that should change nothing, on a layer that is discarded if layers are available.
   * @throws whatever the sandbox throws
   */
  readonly check: (command: Command) => Promise<Completed>
  /** Ends all background commands and closes the sandbox. */
  readonly dispose: () => Promise<void>
}

/**
 * Creates the command tools for one session.
 *
 * @example
 * const shell = shellTools({ workspace, sandbox: () => createSandbox({ workspace: workspace.root }) })
 * // … shell.tools …
 * await shell.dispose()
 */
export function shellTools({
  workspace,
  sandbox: open,
  network = 'none',
  timeout = DEFAULT_TIMEOUT,
  layers = false,
  readableSecrets,
  home,
}: ShellOptions): ShellTools {
  const sandbox = memoizedSandbox(open)
  const jobs = createJobs()
  const commandPolicy = createCommandPolicy({ workspace: workspace.root, ...(home !== undefined && { home }) })
  const onLayers =
    layers && network === 'none' ? createLayers({ workspace, sandbox, ...(readableSecrets && { readable: readableSecrets }) }) : undefined
  const session: ShellSession = { workspace, sandbox, jobs, commandPolicy, ...(onLayers && { layers: onLayers }) }
  return {
    tools: ignoringComments([bashTool(session, { network, timeout }), bashOutputTool(jobs), bashKillTool(jobs, workspace.root)]),
    ignored: onLayers?.ignored ?? NONE,
    check: async (command) => {
      if (!onLayers || !(await onLayers.areThere())) return (await sandbox.get()).run(command)
      const { completed, changes } = await onLayers.run(command)
      if (changes) await onLayers.discard(changes)
      return completed
    },
    dispose: async () => {
      await jobs.killAll()
      await sandbox.close()
    },
  }
}

const NONE: IgnoredChanges = { changed: async () => [], keep: async () => [] }
