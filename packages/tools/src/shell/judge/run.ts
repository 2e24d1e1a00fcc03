/** What one judgement gathers on its way. */
import type { Node } from './parse.ts'
import { cwdOf, type Scope } from './scope.ts'
import type { Finding, Place, SimpleCommand } from './types.ts'
import type { Arg, Stream } from './value.ts'

/** What runs a script or a function of it: handed in, because commands run scripts, and scripts run commands. */
export interface Shell {
  readonly runText: (run: Run, scope: Scope, text: string, stdin: Stream) => Stream
  readonly callFunction: (
    run: Run,
    scope: Scope,
    name: string,
    args: readonly Arg[],
    stdin: Stream,
  ) => { readonly stream: Stream; readonly findings: readonly Finding[] }
}

export interface Run {
  readonly shell: Shell
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

export const newRun = (workspace: string, home: string, shell: Shell): Run => ({
  shell,
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
