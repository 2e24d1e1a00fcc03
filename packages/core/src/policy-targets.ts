/** Applies the policy to each target of a call that has several. */
import { type Policy, type PolicyDecision, type PolicyRequest, strictestOf } from './policy.ts'

/** What a person is asked about, and why. */
export interface AskedTarget {
  readonly target: string
  readonly reason: string
}

export interface TargetsDecision extends PolicyDecision {
  /** Those that are not allowed already. */
  readonly asks: readonly AskedTarget[]
}

/** The strictest decision on any of them. A policy that fails allows nothing: `failed` is told, and the call is denied. */
export function decideOnTargets(
  policy: Policy,
  request: Omit<PolicyRequest, 'target'>,
  targets: readonly [string, ...string[]],
  failed: (error: unknown) => void,
): TargetsDecision {
  const decideOn = (target: string): PolicyDecision & AskedTarget => {
    try {
      const decided: Partial<PolicyDecision> | undefined = policy({ ...request, target })
      const { decision, reason = '', forced = false } = decided ?? {}
      if (decision === 'allow' || decision === 'ask' || decision === 'deny')
        return { target, decision, reason, forced: forced && decision === 'ask' }
      throw new TypeError('a policy must return { decision: allow | ask | deny }, and not a promise of it')
    } catch (error) {
      failed(error)
      return { target, decision: 'deny', reason: 'the policy could not be evaluated; the log says why' }
    }
  }
  const [first, ...rest] = targets
  const decided = [decideOn(first), ...rest.map(decideOn)] as const
  const { decision, reason, forced = false } = strictestOf(...decided)
  const asks = decided.flatMap(({ target, ...of }) => (of.decision === 'allow' ? [] : [{ target, reason: of.reason }]))
  return { decision, reason, forced, asks }
}

/**
 * Whether what a call did on its layer may be kept: as the call itself would be decided, and a denial of any path that it changed
 * counts too.
 */
export function decideOnChanges(
  policy: Policy,
  request: Omit<PolicyRequest, 'target'>,
  targets: readonly [string, ...string[]],
  changed: readonly string[],
  failed: (error: unknown) => void,
): TargetsDecision {
  const decided = decideOnTargets(policy, { ...request, changes: changed }, targets, failed)
  const [first, ...rest] = changed
  const ofPaths = first === undefined ? undefined : decideOnTargets(policy, request, [first, ...rest], failed)
  return ofPaths?.decision === 'deny' ? ofPaths : decided
}
