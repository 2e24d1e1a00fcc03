/** Runs each tool's declared examples and the contract around them. For any test runner: it returns data and never throws. */
import type { Tool } from '@mulligan/core'
import { behaviourOf } from './behaviour.ts'
import { CHECKS } from './checks/index.ts'
import type { Behaviour, CheckReport, ConformanceReport, ToolReport } from './report.ts'
import { type Tools, toolsIn } from './scene.ts'
import { type Subject, subjectOf } from './subject.ts'
import { type ConformanceWorkspace, temporaryWorkspace } from './workspace.ts'

export interface ConformanceOptions {
  /** Where each call runs. Default: a temporary folder, recreated for each. Give your own where tools change something else. */
  readonly workspace?: () => Promise<ConformanceWorkspace>
  /** Makes in the folder what the files of an example cannot, such as a commit. Called for each, before they are written. */
  readonly prepare?: (dir: string, tool: Tool) => void | Promise<void>
  /**
   * What becomes of tools whose effect is `external`. `skip` (the default) runs their `retry` examples and nothing that
   * could leave this machine; `run` runs all: for a service that is a stand-in.
   */
  readonly external?: 'skip' | 'run'
  /** Ceiling on each call and on each wait for a tool that was cut off, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number
}

/** The executor's own grace. */
const GRACE_MS = 1000

/**
 * @param tools a list, or a function that makes the tools for a workspace folder: only then can their changes be seen
 * @example
 * const report = await conformance((dir) => createTools(dir))
 * expect(report.tools.flatMap((one) => one.checks.filter(({ outcome }) => outcome === 'fail'))).toEqual([])
 */
export async function conformance(tools: Tools, options: ConformanceOptions = {}): Promise<ConformanceReport> {
  const { workspace: open = () => temporaryWorkspace(), prepare, external = 'skip', timeoutMs = 10_000 } = options
  let list: readonly Tool[]
  try {
    list = await listTools(tools, open)
  } catch (error) {
    return { tools: [], conforms: false, problem: `the tools could not be made: ${messageOf(error)}` }
  }
  if (list.length === 0) return { tools: [], conforms: false, problem: 'there is no tool' }
  const externals = new Set(list.filter(({ effect }) => effect === 'external').map(({ name }) => name))
  const watchable = typeof tools === 'function' || options.workspace !== undefined
  const graceMs = Math.min(GRACE_MS, timeoutMs)
  const reports: ToolReport[] = []
  for (const tool of list) {
    const prepared = prepare ? () => openPrepared(open, (dir) => prepare(dir, tool)) : open
    reports.push(await examine(subjectOf(tool, { tools, open: prepared, timeoutMs, graceMs, external, externals, watchable })))
  }
  return { tools: reports, conforms: reports.every(({ conforms }) => conforms) }
}

async function listTools(tools: Tools, open: () => Promise<ConformanceWorkspace>): Promise<readonly Tool[]> {
  const workspace = await open()
  try {
    return await toolsIn(tools, workspace.dir)
  } finally {
    await workspace.remove()
  }
}

async function openPrepared(
  open: () => Promise<ConformanceWorkspace>,
  prepare: (dir: string) => void | Promise<void>,
): Promise<ConformanceWorkspace> {
  const workspace = await open()
  try {
    await prepare(workspace.dir)
    return workspace
  } catch (error) {
    await workspace.remove()
    throw error
  }
}

async function examine(subject: Subject): Promise<ToolReport> {
  const checks: CheckReport[] = []
  for (const { name, run } of CHECKS) {
    // A check that could not be made says nothing good about the tool.
    const found = await run(subject).catch((error) => ({ outcome: 'fail' as const, why: `could not be checked: ${messageOf(error)}` }))
    checks.push({ check: name, ...found })
  }
  const { tool } = subject
  return {
    tool: tool.name,
    effect: tool.effect,
    checks,
    behaviour: await behaviourOf(subject).catch(() => UNKNOWN),
    conforms: checks.every(({ outcome }) => outcome !== 'fail'),
  }
}

const UNKNOWN: Behaviour = { found: 'unknown', empty: 'unknown', wrong: 'unknown', failing: 'unknown' }
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
