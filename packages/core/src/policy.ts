/** Policies decide whether a call may run. Pure functions; the first match wins. */
import { wildcard } from './policy-pattern.ts'
import type { Effect } from './tool.ts'

export interface PolicyRequest {
  readonly tool: string
  readonly effect: Effect
  readonly input: Readonly<Record<string, unknown>>
  /** What the call acts on: a path, a channel, one simple command. */
  readonly target: string
  /** Paths that the call changed on its throwaway layer: the question is whether to keep them, and undo takes them back. */
  readonly changes?: readonly string[]
}

export interface PolicyDecision {
  readonly decision: 'allow' | 'ask' | 'deny'
  readonly reason: string
  /** Of `ask`: only a person may answer, whatever has been allowed in advance. */
  readonly forced?: boolean
}

export type Policy = (request: PolicyRequest) => PolicyDecision

/** One rule; what it leaves out matches everything. `*` stands for any text in `tool`, `target` and `input`, `\*` for a star. */
export interface PolicyRule {
  readonly decision: 'allow' | 'ask' | 'deny'
  readonly tool?: string
  readonly effect?: Effect
  readonly target?: string
  /** By parameter. One that the call does not have matches nothing; one that is not text is matched as JSON. */
  readonly input?: Readonly<Record<string, string>>
  readonly reason?: string
}

/** Reads run, everything else asks. */
export const defaultPolicy: Policy = ({ effect }) =>
  effect === 'read'
    ? { decision: 'allow', reason: 'it only reads' }
    : { decision: 'ask', reason: effect === 'write' ? 'it changes files' : 'it leaves this machine' }

/** The first rule that matches decides; when none does, `fallback`. */
export function rulesPolicy(rules: readonly PolicyRule[], fallback: Policy = defaultPolicy): Policy {
  const compiled = rules.map((rule) => ({ rule, matches: matcher(rule) }))
  return (request) => {
    for (const { rule, matches } of compiled)
      if (matches(request)) return { decision: rule.decision, reason: rule.reason ?? `a rule says ${rule.decision}` }
    return fallback(request)
  }
}

function matcher({ tool, effect, target, input = {} }: PolicyRule): (request: PolicyRequest) => boolean {
  const [ofTool, ofTarget] = [wildcard(tool), wildcard(target)]
  const parameters = Object.entries(input).map(([name, pattern]) => [name, wildcard(pattern)] as const)
  return (request) =>
    (!effect || effect === request.effect) &&
    ofTool(request.tool) &&
    ofTarget(request.target) &&
    parameters.every(([name, matches]) => Object.hasOwn(request.input, name) && matches(textOf(request.input[name])))
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

const strictness = ({ decision, forced }: PolicyDecision): number => ({ allow: 0, ask: forced ? 2 : 1, deny: 3 })[decision] ?? Infinity

/** The strictest of some decisions, the first of equal ones. */
export const strictestOf = <Decision extends PolicyDecision>(first: Decision, ...more: readonly Decision[]): Decision =>
  more.reduce((strict, one) => (strictness(one) > strictness(strict) ? one : strict), first)

/**
 * Asks all of them, and the strictest answer counts: so that what one allows another can still refuse, whatever the order.
 * @example
 * strictestPolicy(rulesPolicy(ownRules), rulesPolicy(projectRules, () => ({ decision: 'allow', reason: '' })))
 */
export const strictestPolicy =
  (first: Policy, ...more: readonly Policy[]): Policy =>
  (request) =>
    strictestOf(first(request), ...more.map((policy) => policy(request)))
