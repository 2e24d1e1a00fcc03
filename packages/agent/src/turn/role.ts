/** A named agent: what it is told, and which tools it has. The engine holds it to these, not its prompt. */
import { defaultPolicy, type Policy, type Tool } from '@mulligan/core'

export interface Role {
  readonly name: string
  /** Its task, in the system prompt. */
  readonly prompt?: string
  /** Why it does not have a tool, as a sentence; undefined where it has it. */
  readonly withholds?: (tool: Tool) => string | undefined
}

/** The tools that a role has. */
export const toolsOf = (tools: readonly Tool[], role: Role | undefined): readonly Tool[] =>
  role?.withholds ? tools.filter((tool) => role.withholds?.(tool) === undefined) : tools

/** The policy, and before it the role: what it does not have is denied, whoever would say yes. */
export function rolePolicy(tools: readonly Tool[], role: Role | undefined, policy: Policy = defaultPolicy): Policy {
  const reasons = new Map(tools.map((tool) => [tool.name, role?.withholds?.(tool)]))
  return (request) => {
    const reason = reasons.get(request.tool)
    return reason === undefined ? policy(request) : { decision: 'deny', reason }
  }
}
