/** "Always": a rule in the person's own file, shown before it is written. */
import type { ApprovalRequest, AskedTarget, Policy, PolicyRule } from '@mulligan/core'
import type { ConfiguredRule } from '../config/approval-fields.ts'
import { fromHome } from '../paths.ts'
import type { Ask } from '../ui/ask.ts'
import { safeJson } from '../ui/sanitize.ts'
import { proposals } from './proposals.ts'
import { addRules } from './rule-file.ts'
import type { ShellRules } from './shell.ts'

export interface Offer {
  readonly rules: readonly ConfiguredRule[]
  /** Whether a rule of the person's is why it asks. */
  readonly asks: (rule: ConfiguredRule) => boolean
}

export interface Made {
  readonly rules: readonly ConfiguredRule[]
  /** False: it holds for this session alone. */
  readonly isWritten: boolean
}

export interface Always {
  /** What may be written, the narrowest first; nothing where it would not help. */
  readonly offers: (request: ApprovalRequest, asks: readonly AskedTarget[]) => readonly Offer[]
  /** Shows it, and writes it when the person says so. `undefined`: they would rather not. */
  readonly make: (offers: readonly Offer[], ask: Ask, signal: AbortSignal) => Promise<Made | undefined>
}

export interface AlwaysOptions {
  /** The person's own file; it need not be there. */
  readonly file: string
  /** Where the rules hold. */
  readonly cwd: string
  readonly shell: ShellRules
  /** The policy with these rules before the person's others. */
  readonly policyWith: (rules: readonly PolicyRule[]) => Policy
  /** Shows a line to the person. */
  readonly tell: (line: string) => void
}

export function createAlways({ file, cwd, shell, policyWith, tell }: AlwaysOptions): Always {
  const shown = fromHome(file)
  const folder = fromHome(cwd)

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
    offers: (request, asks) =>
      proposals(request, asks, shell)
        .map((rules) => rules.map((rule) => ({ ...rule, folder })))
        .filter((rules) => helps(request, asks, rules))
        .map((rules) => ({ rules, asks: (rule) => isWhy(rule, request, asks, shell) })),

    make: async (offers, ask, signal) => {
      const numbered = offers.flatMap(({ rules }, at) => rules.map((rule, line) => `    ${line === 0 ? at + 1 : ' '}  ${safeJson(rule)}`))
      const numbers = offers.map((_, at) => `[${at + 1}]`).join(', ')
      const line = await ask(['', `  To be written to "policy" in ${shown}:`, ...numbered, `  ${numbers}, [n]othing: `].join('\n'), signal)
      const chosen = offers[Number(line?.trim() || Number.NaN) - 1]
      if (!chosen) return undefined
      const { rules, asks } = chosen
      const fault = await addRules(file, rules, asks)
      tell(fault === undefined ? `  Written to ${shown}.\n` : `  ${shown} ${fault}: it holds for this session alone.\n`)
      return { rules, isWritten: fault === undefined }
    },
  }
}

function isWhy(rule: ConfiguredRule, { tool, effect, input }: ApprovalRequest, asks: readonly AskedTarget[], shell: ShellRules): boolean {
  const policy = shell.rules([rule], () => ({ decision: 'allow', reason: '' }))
  return asks.some(({ target }) => policy({ tool, effect, input, target }).decision === 'ask')
}
