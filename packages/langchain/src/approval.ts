/** Asks a person by interrupting the graph, in the form of LangChain's own human-in-the-loop middleware. */
import type { ApprovalDecision, ApprovalRequest } from '@mulligan/core'
import type { HITLRequest, HITLResponse, Runtime } from 'langchain'

/** @throws LangGraph's interruption, unless it was resumed with an answer. Without a checkpointer there is nobody to ask. */
export function ask({ tool, input, reason }: ApprovalRequest, { interrupt, configurable }: Runtime): ApprovalDecision {
  if (!interrupt || !configurable?.['__pregel_checkpointer']) return { answer: 'nobody' }
  const request: HITLRequest = {
    actionRequests: [{ name: tool, args: { ...input }, description: `${tool} needs approval: ${reason}` }],
    reviewConfigs: [{ actionName: tool, allowedDecisions: ['approve', 'reject'] }],
  }
  const [decision] = (interrupt(request) as Partial<HITLResponse> | undefined)?.decisions ?? []
  if (decision?.type === 'approve') return { answer: 'once' }
  return { answer: 'no', ...(decision?.type === 'reject' && decision.message !== undefined && { reason: decision.message }) }
}
