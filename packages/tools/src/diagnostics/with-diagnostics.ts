import { ok, type Tool, type ToolContext, ToolFailure, type ToolOk } from '@mulligan/core'
import { type ContentPart, isToolResult } from '@mulligan/core/executor'
import { plural } from '../files/common/page.ts'
import { fenced } from '../files/common/unified-diff.ts'
import { normalized } from '../workspace/paths.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { type ChangedFile, type Check, type CheckReport, createCheck, type DiagnosticCheck } from './check.ts'
import { type Finding, findingLine, inOrder } from './finding.ts'
import { type RunCommand, runCommand } from './run-command.ts'

export interface DiagnosticsOptions {
  /** Checks run in its folder. */
  readonly workspace: Pick<Workspace, 'root'>
  readonly checks: readonly DiagnosticCheck[]
  /** Maximum new findings in a result; the rest is counted. Default 20. */
  readonly most?: number
  /** Starts a check's process, for example in a sandbox. Default: on this machine, with keys removed from the environment. */
  readonly run?: RunCommand
}

const DEFAULT_MOST = 20
/** Maximum findings shown for other files. */
const MAX_ELSEWHERE = 5
const MAX_TIMEOUT = 3600
/** Maximum seconds for ending a process, before and after the change. */
const ENDING = 5

/**
 * Wraps tools so that those with the effect `write` run the checks after a change and report what is new since before the first change.
 * Earlier findings are kept for the session the tools are created for. A check never makes a change fail.
 *
 * @throws TypeError for an invalid check
 * @example
 * withDiagnostics(fileTools(workspace), { workspace, checks: [{ include: '*.ts', command: ['tsc', '--noEmit'] }] })
 */
export function withDiagnostics(tools: readonly Tool[], options: DiagnosticsOptions): Tool[] {
  const { workspace, most = DEFAULT_MOST, run = runCommand } = options
  const checks = options.checks.map((check) => createCheck(check, workspace.root, run))
  const longest = Math.max(0, ...checks.map(({ timeout }) => timeout))
  const withChecks = (tool: Tool): Tool => ({
    ...tool,
    timeout: Math.min(MAX_TIMEOUT, tool.timeout + 2 * longest + ENDING),
    execute: (input: unknown, ctx: ToolContext) => checked(tool, checks, most, input, ctx),
  })
  return tools.map((tool) => (tool.effect === 'write' && checks.length > 0 ? withChecks(tool) : tool))
}

async function checked(tool: Tool, checks: readonly Check[], most: number, input: unknown, ctx: ToolContext): Promise<unknown> {
  const likely = likelyFiles(tool, input)
  await Promise.all(checks.map((check) => check.before(likely, ctx.signal)))
  // Throw here, where it is certain that nothing was changed; after a later abort, this would be unknown.
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

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Reads the changed files from a result's data: `path`, or `files` with a `path` each. Moved files also have `from`. */
function changedFiles(data: unknown): ChangedFile[] {
  if (!isRecord(data)) return []
  const entries = [data, ...(Array.isArray(data['files']) ? data['files'].filter(isRecord) : [])]
  const found = entries.flatMap(({ path, from }): ChangedFile[] => {
    if (typeof path !== 'string') return []
    return typeof from === 'string' && from !== path ? [{ path: from }, { path, from }] : [{ path }]
  })
  return [...new Map(found.map((file) => [file.path, file])).values()]
}

/** Returns the tool's targets before it runs. They may include names that are not files. */
function likelyFiles(tool: Tool, input: unknown): string[] {
  try {
    const paths = [tool.target(input as never)].flat().map(normalized)
    return [...new Set(paths)].filter((path) => path !== '')
  } catch {
    return []
  }
}

/** Added to the result's data as `diagnostics`. */
export interface Diagnostics {
  /** Findings in the changed files that were not there before the session's first change. Limited to those shown. */
  readonly new: readonly Finding[]
  readonly newCount: number
  /** Findings in other files that came with this change; only the first few. */
  readonly elsewhere: readonly Finding[]
  readonly elsewhereCount: number
  /** Number of findings that disappeared with this change. */
  readonly gone: number
  /** The checks that ran. */
  readonly checks: readonly string[]
}

function withReports({ ok: _, data, ...rest }: ToolOk, reports: readonly CheckReport[], most: number): ToolOk {
  const fresh = inOrder(reports.flatMap((report) => report.fresh))
  const elsewhere = inOrder(reports.flatMap((report) => report.elsewhere))
  const diagnostics: Diagnostics = {
    new: fresh.slice(0, most),
    newCount: fresh.length,
    elsewhere: elsewhere.slice(0, MAX_ELSEWHERE),
    elsewhereCount: elsewhere.length,
    gone: reports.reduce((sum, report) => sum + report.gone, 0),
    checks: reports.filter(({ looked }) => looked).map(({ label }) => label),
  }
  const unknown = reports.filter((one) => one.sinceUnknown && one.fresh.length > 0)
  const notes = [
    ...(rest.notes ?? []),
    ...reports.flatMap(({ troubles }) => troubles),
    ...unknown.map(({ label }) => `It is not known what "${label}" said before this change: some of it may be old.`),
  ]
  const more = { ...rest, ...(notes.length > 0 && { notes }) }
  const says = textOf(diagnostics)
  if (says === '') return ok(data, more)
  return ok(isRecord(data) ? { ...data, diagnostics } : data, {
    ...more,
    content: appended(rest.content, data, says),
    display: rest.display === undefined ? fenced(says) : `${rest.display}\n\n${fenced(says)}`,
  })
}

function textOf({ new: fresh, newCount, elsewhere, elsewhereCount, gone, checks }: Diagnostics): string {
  if (checks.length === 0) return ''
  const by = checks.join(', ')
  const listed = (says: string, shown: readonly Finding[], count: number): string[] => [
    `${says}: ${plural(count, 'finding')}`,
    ...shown.map((finding) => `  ${findingLine(finding)}`),
    ...(count > shown.length ? [`  … and ${count - shown.length} more`] : []),
  ]
  const none = `Checked with ${by}: nothing new in what was changed.`
  return [
    ...(newCount === 0 ? [none] : listed(`New since before the changes, by ${by}`, fresh, newCount)),
    ...(elsewhereCount > 0 ? listed('Come with this change in other files', elsewhere, elsewhereCount) : []),
    ...(gone > 0 ? [`Gone with this change: ${plural(gone, 'finding')}.`] : []),
  ].join('\n')
}

function appended(content: ToolOk['content'], data: unknown, says: string): string | readonly ContentPart[] {
  if (content === undefined) return `${typeof data === 'string' ? data : JSON.stringify(data)}\n${says}`
  return typeof content === 'string' ? `${content}\n${says}` : [...content, { type: 'text', text: says }]
}
