/** Builds the prefix of every request of a turn: the system prompt and the tools that are sent. */
import type { CallRecord, Policy, Tool } from '@mulligan/core'
import { defaultPolicy } from '@mulligan/core/executor'
import { recordsOf } from '../history/message.ts'
import type { Role } from '../options.ts'
import { promptTokens, systemPrompt } from './prompt.ts'
import { chooseTools, foundTools, promptBudget } from './tool-selection/choose.ts'
import type { TurnContext } from './turn-context.ts'

export type RequestPrefix = ReturnType<typeof createRequestPrefix>

export type PrefixContext = Pick<
  TurnContext,
  'cwd' | 'tools' | 'role' | 'lean' | 'policy' | 'model' | 'history' | 'instructions' | 'skills'
>

export function createRequestPrefix(context: PrefixContext) {
  const { cwd, tools, role, lean, policy, model, history } = context
  const { contextTokens } = model
  const system = systemPrompt(cwd, { role, contextTokens, instructions: context.instructions?.(), skills: context.skills?.() })
  const budget = promptBudget(contextTokens)
  const { always, hidden } = chooseTools({ tools: toolsOf(tools, role), budget: budget - promptTokens(system), lean })
  const own = always.filter((tool) => !tools.includes(tool))
  let found = foundTools(hidden, recordsOf(history), budget)
  let sent: readonly Tool[] = [...always, ...found]
  return {
    system,
    /** For the executor: includes tools that are not sent, and those the role does not have, which it refuses. */
    tools: own.length > 0 ? [...tools, ...own] : tools,
    policy: rolePolicy(tools, role, policy),
    /** The tools of this request: the permanent ones, then those found, in that order. */
    sent: (): readonly Tool[] => sent,
    /** Learns from finished calls. */
    learn: (records: readonly CallRecord[]): void => {
      if (hidden.length === 0) return
      found = foundTools(hidden, records, budget, found)
      sent = [...always, ...found]
    },
  }
}

/** Returns the tools a role has. */
const toolsOf = (tools: readonly Tool[], role: Role | undefined): readonly Tool[] =>
  role?.withholds ? tools.filter((tool) => role.withholds?.(tool) === undefined) : tools

/** Applies the role before the policy: tools the role does not have are denied, whoever would approve them. */
function rolePolicy(tools: readonly Tool[], role: Role | undefined, policy: Policy = defaultPolicy): Policy {
  const reasons = new Map(tools.map((tool) => [tool.name, role?.withholds?.(tool)]))
  return (request) => {
    const reason = reasons.get(request.tool)
    return reason === undefined ? policy(request) : { decision: 'deny', reason }
  }
}
