/** Sets up the approvals of a workspace: which policy decides, and how the user is asked. */
import type { PolicyRule, Tool } from '@mulligan/core'
import { previewOf } from '@mulligan/core/executor'
import type { Env } from '../common/env.ts'
import type { Settings } from '../config/settings.ts'
import { createAlways } from './always.ts'
import { type AskApproval, createApprover } from './approve.ts'
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
  /** Called with a line about what became of an answer "always". */
  readonly tell: (line: string) => void
}

export function openApproval({ settings, cwd, tools, yes, ask, env, tell }: ApprovalOptions) {
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
      preview: async ({ tool, input }) => {
        const found = byName.get(tool)
        return found && previewOf(found, input)
      },
      ...(file && { always: createAlways({ file, cwd, env, shell, policyWith, tell }) }),
    }),
  }
}
