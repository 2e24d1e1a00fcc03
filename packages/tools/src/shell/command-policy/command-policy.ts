/** The word on a command in a workspace: what its text says, and for what would run unasked where its paths really lead. */
import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, resolve } from 'node:path'
import { isBelow } from './paths.ts'
import { type CommandVerdict, readCommand } from './read-command.ts'
import { isSecretPath } from './secret-paths.ts'

export interface CommandPlace {
  /** Absolute path of the workspace. */
  readonly workspace: string
  /** Default: the person's. */
  readonly home?: string
  /** Asked instead of one of its own: several policies on one call then read its command once. */
  readonly commandPolicy?: CommandPolicy
}

export type CommandPolicy = (command: string, cwd?: string) => CommandVerdict

/**
 * Reads commands for a workspace, the last one kept, because it is asked about for each of its targets in turn.
 *
 * @example
 * createCommandPolicy({ workspace: process.cwd() })('ls -la').verdict // 'safe'
 */
export function createCommandPolicy({ workspace, home = homedir(), commandPolicy }: CommandPlace): CommandPolicy {
  if (commandPolicy) return commandPolicy
  let last: { readonly command: string; readonly cwd: string; readonly read: CommandVerdict } | undefined
  return (command, cwd = '.') => {
    if (last?.command !== command || last.cwd !== cwd)
      last = { command, cwd, read: readCommand(command, { cwd: resolve(workspace, cwd), workspace: resolve(workspace), home }) }
    const { read } = last
    // Not kept: a link may have come since.
    const [program = ''] = read.commands[0]?.words ?? []
    if (read.verdict === 'ask' || (staysInside(read.paths, workspace, home) && !isShadowed(program, resolve(workspace, cwd), workspace)))
      return read
    const reason = 'a link leads it out of the workspace or to a file with keys, or its program is one of the workspace'
    return { ...read, verdict: 'ask', reason, commands: read.commands.map((one) => ({ ...one, reason })) }
  }
}

/** A path that is not there leads nowhere. */
function staysInside(paths: readonly string[], workspace: string, home: string): boolean {
  const root = realPath(workspace) ?? workspace
  return paths.every((path) => {
    const real = realPath(path)
    return real === undefined || (isBelow(real, root) && !isSecretPath(real, home))
  })
}

/** `npx` puts `node_modules/.bin` of the workspace first, where a call may have put an `ls` of its own. */
function isShadowed(program: string, cwd: string, workspace: string): boolean {
  const folders = (process.env['PATH'] ?? '').split(delimiter).map((folder) => resolve(cwd, folder))
  const own = folders.filter((folder) => isBelow(realPath(folder) ?? folder, realPath(workspace) ?? workspace))
  return own.some((folder) => realPath(resolve(folder, program)) !== undefined)
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}

/**
 * What a call of the shell acts on: its simple commands, each in one spelling, and the script where it is more than those. That one
 * is marked, so that no pattern for a command matches it.
 */
export function commandTargets({ commands, whole }: CommandVerdict, command: string): readonly string[] {
  return [...new Set(commands.map(({ text }) => text)), ...(whole ? [`(script) ${command.trim()}`] : [])]
}

/** What a no to one of them is remembered by: the same command on the same paths, wherever it was said. */
export const commandKeys = ({ commands }: CommandVerdict, target: string): readonly string[] =>
  commands.flatMap(({ text, key }) => (text === target ? [key] : []))
