import { isToolResult, type Tool, type ToolContext, ToolFailure } from '@mulligan/core'
import type { Workspace } from '../workspace/workspace.ts'
import { changedFiles, likelyFiles } from './changed-files.ts'
import { type Check, createCheck, type DiagnosticCheck } from './check.ts'
import { withReports } from './report.ts'
import { type RunCommand, runCommand } from './run-command.ts'

export interface DiagnosticsOptions {
  /** Its folder is where the checks run. */
  readonly workspace: Pick<Workspace, 'root'>
  readonly checks: readonly DiagnosticCheck[]
  /** New findings that a result shows; the rest is counted. Default 20. */
  readonly most?: number
  /** Starts a check's process, for example in a sandbox. Default: on this machine, with an environment without keys. */
  readonly run?: RunCommand
}

const DEFAULT_MOST = 20
const MAX_TIMEOUT = 3600
/** Seconds that it takes at most to end a process, before the change and after it. */
const ENDING = 5

/**
 * The tools; those with the effect `write` run the checks after a change, and say what is new since before the first change. What
 * was said before belongs to the session that the tools are made for. No check makes a change fail.
 *
 * @throws TypeError for a check that cannot be one
 * @example
 * withDiagnostics(fileTools(workspace), { workspace, checks: [{ include: '*.ts', command: ['tsc', '--noEmit'] }] })
 */
export function withDiagnostics(tools: readonly Tool[], options: DiagnosticsOptions): Tool[] {
  const { workspace, most = DEFAULT_MOST, run = runCommand } = options
  const checks = options.checks.map((check) => createCheck(check, workspace.root, run))
  const longest = Math.max(0, ...checks.map(({ timeout }) => timeout))
  if (checks.length === 0) return [...tools]
  return tools.map((tool) =>
    tool.effect === 'write'
      ? {
          ...tool,
          timeout: Math.min(MAX_TIMEOUT, tool.timeout + 2 * longest + ENDING),
          execute: (input: unknown, ctx: ToolContext) => checked(tool, checks, most, input, ctx),
        }
      : tool,
  )
}

async function checked(tool: Tool, checks: readonly Check[], most: number, input: unknown, ctx: ToolContext): Promise<unknown> {
  const likely = likelyFiles(tool, input)
  await Promise.all(checks.map((check) => check.before(likely, ctx.signal)))
  // Said here, where it is certain: cut off later, nobody could tell.
  if (ctx.signal.aborted)
    throw new ToolFailure(`The turn was stopped before ${tool.name} changed anything.`, { errorType: 'cancelled', status: 'cancelled' })
  const result = await (tool.execute as (input: unknown, ctx: ToolContext) => unknown)(input, ctx)
  if (!isToolResult(result) || !result.ok) return result
  const changed = changedFiles(result.data)
  const isConcerned = await Promise.all(checks.map((check) => check.concerns(changed)))
  const concerned = checks.filter((_, at) => isConcerned[at])
  if (concerned.length === 0) return result
  ctx.progress(`checking: ${concerned.map(({ label }) => label).join(', ')}`)
  return withReports(result, await Promise.all(concerned.map((check) => check.after(changed, ctx.signal))), most)
}
