/** The approvals of one run: who decides, and how a person is asked. */
import { type PolicyRule, previewOf, type Tool } from '@mulligan/core'
import type { Settings } from '../config/settings.ts'
import type { Ask } from '../ui/ask.ts'
import type { Colors } from '../ui/colors.ts'
import { createAlways } from './always.ts'
import { createApprover } from './approve.ts'
import { policyInForce } from './policy.ts'
import { shellApproval } from './shell.ts'

export interface ApprovalOptions {
  readonly settings: Settings
  readonly cwd: string
  readonly tools: readonly Tool[]
  /** `--yes` */
  readonly yes: boolean
  /** Absent when nobody is there. */
  readonly ask?: Ask
  readonly colors: Colors
  /** Shows a line to the person. */
  readonly tell: (line: string) => void
}

export function openApproval({ settings, cwd, tools, yes, ask, colors, tell }: ApprovalOptions) {
  const shell = shellApproval(cwd)
  const edits = new Set(tools.filter((tool) => tool.edits).map(({ name }) => name))
  const policyWith = (rules: readonly PolicyRule[]) => policyInForce(settings.approval, shell, edits, rules)
  const file = settings.files.find(({ origin }) => origin === 'user')?.path
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  return {
    policy: policyWith([]),
    approve: createApprover({
      yes,
      colors,
      shell,
      ...(ask && { ask }),
      preview: async ({ tool, input }) => {
        const found = byName.get(tool)
        return found && previewOf(found, input)
      },
      ...(file && { always: createAlways({ file, cwd, shell, policyWith, tell }) }),
    }),
  }
}
