/** Policies decide whether a call may run. Pure functions; the first match wins. */
import type { Effect } from './tool.ts'

export interface PolicyRequest {
  readonly tool: string
  readonly effect: Effect
  readonly input: Readonly<Record<string, unknown>>
  /** What the call acts on: a path, a channel, one simple command. */
  readonly target: string
  /** Paths that the call changed on its throwaway layer. The question is whether to keep those changes; undo reverts them. */
  readonly changes?: readonly string[]
}

export interface PolicyDecision {
  readonly decision: 'allow' | 'ask' | 'deny'
  readonly reason: string
  /** For `ask`: only a person may answer, even if the call was approved in advance. */
  readonly forced?: boolean
}

export type Policy = (request: PolicyRequest) => PolicyDecision

/** One rule; omitted fields match everything. In `tool`, `target` and `input`, `*` matches any text and `\*` a literal star. */
export interface PolicyRule {
  readonly decision: 'allow' | 'ask' | 'deny'
  readonly tool?: string
  readonly effect?: Effect
  readonly target?: string
  /** Patterns by parameter. A parameter the call does not have matches nothing; values that are not text are matched as JSON. */
  readonly input?: Readonly<Record<string, string>>
  readonly reason?: string
}

/** Allows reads and asks about everything else. */
export const defaultPolicy: Policy = ({ effect }) =>
  effect === 'read'
    ? { decision: 'allow', reason: 'it only reads' }
    : { decision: 'ask', reason: effect === 'write' ? 'it changes files' : 'it leaves this machine' }

/** Returns a policy that follows the first matching rule, or `fallback` if none matches. */
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

/** Returns the strictest of the decisions; the first one wins a tie. */
export const strictestOf = <Decision extends PolicyDecision>(first: Decision, ...more: readonly Decision[]): Decision =>
  more.reduce((strict, one) => (strictness(one) > strictness(strict) ? one : strict), first)

/**
 * Combines policies: the strictest decision wins, so any policy can refuse what another allows, whatever the order.
 * @example
 * strictestPolicy(rulesPolicy(ownRules), rulesPolicy(projectRules, () => ({ decision: 'allow', reason: '' })))
 */
export const strictestPolicy =
  (first: Policy, ...more: readonly Policy[]): Policy =>
  (request) =>
    strictestOf(first(request), ...more.map((policy) => policy(request)))

/** Escapes a text so that the pattern matches exactly that text. */
export const literalPattern = (text: string): string => text.replace(/[\\*]/g, '\\$&')

const PIECES = /\\[\\*]|\*|[^\\*]+|\\/g

/** Compiles a pattern. A trailing ` *` may match nothing, so `npm test *` also matches `npm test`. */
export function wildcard(pattern: string | undefined): (text: string) => boolean {
  if (pattern === undefined || pattern === '*') return () => true
  const parts = ['']
  for (const piece of pattern.match(PIECES) ?? []) {
    if (piece === '*') parts.push('')
    else parts.push(parts.pop() + (piece.length === 2 && /^\\[\\*]$/.test(piece) ? piece.slice(1) : piece))
  }
  const [first = '', ...rest] = parts
  const last = rest.pop()
  if (last === undefined) return (text) => text === first
  const bare = parts.length === 2 && last === '' && first.endsWith(' ') ? first.slice(0, -1) : undefined
  // Matched by hand: a regex with several stars takes exponential time on a long target that almost matches.
  return (text) => {
    if (text === bare) return true
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

/** The modes, strictest first. */
export const MODES = ['read-only', 'ask', 'auto-edit', 'auto'] as const
export type Mode = (typeof MODES)[number]

export const stricterMode = (a: Mode, b: Mode): Mode => (MODES.indexOf(a) <= MODES.indexOf(b) ? a : b)

/**
 * Returns the policy of a mode. `read-only` denies everything with an effect, and `ask` asks about it. `auto-edit` allows tools that
 * edit files and keeps the changes that calls make on their layers. `auto` allows everything that stays on this machine. Calls that
 * leave the machine ask in every mode but `read-only`.
 * @param edits whether a tool changes only files in the workspace. Default: none does
 */
export function modePolicy(mode: Mode, edits: (tool: string) => boolean = () => false): Policy {
  return (request) => {
    const { tool, effect, changes } = request
    if (effect === 'read' || mode === 'ask') return defaultPolicy(request)
    if (mode === 'read-only') return { decision: 'deny', reason: 'The mode is read-only: nothing may be changed, and nothing sent.' }
    if (effect === 'write' && (mode === 'auto' || changes !== undefined || edits(tool)))
      return { decision: 'allow', reason: `the mode is ${mode}` }
    return defaultPolicy(request)
  }
}

/** A target that a person is asked about, and the reason. */
export interface AskedTarget {
  readonly target: string
  readonly reason: string
}

export interface TargetsDecision extends PolicyDecision {
  /** The targets that are not already allowed. */
  readonly asks: readonly AskedTarget[]
}

/** Returns the strictest decision on any of the targets. If a policy throws, the call is denied and `failed` is called with the error. */
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
      throw new TypeError('a policy must return { decision: allow | ask | deny }, not a promise')
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
 * Decides whether to keep the changes a call made on its layer: as the call itself would be decided, except that a denial of any
 * changed path also counts.
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
