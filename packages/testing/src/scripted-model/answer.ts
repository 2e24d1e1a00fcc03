/** The decision about one request: refuse it as the provider would, or answer with the next turn. */
import { errorReply, makeReply, type Reply, type ReplyContext } from './reply.ts'
import type { RecordedRequest } from './request.ts'
import type { ScriptState } from './script.ts'
import type { ScriptedTurn } from './turn.ts'
import { type AnthropicRules, validateAnthropic, validateAnthropicHeaders } from './validate-anthropic.ts'
import { validateOpenAI } from './validate-openai.ts'

/** The reply to a request. What must not happen is noted in `script`; nothing is thrown. */
export function answer(request: RecordedRequest, script: ScriptState, rules: AnthropicRules, context: ReplyContext): Reply {
  const { protocol, body, headers, n } = request
  const problem =
    protocol === 'openai' ? validateOpenAI(body, rules) : (validateAnthropicHeaders(headers) ?? validateAnthropic(body, rules))
  if (problem) {
    script.violate(n, `refused with ${problem.status}: ${problem.message}`)
    return errorReply(protocol, problem.status, problem.message)
  }
  try {
    const turn = nextTurn(request, script)
    turn.expect?.(request)
    return makeReply(turn, request, context)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    script.violate(n, message)
    return errorReply(protocol, 500, `scripted model, request ${n}: ${message}`)
  }
}

function nextTurn(request: RecordedRequest, script: ScriptState): ScriptedTurn {
  const turn = script.take(request)
  if (!turn) throw new Error('the script is at its end, yet another request came')
  return turn
}
