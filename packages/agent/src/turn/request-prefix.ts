/** What a turn begins every request with: the system prompt, and which tools are sent. */
import type { CallRecord, Policy, Tool } from '@mulligan/core'
import { promptTokens, systemPrompt } from './prompt.ts'
import { rolePolicy, toolsOf } from './role.ts'
import { promptBudget } from './tool-selection/budget.ts'
import { chooseTools } from './tool-selection/choose.ts'
import { foundTools } from './tool-selection/found.ts'
import type { TurnContext } from './turn-context.ts'

export interface RequestPrefix {
  readonly system: string
  /** For the executor: also those that are not sent, and those that the role does not have, which it refuses. */
  readonly tools: readonly Tool[]
  readonly policy: Policy
  /** In this request: those that are always there, then those found, in the order of that. */
  readonly sent: () => readonly Tool[]
  /** Calls that have come to their result. */
  readonly learn: (records: readonly CallRecord[]) => void
}

export type PrefixContext = Pick<
  TurnContext,
  'cwd' | 'tools' | 'role' | 'lean' | 'policy' | 'model' | 'history' | 'instructions' | 'skills'
>

export function createRequestPrefix(context: PrefixContext): RequestPrefix {
  const { cwd, tools, role, lean, policy, model, history } = context
  const { contextTokens } = model
  const system = systemPrompt(cwd, { role, contextTokens, instructions: context.instructions?.(), skills: context.skills?.() })
  const budget = promptBudget(contextTokens)
  const { always, hidden } = chooseTools({ tools: toolsOf(tools, role), budget: budget - promptTokens(system), lean })
  const own = always.filter((tool) => !tools.includes(tool))
  let found = foundTools(
    hidden,
    history.flatMap((message) => (message.role === 'results' ? message.records : [])),
    budget,
  )
  return {
    system,
    tools: own.length > 0 ? [...tools, ...own] : tools,
    policy: rolePolicy(tools, role, policy),
    sent: () => [...always, ...found],
    learn: (records) => {
      found = foundTools(hidden, records, budget, found)
    },
  }
}
