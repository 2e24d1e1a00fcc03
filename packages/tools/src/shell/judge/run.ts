/** What one judgement gathers on its way. */
import type { Node } from './parse.ts'
import { cwdOf, type Scope } from './scope.ts'
import type { Finding, Place, SimpleCommand } from './types.ts'

export interface Run {
  readonly workspace: string
  readonly home: string
  readonly commands: Map<string, SimpleCommand>
  /** What belongs to no command. */
  readonly findings: Finding[]
  /** Functions that are running, with how many processes of their own the script was in when they began. */
  readonly running: Map<Node, number>
  /** Functions and aliases that ran. */
  readonly called: Set<Node | string>
  /** Functions, and the scope that each was defined in. */
  readonly defined: Map<Node, Scope>
  steps: number
  /** Scripts in scripts. */
  depth: number
  /** Pipelines and background jobs around. */
  spawning: number
}

const MOST_STEPS = 20_000
const MOST_DEPTH = 24

export const newRun = (workspace: string, home: string): Run => ({
  workspace,
  home,
  commands: new Map(),
  findings: [],
  running: new Map(),
  called: new Set(),
  defined: new Map(),
  steps: 0,
  depth: 0,
  spawning: 0,
})

/** False where the script is too much to judge. */
export function mayGoOn(run: Run, cost = 1): boolean {
  run.steps += cost
  return run.steps <= MOST_STEPS
}
export const isOver = (run: Run): boolean => run.steps > MOST_STEPS
export const isDeep = (run: Run): boolean => run.depth >= MOST_DEPTH

export const placeOf = (run: Run, scope: Scope): Place => ({ cwd: cwdOf(scope), workspace: run.workspace, home: run.home })
