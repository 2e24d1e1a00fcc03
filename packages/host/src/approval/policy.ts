/** The effective policy: the mode, the user's rules, the project's rules, and what no rule can allow. */
import { modePolicy, type Policy, type PolicyRule, rulesPolicy, strictestOf, strictestPolicy } from '@mulligan/core'
import type { ApprovalSettings } from '../config/approval.ts'
import type { ShellApproval } from './shell.ts'

const anything: Policy = () => ({ decision: 'allow', reason: 'nothing speaks against it' })

/**
 * @param shell allows listed commands, and has a person asked about what destroys or leaks, whatever the rules allow
 * @param edits names of the tools that change files of the workspace and nothing else, so that `mulligan undo` takes it back
 * @param more rules that override the person's others
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
    // What is known by now is what it did, and no longer what it might do.
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

/** What a command changed is subject to the rules about paths too: those of no tool, whose targets name no commands. */
function withPaths(policy: Policy, rules: readonly PolicyRule[]): Policy {
  const ofPath = rulesPolicy(
    rules.filter(({ tool, target }) => tool === undefined && target !== undefined),
    anything,
  )
  return (request) => strictestOf(policy(request), ...(request.changes ?? []).map((target) => ofPath({ ...request, target })))
}
