/**
 * Maps the events of a turn to spans, following OpenTelemetry's conventions for generative AI: `invoke_agent` for a turn, `chat` for a
 * model request, `execute_tool` for a call. Prompts, answers, inputs and results are included only if `content` is set.
 */
import type { AgentEvent, AssistantMessage } from '@mulligan/agent'

export type Attributes = Readonly<Record<string, string | number | boolean | string[]>>

/** An operation on a span. Times are in milliseconds since 1970. */
export type SpanStep =
  | {
      readonly do: 'start'
      readonly key: string
      readonly parent?: string
      readonly name: string
      /** It calls another process. */
      readonly client?: true
      readonly at: number
      readonly attributes: Attributes
    }
  | { readonly do: 'note'; readonly key: string; readonly name: string; readonly at: number; readonly attributes: Attributes }
  /** `failed`: the span is marked as an error. */
  | { readonly do: 'end'; readonly key: string; readonly at: number; readonly attributes: Attributes; readonly failed?: true }

export interface SpanOptions {
  /** Whether prompts, answers, inputs and results are included. */
  readonly content: boolean
}

/** Maximum length in characters of a content, and of a name that a model chose. */
const MAX_CONTENT = 32_000
const MAX_NAME = 100

const PROVIDERS: Readonly<Record<string, string>> = { google: 'gcp.gemini' }

