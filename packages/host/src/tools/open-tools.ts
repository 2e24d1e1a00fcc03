/** Opens the tools of a folder: the built-in ones, and its own if the user trusts them. */
import { join } from 'node:path'
import type { FIND_TOOLS } from '@mulligan/agent'
import { type Tool, wrapTools } from '@mulligan/core'
import type { Sandbox } from '@mulligan/sandbox'
import { createWorkspace, loadUserTools, type ThinkOptions, type UserToolFiles, type UserToolProblem } from '@mulligan/tools'
import type { Env } from '../common/env.ts'
import { TOOLS_FOLDER } from '../common/paths.ts'
import { oneLine } from '../common/sanitize.ts'
import { readSettings, type Settings } from '../config/settings.ts'
import { type FolderTools, folderTools, needsTrust } from '../trust/tools.ts'
import { type BuiltInTools, builtInTools } from './built-in-tools.ts'

/** Of the agent, which adds this tool by itself. The type alone: listing tools needs no agent. */
const FINDER: typeof FIND_TOOLS = 'find_tools'

export interface WorkspaceTools {
  readonly tools: readonly Tool[]
  /** Names of the person's own. */
  readonly own: ReadonlySet<string>
  /** The folder's own where they were not loaded, because the person has not trusted them. */
  readonly untrusted?: FolderTools
  /** What is left out: what could not be loaded, and own tools with the name of a built-in one. */
  readonly problems: readonly UserToolProblem[]
  readonly ignored: BuiltInTools['ignored']
  /** Ends the commands that still run, and closes the sandbox. */
  readonly close: () => Promise<void>
}

/** Runs code of the user's own tools, under a name that the user knows it by. */
export type AroundOwnCode = <T>(name: string, run: () => T) => T

export interface WorkspaceToolsOptions {
  readonly env: Env
  /** Default: read from the files and variables. */
  readonly settings?: Settings
  /** Where over-long results are; asked for when one is first read. */
  readonly outputs?: { readonly dir: string }
  /** Where changes are recorded; without it they can't be taken back. */
  readonly changes?: { readonly dir: string }
  readonly session?: ThinkOptions
  /** Calls by a person, who sees the files: they count as read. */
  readonly byHand?: boolean
  /** Told once, when the first command has opened the sandbox. */
  readonly onSandbox?: (sandbox: Sandbox) => void
  /** Around the loading and the calls of own tools. Default: nothing. */
  readonly around?: AroundOwnCode | undefined
}

/** @throws UsageError */
export async function openTools(
  cwd: string,
  {
    env,
    settings = readSettings(cwd, {}, env),
    outputs,
    changes,
    session,
    byHand = false,
    onSandbox,
    around = (_, run) => run(),
  }: WorkspaceToolsOptions,
): Promise<WorkspaceTools> {
  const workspace = createWorkspace(cwd, { ...(outputs && { outputs }), ...(changes && { changes }), trustPresent: byHand })
  const { tools: builtIn, ignored, close } = builtInTools(workspace, { settings, env, session, onSandbox })
  const files = folderTools(cwd, env)
  const { tools, problems } = needsTrust(files)
    ? { tools: [], problems: files.found.problems }
    : await loadUserTools(files.found, { around: (file, load) => around(`the loading of ${join(TOOLS_FOLDER, file)}`, load) })
  const names = new Set([...builtIn.map(({ name }) => name), FINDER])
  const own = wrapTools(
    tools.filter(({ name }) => !names.has(name)),
    (run, input, ctx, { name }) => around(`the tool ${name}`, () => run(input, ctx)),
  )
  const taken = tools
    .filter(({ name }) => names.has(name))
    .map(({ name }) => ({
      file: fileThatDefines(files.found, name),
      error: `it defines "${name}", the name of a built-in tool: rename it`,
    }))
  return {
    tools: [...builtIn, ...own],
    own: new Set(own.map(({ name }) => name)),
    problems: [...problems, ...taken],
    ...(needsTrust(files) && { untrusted: files }),
    ignored,
    close,
  }
}

/** On one line, and fit for a terminal. */
export const problemText = ({ file, error }: UserToolProblem): string => oneLine(`${join(TOOLS_FOLDER, file)}: ${error}`, 400)

/** The file named like the tool, otherwise the one that writes its name. */
function fileThatDefines({ folder, files, contents }: UserToolFiles, name: string): string {
  const quoted = new RegExp(`["'\`]${name}["'\`]`)
  return (
    files.find((file) => file.replace(/\.\w+$/, '') === name) ??
    files.find((file) => quoted.test(contents.get(join(folder, file))?.toString('utf8') ?? '')) ??
    ''
  )
}
