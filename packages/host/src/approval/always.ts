/** "Always": a rule in the person's own file, shown before it is written. */
import type { ApprovalRequest, AskedTarget, Policy, PolicyRule } from '@mulligan/core'
import type { Env } from '../common/env.ts'
import { fromHome } from '../common/paths.ts'
import type { ConfiguredRule } from '../config/approval-fields.ts'
import { proposals } from './proposals.ts'
import { addRules } from './rule-file.ts'
import type { ShellRules } from './shell.ts'

export interface Offer {
  readonly rules: readonly ConfiguredRule[]
  /** Whether a rule of the person's is why it asks. */
  readonly asks: (rule: ConfiguredRule) => boolean
}

export interface Always {
  /** Where it is written, as it is shown to the user. */
  readonly file: string
  /** What may be written, the narrowest first; nothing where it would not help. */
  readonly offers: (request: ApprovalRequest, asks: readonly AskedTarget[]) => readonly Offer[]
  /** @returns false where it could not be written: it holds for this session alone */
  readonly write: (offer: Offer) => Promise<boolean>
}

export interface AlwaysOptions {
  /** The person's own file; it need not be there. */
  readonly file: string
  /** Where the rules hold. */
  readonly cwd: string
  readonly env: Env
  readonly shell: ShellRules
  /** The policy with these rules before the person's others. */
  readonly policyWith: (rules: readonly PolicyRule[]) => Policy
  /** Is told what became of it. */
  readonly tell: (line: string) => void
}

export function createAlways({ file, cwd, env, shell, policyWith, tell }: AlwaysOptions): Always {
  const shown = fromHome(file, env)
  const folder = fromHome(cwd, env)

  /** Where a rule of the project asks, none of the person's can change that. */
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
      tell(fault === undefined ? `Written to ${shown}.` : `${shown} ${fault}: it holds for this session alone.`)
      return fault === undefined
    },
  }
}

function isWhy(rule: ConfiguredRule, { tool, effect, input }: ApprovalRequest, asks: readonly AskedTarget[], shell: ShellRules): boolean {
  const policy = shell.rules([rule], () => ({ decision: 'allow', reason: '' }))
  return asks.some(({ target }) => policy({ tool, effect, input, target }).decision === 'ask')
}
