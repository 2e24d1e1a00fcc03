/** Runs each tool's declared examples and checks the contract with them. For any test runner: returns data and never throws. */
import type { Tool } from '@mulligan/core'
import { CHECKS } from './checks.ts'
import { type Behaviour, behaviourOf, type CheckReport, type ConformanceReport, type ToolReport } from './report.ts'
import { type Tools, toolsIn } from './scene.ts'
import { type Subject, subjectOf } from './subject.ts'
import { type ConformanceWorkspace, temporaryWorkspace } from './workspace.ts'

export interface ConformanceOptions {
  /** Where each call runs. Default: a new temporary folder for each. Pass your own if the tools change something else. */
  readonly workspace?: () => Promise<ConformanceWorkspace>
  /** Creates in the folder what the files of an example cannot, such as a commit. Called for each call, before the files are written. */
  readonly prepare?: (dir: string, tool: Tool) => void | Promise<void>
  /**
   * How to treat tools with the effect `external`. `skip` (the default) runs their `retry` examples and nothing that could leave this
   * machine; `run` runs everything, for a service that is a stand-in.
   */
  readonly external?: 'skip' | 'run'
  /** Maximum duration of each call, and of each wait for a tool that was cut off, in milliseconds. Default 5,000. After a call that took
   * longer, other calls of the same tool get 100 ms. */
  readonly timeoutMs?: number
}

/** The executor's default grace period. */
const GRACE_MS = 1000

/**
 * @param tools a list, or a function that makes the tools for a workspace folder, which is required to see their changes
 * @example
 * const report = await conformance((dir) => createTools(dir))
 * expect(report.tools.flatMap((one) => one.checks.filter(({ outcome }) => outcome === 'fail'))).toEqual([])
 */
export async function conformance(tools: Tools, options: ConformanceOptions = {}): Promise<ConformanceReport> {
  const { workspace = () => temporaryWorkspace(), prepare, external = 'skip', timeoutMs = 5_000 } = options
  const open = async (tool?: Tool): Promise<ConformanceWorkspace> => {
    const opened = await workspace()
    try {
      if (tool) await prepare?.(opened.dir, tool)
      return opened
    } catch (error) {
      await opened.remove()
      throw error
    }
  }
  let list: readonly Tool[]
  try {
    const opened = await open()
    list = await toolsIn(tools, opened.dir).finally(opened.remove)
  } catch (error) {
    return { tools: [], conforms: false, problem: `the tools could not be made: ${messageOf(error)}` }
  }
  if (list.length === 0) return { tools: [], conforms: false, problem: 'there are no tools' }
  const externals = new Set(list.filter(({ effect }) => effect === 'external').map(({ name }) => name))
  const watchable = typeof tools === 'function' || options.workspace !== undefined
  const graceMs = Math.min(GRACE_MS, timeoutMs)
  const reports: ToolReport[] = []
  for (const tool of list)
    reports.push(
      await examine(subjectOf(tool, { tools, open: () => open(tool), pace: { timeoutMs, graceMs }, external, externals, watchable })),
    )
  return { tools: reports, conforms: reports.every(({ conforms }) => conforms) }
}

async function examine(subject: Subject): Promise<ToolReport> {
  const { name: tool, effect } = subject.tool
  const checks: CheckReport[] = []
  for (const [check, run] of Object.entries(CHECKS)) {
    // A check that could not run is not a pass.
    const found = await run(subject).catch((error) => ({ outcome: 'fail' as const, why: `could not be checked: ${messageOf(error)}` }))
    checks.push({ check, ...found })
  }
  const behaviour = await behaviourOf(subject).catch(() => UNKNOWN)
  return { tool, effect, checks, behaviour, conforms: checks.every(({ outcome }) => outcome !== 'fail') }
}

const UNKNOWN: Behaviour = { found: 'unknown', empty: 'unknown', wrong: 'unknown', failing: 'unknown' }
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
