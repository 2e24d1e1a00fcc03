/** Asks the person in the editor to approve a call, with the exact effect. The decision stays with the engine's approver. */
import type { AgentContext, ClientCapabilities, PermissionOption, ToolCallUpdate } from '@agentclientprotocol/sdk'
import type { ApprovalAnswer, ApprovalQuestion, AskApproval } from '@mulligan/host'
import { oneLine, safeJson, visible } from '@mulligan/host/light'

export interface Person {
  readonly client: () => AgentContext
  readonly sessionId: string
  readonly capabilities: () => ClientCapabilities
}

const ALWAYS = /^always-(\d+)$/

/** @param describe returns how a question is shown */
export function permissions({ client, sessionId }: Person, describe: () => (question: ApprovalQuestion) => ToolCallUpdate): AskApproval {
  return async (question, signal) => {
    if (signal.aborted) return { answer: 'timeout' }
    try {
      // An option that was not offered allows nothing.
      const options = optionsOf(question)
      const { outcome } = await client().request(
        'session/request_permission',
        { sessionId, toolCall: describe()(question), options },
        { cancellationSignal: signal, stopWaitingOnCancel: true },
      )
      if (outcome.outcome === 'cancelled') return { answer: signal.aborted ? 'timeout' : 'no' }
      return options.some(({ optionId }) => optionId === outcome.optionId) ? answerOf(outcome.optionId) : { answer: 'no' }
    } catch {
      return signal.aborted ? { answer: 'timeout' } : { answer: 'no', reason: 'the editor could not ask' }
    }
  }
}

function optionsOf({ session, always }: ApprovalQuestion): PermissionOption[] {
  return [
    { optionId: 'once', name: 'Allow once', kind: 'allow_once' },
    ...(session
      ? [{ optionId: 'session', name: `Allow for this session: ${oneLine(visible(session.covers), 200)}`, kind: 'allow_always' as const }]
      : []),
    ...(always?.offers ?? []).map((rules, at) => ({
      optionId: `always-${at}`,
      name: `Always allow, written to ${always?.file}: ${oneLine(rules.map((rule) => safeJson(rule)).join(', '), 300)}`,
      kind: 'allow_always' as const,
    })),
    { optionId: 'no', name: 'Reject', kind: 'reject_once' },
  ]
}

function answerOf(id: string): ApprovalAnswer {
  if (id === 'once' || id === 'session') return { answer: id }
  const [, offer] = ALWAYS.exec(id) ?? []
  return offer === undefined ? { answer: 'no' } : { answer: 'always', offer: Number(offer) }
}