/** Creates a mapper. @returns a function from one event to its steps, in order; events of several turns may be mixed */
export function createSpanMapper({ content }: SpanOptions): (event: AgentEvent) => readonly SpanStep[] {
  const models = new Map<string, Attributes & { readonly 'gen_ai.request.model': string }>()
  const inner = (attribute: string, value: () => unknown): Attributes => (content ? { [attribute]: text(value()) } : {})

  return (event) => {
    const { at, turnId, sessionId } = event
    const turn = `turn ${turnId}`
    const callOf = (callId: string): string => `call ${callId}`
    const start = (key: string, name: string, attributes: Attributes, inside: { parent?: string; client?: true } = {}): SpanStep[] => [
      { do: 'start', key, ...inside, name, at, attributes },
    ]
    const end = (key: string, attributes: Attributes, isFailed = false): SpanStep[] => [
      { do: 'end', key, at, attributes, ...(isFailed && { failed: true }) },
    ]
    const note = (key: string, name: string, attributes: Attributes = {}): SpanStep[] => [
      { do: 'note', key, name: `mulligan.${name}`, at, attributes },
    ]
    switch (event.type) {
      case 'turn.started': {
        const model = modelAttributes(event.model)
        models.set(turnId, model)
        const agent = event.agent ?? 'mulligan'
        return start(turn, `invoke_agent ${agent}`, {
          'gen_ai.operation.name': 'invoke_agent',
          'gen_ai.agent.name': agent,
          'gen_ai.conversation.id': sessionId,
          'mulligan.turn.id': turnId,
          'mulligan.resumed': event.resumed,
          ...model,
          ...inner('gen_ai.input.messages', () => [{ role: 'user', parts: [{ type: 'text', content: event.prompt }] }]),
        })
      }
      case 'message.created': {
        const model = models.get(turnId)
        const name = `chat ${model?.['gen_ai.request.model'] ?? ''}`.trim()
        const attributes = {
          'gen_ai.operation.name': 'chat',
          'gen_ai.conversation.id': sessionId,
          'gen_ai.request.stream': true,
          'mulligan.step': event.step,
          'mulligan.attempt': event.attempt,
          ...(event.concluding !== undefined && { 'mulligan.concluding': event.concluding }),
          ...model,
        }
        return start(event.messageId, name, attributes, { parent: turn, client: true })
      }
      case 'message.discarded':
        return end(event.messageId, { 'error.type': 'discarded', ...inner('mulligan.why', () => event.why) }, true)
      case 'message.completed': {
        const { usage, finishReason } = event.message
        return end(event.messageId, {
          'gen_ai.usage.input_tokens': usage.inputTokens,
          'gen_ai.usage.output_tokens': usage.outputTokens,
          'gen_ai.response.finish_reasons': [finishReason],
          ...inner('gen_ai.output.messages', () => [outputMessage(event.message)]),
        })
      }
      case 'turn.steered':
        return note(
          turn,
          'steered',
          inner('gen_ai.input.messages', () => [{ role: 'user', parts: [{ type: 'text', content: event.text }] }]),
        )
      case 'error': {
        const waits = event.retryInMs !== undefined && { 'mulligan.retry_in_ms': event.retryInMs }
        return note(turn, 'request.failed', { ...waits, ...inner('mulligan.why', () => event.message) })
      }
      case 'tool.call': {
        const attributes = {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': short(event.tool),
          'gen_ai.tool.call.id': event.callId,
          'gen_ai.tool.type': 'function',
          'mulligan.step': event.step,
          'mulligan.effect': event.effect,
          ...(event.requestedTool !== undefined && { 'mulligan.requested_tool': short(event.requestedTool) }),
          ...inner('gen_ai.tool.call.arguments', () => event.input),
        }
        return start(callOf(event.callId), `execute_tool ${short(event.tool)}`, attributes, { parent: turn })
      }
      case 'tool.repaired': {
        const { kind, parameter } = event.repair
        return note(callOf(event.callId), 'repaired', {
          'mulligan.repair.kind': kind,
          ...(parameter !== undefined && { 'mulligan.parameter': short(parameter) }),
          ...inner('mulligan.why', () => event.repair.why),
        })
      }
      case 'tool.approval.required':
        return note(callOf(event.callId), 'approval.required', { 'mulligan.forced': event.forced })
      case 'tool.approval.resolved':
        return note(callOf(event.callId), 'approval.resolved', { 'mulligan.answer': event.decision.answer })
      case 'tool.started':
        return note(callOf(event.callId), 'started')
      case 'tool.retry':
        return note(callOf(event.callId), 'retry', {
          'error.type': event.errorType,
          'mulligan.tries_left': event.triesLeft,
          ...(event.parameter !== undefined && { 'mulligan.parameter': short(event.parameter) }),
        })
      case 'tool.closed':
        return note(callOf(event.callId), 'closed', { 'mulligan.until': event.until })
      case 'guard.warning':
        return note(callOf(event.callId), 'guard.warning', { 'mulligan.repeats': event.repeats, 'mulligan.blocked': event.blocked })
      case 'tool.result': {
        const { result } = event
        const attributes = {
          'mulligan.status': result.ok ? 'ok' : result.status,
          'mulligan.attempts': event.attempts,
          ...(result.ok ? result.count !== undefined && { 'mulligan.count': result.count } : { 'error.type': result.errorType }),
          ...inner('gen_ai.tool.call.result', () => (result.ok ? (result.content ?? result.data) : result.error)),
        }
        // Its span ended with the result that gave up on it.
        if (event.late) return note(turn, 'late_result', { 'gen_ai.tool.call.id': event.callId, ...attributes })
        return end(callOf(event.callId), attributes, !result.ok)
      }
      case 'turn.ended': {
        models.delete(turnId)
        const { status, stoppedBy, usage, requests, answer } = event.outcome
        const isFailed = status === 'failed'
        const attributes = {
          'mulligan.status': status,
          'mulligan.requests': requests,
          'gen_ai.usage.input_tokens': usage.inputTokens,
          'gen_ai.usage.output_tokens': usage.outputTokens,
          ...(stoppedBy !== undefined && { 'mulligan.stopped_by': stoppedBy }),
          ...(isFailed && { 'error.type': stoppedBy ?? status }),
          ...inner('gen_ai.output.messages', () => [{ role: 'assistant', parts: [{ type: 'text', content: answer }] }]),
        }
        return end(turn, attributes, isFailed)
      }
      default:
        return []
    }
  }
}

function modelAttributes(id: string): { 'gen_ai.provider.name': string; 'gen_ai.request.model': string } {
  const at = id.indexOf('/')
  const provider = at === -1 ? 'unknown' : id.slice(0, at)
  return { 'gen_ai.provider.name': PROVIDERS[provider] ?? provider, 'gen_ai.request.model': id.slice(at + 1) }
}

const outputMessage = ({ parts, finishReason }: AssistantMessage) => ({
  role: 'assistant',
  finish_reason: finishReason,
  parts: parts.map((part) =>
    part.type === 'call'
      ? { type: 'tool_call', id: part.callId, name: part.name, arguments: part.input }
      : { type: part.type, content: part.text },
  ),
})

const short = (name: string): string => (name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name)

function text(value: unknown): string {
  const whole = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return whole.length > MAX_CONTENT ? `${whole.slice(0, MAX_CONTENT)}…` : whole
}
