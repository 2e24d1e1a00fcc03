/**
 * Handles errors of servers that could not read the call their model wrote. The message contains the model's own text, which a better
 * reader may understand.
 */
import { isRecord } from '../schema/validate.ts'
import { type Fields, type Rules, tell, wire } from './rules.ts'

/** llama.cpp: the unreadable text runs to the end of the message. */
const LLAMA = /Failed to parse input at pos \d+: ?([\s\S]*)$/
/** Ollama: in single quotes, unescaped, up to the error of its JSON parser. */
const OLLAMA = /error parsing tool call: raw='([\s\S]*)', err=/

/** A tag, `[TOOL_CALLS]`, or a name in the style of Kimi and gpt-oss. */
const MARKUP = /<[|/\w\uff5c]|\[[A-Z_]+\]|functions\./
/** An object that names the tool. Arguments alone may contain a `name`, but are useless without the tool's name. */
const NAMED = /^\s*\[?\s*\{\s*"(?:name|function|tool|type)"\s*:/
const HAS_ARGUMENTS = /"(?:arguments|parameters)"\s*:/

/** Returns the model's text from the body of an error. Returns undefined for other errors, or if the text does not show what was called. */
export function rawOutput(body: unknown): string | undefined {
  const message = messageOf(body)
  if (message === undefined) return undefined
  const raw = LLAMA.exec(message)?.[1]
  if (raw !== undefined) return raw.trim() === '' ? undefined : raw
  const call = OLLAMA.exec(message)?.[1]
  if (call === undefined) return undefined
  const isCall = /^\s*[[{]\s*["{]/.test(call) ? NAMED.test(call) && HAS_ARGUMENTS.test(call) : MARKUP.test(call)
  return isCall ? call : undefined
}

/** Like `rawOutput`, and reports the text as a repair. */
export function handedOn(body: unknown, rules: Pick<Rules, 'onRepair'>): string | undefined {
  const raw = rawOutput(body)
  if (raw !== undefined) tell(rules, wire(body, raw, 'the server could not read the call: the text of the model is handed on'))
  return raw
}

function messageOf(body: unknown): string | undefined {
  const error = isRecord(body) ? body['error'] : undefined
  const message = isRecord(error) ? error['message'] : error
  return typeof message === 'string' ? message : undefined
}

const HEAD: Fields = { id: 'mulligan-wire', model: 'mulligan-wire' }

/** Returns the text as a complete reply. */
export const asReply = (raw: string): Fields => ({
  ...HEAD,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: raw }, finish_reason: 'stop' }],
})

/** Returns the text as chunks of a stream, as part of the reply with the given `head`. */
export function asChunks(raw: string, head: Fields = {}): readonly Fields[] {
  const chunk = (delta: Fields, reason: string | null): Fields => ({
    ...HEAD,
    object: 'chat.completion.chunk',
    ...head,
    choices: [{ index: 0, delta, finish_reason: reason }],
  })
  return [chunk({ role: 'assistant', content: raw }, null), chunk({}, 'stop')]
}
