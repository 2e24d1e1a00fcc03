/** The policy that is in force: of the mode, the rules of the person, those of the project, and what no rule can allow. */
import { modePolicy, type Policy, type PolicyRule, strictestPolicy } from '@mulligan/core'
import type { ApprovalSettings } from '../config/approval.ts'
import type { ShellApproval } from './shell.ts'

/** Tools that change files of the workspace and nothing else, so that `mulligan undo` takes it back. */
export const EDITS: ReadonlySet<string> = new Set(['write_file', 'edit_file', 'apply_patch', 'move_file', 'delete_file', 'make_dir'])

const anything: Policy = () => ({ decision: 'allow', reason: 'nothing speaks against it' })

/**
 * @param shell allows listed commands, and has a person asked about what destroys or leaks, whatever the rules allow
 * @param more rules that stand above the person's others
 */
export function policyInForce(
  { mode, rules, projectRules }: ApprovalSettings,
  { guarded, reasonOf, rules: rulesOf }: Pick<ShellApproval, 'guarded' | 'reasonOf' | 'rules'>,
  more: readonly PolicyRule[] = [],
): Policy {
  const byMode = modePolicy(mode.value, (tool) => EDITS.has(tool))
  const ofMode = guarded((request) => {
    const decided = byMode(request)
    return decided.decision === 'ask' ? { ...decided, reason: reasonOf(request, request.target) ?? decided.reason } : decided
  })
  const own = rulesOf([...more, ...rules.map(({ value }) => value)], ofMode)
  const ofProject = rulesOf(
    projectRules.map(({ value }) => value),
    anything,
  )
  const always = [guarded(anything), ofProject]
  return mode.value === 'read-only' ? strictestPolicy(ofMode, ...always, own) : strictestPolicy(own, ...always)
}
