/** The protocols that a scripted model speaks. */
import { anthropic } from './anthropic.ts'
import { asArray, asObject } from './json.ts'
import { ollama } from './ollama.ts'
import { openai } from './openai.ts'
import type { Wire } from './protocol.ts'
import type { Protocol, RecordedRequest, SeenToolResult } from './request.ts'
import { responses } from './responses.ts'

export const PROTOCOLS: Readonly<Record<Protocol, Wire>> = { openai, responses, anthropic, ollama }

/**
 * The newest tool results in a request: the answers to the last calls in its history.
 *
 * @example
 * // makes the call that the last result suggests
 * { calls: (request) => [JSON.parse(lastToolResults(request)[0].text).details.call] }
 */
export const lastToolResults = ({ protocol, body }: Pick<RecordedRequest, 'protocol' | 'body'>): SeenToolResult[] => {
  const { messages, input } = asObject(body)
  return PROTOCOLS[protocol].results(asArray(messages ?? input).map(asObject))
}
