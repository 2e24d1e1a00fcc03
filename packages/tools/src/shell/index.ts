import type { Tool } from '@mulligan/core'
import type { Command, Completed, Sandbox } from '@mulligan/sandbox'
import { ignoringComments } from '../comments.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { createJobs } from './background/jobs.ts'
import { bashTool } from './bash/tool.ts'
import { bashKillTool } from './bash_kill/tool.ts'
import { bashOutputTool } from './bash_output/tool.ts'
import { createCommandPolicy } from './command-policy/command-policy.ts'
import { memoizedSandbox } from './common/sandbox.ts'
import { DEFAULT_TIMEOUT, type ShellSession } from './common/session.ts'
import { createLayers, type IgnoredChanges } from './layer/layers.ts'

export interface ShellOptions {
  readonly workspace: Workspace
  /** Opens the sandbox of the session. Called with the first command, and again where that failed. */
  readonly sandbox: () => Promise<Sandbox>
  /** What commands can reach: with `bridge`, and without any wall, `bash` is `external`. Default `none`. */
  readonly network?: 'none' | 'bridge'
  /** Seconds a command may take where a call does not say. Default 120, at most 600. */
  readonly timeout?: number
  /**
   * Commands run on throwaway layers of the workspace where those can be had, and elsewhere with the workspace read-only: nothing
   * is asked before, and what they did is decided about afterwards. Not with a network. Default false.
   */
  readonly layers?: boolean
  /** With `layers`: secret files, as paths from the workspace, that commands may read. Default: none. */
  readonly readableSecrets?: readonly string[]
  /** The person's home folder, for what may not be touched there. Default: theirs. */
  readonly home?: string
}

export interface ShellTools {
  readonly tools: readonly Tool[]
  /** With `layers`: what commands changed in files that git ignores. Gone with `dispose` unless it is kept. */
  readonly ignored: IgnoredChanges
  /**
   * Runs a command that is to change nothing: on a layer that is discarded, where layers can be had.
   * @throws what the sandbox throws
   */
  readonly check: (command: Command) => Promise<Completed>
  /** Ends all background commands, and closes the sandbox. */
  readonly dispose: () => Promise<void>
}

/**
 * The tools for commands, for one session.
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
