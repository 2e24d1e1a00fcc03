/** Who decides whether a call may run: pure functions, first match. */
import type { Effect } from './tool.ts'

export interface PolicyRequest {
  readonly tool: string
  readonly effect: Effect
  readonly input: Readonly<Record<string, unknown>>
  /** What the call acts on: a path, a channel. */
  readonly target: string
}

export interface PolicyDecision {
  readonly decision: 'allow' | 'ask' | 'deny'
  readonly reason: string
  /** Of `ask`: only a person may answer, whatever has been allowed in advance. */
  readonly forced?: boolean
}

export type Policy = (request: PolicyRequest) => PolicyDecision

/** One rule; what it leaves out matches everything. `tool` and `target` may use `*`. */
export interface PolicyRule {
  readonly decision: 'allow' | 'ask' | 'deny'
  readonly tool?: string
  readonly effect?: Effect
  readonly target?: string
  readonly reason?: string
}

/** Reads run, everything else asks. */
export const defaultPolicy: Policy = ({ effect }) =>
  effect === 'read'
    ? { decision: 'allow', reason: 'it only reads' }
    : { decision: 'ask', reason: effect === 'write' ? 'it changes files' : 'it leaves this machine' }

/** The first rule that matches decides; when none does, `fallback`. */
export function rulesPolicy(rules: readonly PolicyRule[], fallback: Policy = defaultPolicy): Policy {
  const compiled = rules.map((rule) => ({ rule, tool: wildcard(rule.tool), target: wildcard(rule.target) }))
  return (request) => {
    for (const { rule, tool, target } of compiled)
      if ((!rule.effect || rule.effect === request.effect) && tool(request.tool) && target(request.target))
        return { decision: rule.decision, reason: rule.reason ?? `a rule says ${rule.decision}` }
    return fallback(request)
  }
}

function wildcard(pattern: string | undefined): (text: string) => boolean {
  if (pattern === undefined || pattern === '*') return () => true
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return (text) => text === pattern
  // By hand, because a regex with several stars takes for ever on a long target that almost matches.
  return (text) => {
    let at = first.length
    if (!text.startsWith(first) || !text.endsWith(last)) return false
    for (const part of rest) {
      const found = text.indexOf(part, at)
      if (found === -1) return false
      at = found + part.length
    }
    return at + last.length <= text.length
  }
}
