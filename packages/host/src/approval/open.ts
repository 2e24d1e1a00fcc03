/** Sets up the approvals of a workspace: which policy decides, and how the user is asked. */
import type { Parking } from '@mulligan/agent'
import type { ApprovalDecision, Policy, PolicyRule, Tool } from '@mulligan/core'
import { previewOf } from '@mulligan/core/executor'
import type { Env } from '../common/env.ts'
import type { Settings } from '../config/settings.ts'
import { createAlways } from './always.ts'
import { type Approve, type AskApproval, createApprover } from './approve.ts'
import { effectivePolicy } from './policy.ts'
import { shellApproval } from './shell.ts'

export interface ApprovalOptions {
  readonly settings: Settings
  readonly cwd: string
  readonly env: Env
  readonly tools: readonly Tool[]
  /** `--yes` */
  readonly yes: boolean
  /** Absent when nobody can be asked. */
  readonly ask?: AskApproval | undefined
  /** Whether a question parks the turn if nobody can be asked. */
  readonly park?: boolean
  /** Rules that answers of earlier processes have added. */
  readonly remembered?: readonly PolicyRule[]
  /** Called with a line about what became of an answer "always". */
  readonly tell: (line: string) => void
}

interface Approval<Decision> {
  readonly policy: Policy
  readonly approve: Approve<Decision>
}

export function openApproval(options: Omit<ApprovalOptions, 'park'>): Approval<ApprovalDecision>
export function openApproval(options: ApprovalOptions): Approval<ApprovalDecision | Parking>
export function openApproval({
  settings,
  cwd,
  tools,
  yes,
  ask,
  park,
  remembered,
  env,
  tell,
}: ApprovalOptions): Approval<ApprovalDecision | Parking> {
  const shell = shellApproval(cwd)
  const edits = new Set(tools.filter((tool) => tool.edits).map(({ name }) => name))
  const policyWith = (rules: readonly PolicyRule[]) => effectivePolicy(settings.approval, shell, edits, rules)
  const file = settings.files.find(({ origin }) => origin === 'user')?.path
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  return {
    policy: policyWith([]),
    approve: createApprover({
      yes,
      shell,
      ...(ask && { ask }),
      ...(park && { park }),
      ...(remembered && { remembered }),
      preview: async ({ tool, input }) => {
        const found = byName.get(tool)
        return found && previewOf(found, input)
      },
      ...(file && { always: createAlways({ file, cwd, env, shell, policyWith, tell }) }),
    }),
  }
}
