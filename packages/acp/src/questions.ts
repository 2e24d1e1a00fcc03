/** Asks the person the model's own questions: in a form, otherwise as a choice between the given answers. */
import { randomUUID } from 'node:crypto'
import type { RequestPermissionRequest } from '@agentclientprotocol/sdk'
import { visible } from '@mulligan/host/light'
import type { Ask, Question } from '@mulligan/tools'
import type { Person } from './permissions.ts'

type Answer = Awaited<ReturnType<Ask>>

export function questions({ client, sessionId, capabilities }: Person): Ask {
  return async (question, signal) => {
    const { options = [] } = question
    if (!capabilities().elicitation?.form && options.length === 0) return { declined: 'nobody' }
    try {
      return capabilities().elicitation?.form ? await inForm(question, signal) : await asChoice(question, signal)
    } catch {
      return { declined: signal.aborted ? 'timeout' : 'nobody' }
    }
  }

  async function inForm({ question, options = [] }: Question, signal: AbortSignal): Promise<Answer> {
    const given = await client().request(
      'elicitation/create',
      {
        ...{ sessionId, mode: 'form', message: visible(question) },
        requestedSchema: {
          type: 'object',
          properties: {
            answer: {
              ...{ type: 'string', title: 'Answer' },
              ...(options.length > 0 && { description: `Suggested: ${options.map(visible).join(' · ')}` }),
            },
          },
          required: ['answer'],
        },
      },
      { cancellationSignal: signal, stopWaitingOnCancel: true },
    )
    const content = given.action === 'accept' ? (given as { readonly content?: { readonly answer?: unknown } | null }).content : undefined
    return typeof content?.answer === 'string' ? { answer: content.answer } : { declined: 'closed' }
  }

  async function asChoice({ question, options = [] }: Question, signal: AbortSignal): Promise<Answer> {
    const offered = options.map((name, at) => ({ optionId: String(at), name: visible(name), kind: 'allow_once' as const }))
    const request: RequestPermissionRequest = {
      sessionId,
      toolCall: { toolCallId: `question-${randomUUID()}`, title: visible(question), kind: 'think', status: 'pending' },
      options: [...offered, { optionId: 'none', name: 'No answer', kind: 'reject_once' }],
    }
    const asked = { cancellationSignal: signal, stopWaitingOnCancel: true }
    const { outcome } = await client().request('session/request_permission', request, asked)
    const chosen = outcome.outcome === 'selected' ? options[Number(outcome.optionId)] : undefined
    return chosen === undefined ? { declined: 'closed' } : { answer: chosen }
  }
}
