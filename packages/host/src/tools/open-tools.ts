/** Opens the tools of a folder: the built-in ones, and the folder's own if the user trusts them. */
import { join } from 'node:path'
import type { FIND_TOOLS, TASK } from '@mulligan/agent'
import { type Tool, wrapTools } from '@mulligan/core'
import type { LeftOut, McpServerStatus, McpServers } from '@mulligan/mcp'
import type { Sandbox } from '@mulligan/sandbox'
import { createWorkspace, loadUserTools, type ThinkOptions, type UserToolFiles, type UserToolProblem } from '@mulligan/tools'
import type { Env } from '../common/env.ts'
import { TOOLS_FOLDER } from '../common/paths.ts'
import { oneLine } from '../common/sanitize.ts'
import { readSettings, type Settings } from '../config/settings.ts'
import { type FolderTools, folderTools, needsTrust } from '../trust/store.ts'
import { openAssistant } from './assistant-tools.ts'
import { type BuiltInTools, builtInTools } from './built-in-tools.ts'
import { openServers } from './mcp-servers.ts'
import { openNotes } from './notes-tools.ts'

/** The agent adds these tools itself. Only the type is imported, because listing tools does not need the agent. */
const FINDER: typeof FIND_TOOLS = 'find_tools'
const FOR_TASKS: typeof TASK = 'task'

export interface WorkspaceTools extends AsyncDisposable {
  /** Those of new MCP servers come with `ready`. */
  readonly tools: readonly Tool[]
  /**
   * Asks MCP servers whose tools are not known yet. Resolves when they have listed them, have failed or have had their time; never
   * rejects.
   */
  readonly ready: () => Promise<void>
  /** Names of the user-defined tools. */
  readonly own: ReadonlySet<string>
  /** The folder's own tools that were not loaded because the user has not trusted them. */
  readonly untrusted?: FolderTools
  /** MCP servers and tools of theirs that can't be used. */
  readonly leftOut: readonly LeftOut[]
  /** What was left out: files that could not be loaded, and user-defined tools with the name of a built-in one. */
  readonly problems: readonly UserToolProblem[]
  /** Why tools for notes and services are missing, though these are set up. */
  readonly missing: readonly string[]
  readonly ignored: BuiltInTools['ignored']
  /** The configured MCP servers. */
  readonly servers: () => readonly McpServerStatus[]
  /** Their prompts and resources. */
  readonly mcp: Pick<McpServers, 'prompts' | 'prompt' | 'resources'>
  /** Ends running commands and MCP servers, and closes the sandbox. */
  readonly close: () => Promise<void>
}

/** Wraps the code of a user-defined tool, given a name that the user knows it by. */
export type AroundOwnCode = <T>(name: string, run: () => T) => T

export interface WorkspaceToolsOptions {
  readonly env: Env
  /** Default: read from the files and variables. */
  readonly settings?: Settings
  /** Location of results that were too long; accessed when one is first read. */
  readonly outputs?: { readonly dir: string }
  /** Where changes are recorded; without it they cannot be undone. */
  readonly changes?: { readonly dir: string }
  readonly session?: ThinkOptions
  /** The calls are made by a person, who sees the files: files count as read. */
  readonly byHand?: boolean
  /** Called once, when the first command has opened the sandbox. */
  readonly onSandbox?: (sandbox: Sandbox) => void
  /** Wraps the loading and the calls of user-defined tools. Default: no wrapper. */
  readonly around?: AroundOwnCode | undefined
}

/** Opens the tools. Waits for no MCP server. @throws UsageError */
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
  const { tools: core, ignored, close } = builtInTools(workspace, { settings, env, session, onSandbox })
  const assistant = await openAssistant(settings, env, session?.state)
  const notes = await openNotes(settings, { env, changes: changes?.dir, byHand })
  const builtIn = [...core, ...assistant.tools, ...notes.tools]
  const files = folderTools(cwd, env)
  const { tools, problems } = needsTrust(files)
    ? { tools: [], problems: files.found.problems }
    : await loadUserTools(files.found, { around: (file, load) => around(`the loading of ${join(TOOLS_FOLDER, file)}`, load) })
  const names = new Set([...builtIn.map(({ name }) => name), FINDER, FOR_TASKS])
  const own = wrapTools(
    tools.filter(({ name }) => !names.has(name)),
    (run, input, ctx, { name }) => around(`the tool ${name}`, () => run(input, ctx)),
  )
  const renamed = tools
    .filter(({ name }) => names.has(name))
    .map(({ name }) => ({
      file: fileThatDefines(files.found, name),
      error: `it defines "${name}", the name of a built-in tool: rename it`,
    }))
  // Other names too: what a model calls by one of them is not to reach a server.
  const taken = [...names, ...[...builtIn, ...own].flatMap(({ name, aliases }) => [name, ...aliases.map((alias) => alias.name)])]
  const mcp = await openServers(cwd, settings, { env, taken, ...(session?.ask && { ask: session.ask }) })
  const closeAll = async (): Promise<void> => {
    await Promise.all([close(), mcp.close(), notes.close()])
  }
  return {
    get tools() {
      return [...builtIn, ...own, ...mcp.tools]
    },
    own: new Set(own.map(({ name }) => name)),
    problems: [...problems, ...renamed],
    get leftOut() {
      return mcp.leftOut
    },
    missing: [assistant, notes].flatMap(({ problem }) => problem ?? []),
    servers: mcp.status,
    ready: mcp.ready,
    mcp,
    ...(needsTrust(files) && { untrusted: files }),
    ignored,
    close: closeAll,
    [Symbol.asyncDispose]: closeAll,
  }
}

/** Describes everything that was left out, a line each, safe for a terminal. */
export const leftOutTexts = ({
  problems,
  leftOut,
  missing,
}: Pick<WorkspaceTools, 'problems' | 'leftOut' | 'missing'>): readonly string[] => [
  ...missing.map((why) => oneLine(why, 400)),
  ...problems.map(problemText),
  ...leftOut.map(leftOutText),
]

/** Formats a problem on one line, safe for a terminal. */
export const problemText = ({ file, error }: UserToolProblem): string => oneLine(`${join(TOOLS_FOLDER, file)}: ${error}`, 400)

/** Formats what was left out of an MCP server on one line, safe for a terminal. */
export const leftOutText = ({ server, tool, why }: LeftOut): string =>
  oneLine(`${tool === undefined ? '' : `${tool} of `}the MCP server ${server}: ${why}`, 400)

/** Finds the file with the tool's name, otherwise the one that contains it. */
function fileThatDefines({ folder, files, contents }: UserToolFiles, name: string): string {
  const quoted = new RegExp(`["'\`]${name}["'\`]`)
  return (
    files.find((file) => file.replace(/\.\w+$/, '') === name) ??
    files.find((file) => quoted.test(contents.get(join(folder, file))?.toString('utf8') ?? '')) ??
    ''
  )
}
