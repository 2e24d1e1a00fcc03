/** Answers "always" by adding a rule to the user's own file, after showing it to the user. */
import type { ApprovalRequest, Policy, PolicyRule } from '@mulligan/core'
import type { AskedTarget } from '@mulligan/core/executor'
import type { Env } from '../common/env.ts'
import { fromHome } from '../common/paths.ts'
import type { ConfiguredRule } from '../config/schema.ts'
import { proposals } from './proposals.ts'
import { addRules } from './rule-file.ts'
import type { ShellRules } from './shell.ts'

export interface Offer {
  readonly rules: readonly ConfiguredRule[]
  /** Whether one of the user's rules is the reason for the question. */
  readonly asks: (rule: ConfiguredRule) => boolean
}

export interface Always {
  /** Path of the file that rules are written to, for display. */
  readonly file: string
  /** Returns the rules that may be written, the narrowest first; none where they would make no difference. */
  readonly offers: (request: ApprovalRequest, asks: readonly AskedTarget[]) => readonly Offer[]
  /** Writes the rules. @returns false if that failed; they then apply to this session only */
  readonly write: (offer: Offer) => Promise<boolean>
}

export interface AlwaysOptions {
  /** The user's own file; it need not exist. */
  readonly file: string
  /** Folder that the rules apply to. */
  readonly cwd: string
  readonly env: Env
  readonly shell: ShellRules
  /** Returns the policy with these rules before the user's other rules. */
  readonly policyWith: (rules: readonly PolicyRule[]) => Policy
  /** Called with a line about the outcome. */
  readonly tell: (line: string) => void
}

export function createAlways({ file, cwd, env, shell, policyWith, tell }: AlwaysOptions): Always {
  const shown = fromHome(file, env)
  const folder = fromHome(cwd, env)

  /** Whether the rules would allow the call. The user's rules cannot override a rule of the project that asks. */
  const helps = (
    { tool, effect, input, changes }: ApprovalRequest,
    asks: readonly AskedTarget[],
    rules: readonly PolicyRule[],
  ): boolean => {
    const policy = policyWith(rules)
    const request = { tool, effect, input, ...(changes && { changes: changes.targets }) }
    return asks.every(({ target }) => policy({ ...request, target }).decision === 'allow')
  }

  return {
    file: shown,

    offers: (request, asks) =>
      proposals(request, asks, shell)
        .map((rules) => rules.map((rule) => ({ ...rule, folder })))
        .filter((rules) => helps(request, asks, rules))
        .map((rules) => ({ rules, asks: (rule) => isWhy(rule, request, asks, shell) })),

    write: async ({ rules, asks }) => {
      const fault = await addRules(file, rules, asks)
      tell(fault === undefined ? `Written to ${shown}.` : `${shown} ${fault}: the rule applies to this session only.`)
      return fault === undefined
    },
  }
}

function isWhy(rule: ConfiguredRule, { tool, effect, input }: ApprovalRequest, asks: readonly AskedTarget[], shell: ShellRules): boolean {
  const policy = shell.rules([rule], () => ({ decision: 'allow', reason: '' }))
  return asks.some(({ target }) => policy({ tool, effect, input, target }).decision === 'ask')
}
