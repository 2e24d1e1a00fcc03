/** The effective policy: the mode, the user's rules, the project's rules, and what no rule can allow. */
import { type Policy, type PolicyRule, rulesPolicy } from '@mulligan/core'
import { modePolicy, strictestOf, strictestPolicy } from '@mulligan/core/executor'
import type { ApprovalSettings } from '../config/approval.ts'
import type { ShellApproval } from './shell.ts'

const anything: Policy = () => ({ decision: 'allow', reason: 'no rule denies it' })

/**
 * Combines all sources into one policy.
 * @param shell allows listed commands, and asks the user about commands that destroy or leak data, whatever the rules allow
 * @param edits names of the tools that change only files of the workspace, so that `mulligan undo` can revert them
 * @param more rules that override the user's other rules
 */
export function effectivePolicy(
  { mode, rules, projectRules }: ApprovalSettings,
  { guarded, reasonOf, rules: rulesOf }: Pick<ShellApproval, 'guarded' | 'reasonOf' | 'rules'>,
  edits: ReadonlySet<string>,
  more: readonly PolicyRule[] = [],
): Policy {
  const byMode = modePolicy(mode.value, (tool) => edits.has(tool))
  const ofMode = guarded((request) => {
    const decided = byMode(request)
    // The call has already run: what it did is known, so what it might do no longer matters.
    if (decided.decision !== 'ask' || request.changes) return decided
    return { ...decided, reason: reasonOf(request, request.target) ?? decided.reason }
  })
  const ownRules = [...more, ...rules.map(({ value }) => value)]
  const own = withPaths(rulesOf(ownRules, ofMode), ownRules)
  const ofOthers = projectRules.map(({ value }) => value)
  const ofProject = withPaths(rulesOf(ofOthers, anything), ofOthers)
  const always = [guarded(anything), ofProject]
  return mode.value === 'read-only' ? strictestPolicy(ofMode, ...always, own) : strictestPolicy(own, ...always)
}

/** Applies path rules to the files that a command changed: rules without a tool, whose targets are not commands. */
function withPaths(policy: Policy, rules: readonly PolicyRule[]): Policy {
  const ofPath = rulesPolicy(
    rules.filter(({ tool, target }) => tool === undefined && target !== undefined),
    anything,
  )
  return (request) => strictestOf(policy(request), ...(request.changes ?? []).map((target) => ofPath({ ...request, target })))
}
