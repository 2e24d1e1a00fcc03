/** The decision about one request: refuse it as the provider would, or answer with the next turn. */
import { asObject } from './json.ts'
import { effectiveContext, fit, type OllamaState } from './ollama.ts'
import { errorReply, makeReply, type Reply, type ReplyContext } from './reply.ts'
import type { RecordedRequest } from './request.ts'
import type { ScriptState } from './script.ts'
import type { ScriptedTurn } from './turn.ts'
import { type AnthropicRules, validateAnthropic, validateAnthropicHeaders } from './validate-anthropic.ts'
import { validateOllama } from './validate-ollama.ts'
import { validateOpenAI } from './validate-openai.ts'

/** The reply to a request. What must not happen is noted in `script`; nothing is thrown. */
export function answer(
  request: RecordedRequest,
  script: ScriptState,
  rules: AnthropicRules,
  context: ReplyContext,
  ollama: OllamaState,
): Reply {
  const { protocol, n } = request
  const problem = problemOf(request, rules, ollama)
  if (problem) {
    script.violate(n, `refused with ${problem.status}: ${problem.message}`)
    return errorReply(protocol, problem.status, problem.message)
  }
  const fitting = protocol === 'ollama' ? fitOf(request, ollama) : undefined
  // No violation: whether a prompt fits is for the server to say.
  if (fitting && 'refused' in fitting) return errorReply(protocol, 400, fitting.refused)
  if (fitting && fitting.read < fitting.sent) Object.assign(request, { cut: fitting })
  try {
    const turn = nextTurn(request, script)
    turn.expect?.(request)
    return makeReply(turn, request, { ...context, ...(fitting && { promptTokens: fitting.read }) })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    script.violate(n, message)
    return errorReply(protocol, 500, `scripted model, request ${n}: ${message}`)
  }
}

function problemOf({ protocol, body, headers }: RecordedRequest, rules: AnthropicRules, ollama: OllamaState) {
  if (protocol === 'ollama') return validateOllama(body, ollama.find)
  if (protocol === 'openai') return validateOpenAI(body, rules)
  return validateAnthropicHeaders(headers) ?? validateAnthropic(body, rules)
}

function fitOf(request: RecordedRequest, state: OllamaState) {
  const body = asObject(request.body)
  return fit(body, effectiveContext(body, state), state.version)
}

function nextTurn(request: RecordedRequest, script: ScriptState): ScriptedTurn {
  const turn = script.take(request)
  if (!turn) throw new Error('the script is at its end, yet another request came')
  return turn
}
