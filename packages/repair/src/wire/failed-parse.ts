/** Errors of a server that could not read the call its model wrote: the model's own text is in the message, for a better reader. */
import { isRecord } from '../schema/validate.ts'

/** llama.cpp: what it could not read stands to the end of the message. */
const LLAMA = /Failed to parse input at pos \d+: ?([\s\S]*)$/
/** Ollama: in single quotes, unescaped, up to the error of its JSON parser. */
const OLLAMA = /error parsing tool call: raw='([\s\S]*)', err=/

/** A tag, `[TOOL_CALLS]`, or a name in the manner of Kimi and gpt-oss. */
const MARKUP = /<[|/\w\uff5c]|\[[A-Z_]+\]|functions\./
/** An object that names what it calls. Arguments alone may have a `name` among them: without the name of the tool they are no use. */
const NAMED = /^\s*\[?\s*\{\s*"(?:name|function|tool|type)"\s*:/
const HAS_ARGUMENTS = /"(?:arguments|parameters)"\s*:/

/** The model's text from the body of an error, or undefined: it is another error, or the text would tell nobody what was called. */
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

function messageOf(body: unknown): string | undefined {
  const error = isRecord(body) ? body['error'] : undefined
  const message = isRecord(error) ? error['message'] : error
  return typeof message === 'string' ? message : undefined
}

type Fields = Readonly<Record<string, unknown>>

const HEAD: Fields = { id: 'mulligan-wire', model: 'mulligan-wire' }

/** The text as a whole reply. */
export const asReply = (raw: string): Fields => ({
  ...HEAD,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: raw }, finish_reason: 'stop' }],
})

/** The text as chunks of a stream, in the name of the reply that they belong to. */
export function asChunks(raw: string, head: Fields = {}): readonly Fields[] {
  const chunk = (delta: Fields, reason: string | null): Fields => ({
    ...HEAD,
    object: 'chat.completion.chunk',
    ...head,
    choices: [{ index: 0, delta, finish_reason: reason }],
  })
  return [chunk({ role: 'assistant', content: raw }, null), chunk({}, 'stop')]
}
