/** Converts the objects of a reply to stream parts. Pure. */
import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { asArray, asCount, asObject, asText, type Json } from './wire.ts'

/** The information in the last object of a reply. */
export interface Ending {
  readonly finishReason: LanguageModelV4FinishReason
  /** Tokens of the prompt; some versions omit it or count only uncached tokens. */
  readonly promptTokens: number | undefined
  readonly cachedTokens: number | undefined
  readonly outputTokens: number | undefined
}

export interface ReplyReader {
  /** Returns the stream parts for one object. */
  readonly push: (chunk: Json) => readonly LanguageModelV4StreamPart[]
  /** Returns the parts that end whatever is still open. */
  readonly close: () => readonly LanguageModelV4StreamPart[]
  /** Returns the information from the last object, once it has been read. */
  readonly ending: () => Ending | undefined
}

type Kind = 'text' | 'reasoning'

/** Creates a reader. @param newId returns an ID for a call without one */
export function createReplyReader(newId: () => string): ReplyReader {
  let open: { readonly kind: Kind; readonly id: string } | undefined
  let opened = 0
  let calls = 0
  let ending: Ending | undefined

  function close(): LanguageModelV4StreamPart[] {
    const closed = open
    open = undefined
    return closed ? [{ type: `${closed.kind}-end`, id: closed.id }] : []
  }

  function add(kind: Kind, delta: string): LanguageModelV4StreamPart[] {
    if (delta === '') return []
    if (open?.kind === kind) return [{ type: `${kind}-delta`, id: open.id, delta }]
    const ended = close()
    open = { kind, id: String(opened++) }
    return [...ended, { type: `${kind}-start`, id: open.id }, { type: `${kind}-delta`, id: open.id, delta }]
  }

  function call(given: Json): LanguageModelV4StreamPart[] {
    const { name, arguments: input } = asObject(given['function'])
    calls++
    return [
      ...close(),
      {
        type: 'tool-call',
        toolCallId: asText(given['id']) || newId(),
        toolName: asText(name),
        input: typeof input === 'string' ? input : JSON.stringify(input ?? {}),
      },
    ]
  }

  return {
    push: (chunk) => {
      const message = asObject(chunk['message'])
      const parts = [
        ...add('reasoning', asText(message['thinking'])),
        ...add('text', asText(message['content'])),
        ...asArray(message['tool_calls']).flatMap((one) => call(asObject(one))),
      ]
      if (chunk['done'] === true)
        ending = {
          finishReason: finishOf(asText(chunk['done_reason']), calls),
          promptTokens: asCount(chunk['prompt_eval_count']),
          cachedTokens: asCount(chunk['prompt_eval_cached_count']),
          outputTokens: asCount(chunk['eval_count']),
        }
      return parts
    },
    close,
    ending: () => ending,
  }
}

/**
 * Determines the finish reason. Replies with calls end with `stop`, and older versions give no reason. `load`: there was nothing to answer.
 */
function finishOf(reason: string, calls: number): LanguageModelV4FinishReason {
  const raw = reason === '' ? undefined : reason
  if (reason === 'length') return { unified: 'length', raw }
  if (reason === 'stop' || reason === '') return { unified: calls > 0 ? 'tool-calls' : 'stop', raw }
  return { unified: 'other', raw }
}
