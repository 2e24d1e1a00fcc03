/** The calls of a reply as they are sent back: with an id, a name and an input that every provider accepts, and their result. */
import { isRecord, type ReplyCall, randomId } from '@mulligan/repair'
import type { Json, SentCall } from '../api/api.ts'
import type { CallRecord } from '../call/prepared-call.ts'
import { callText, renderParts } from '../render.ts'
import type { ContentPart } from '../result.ts'
import { TOOL_NAME } from '../tool.ts'

/** The key under which the model is shown its own arguments if they were not an object. */
export const INVALID_JSON = 'INVALID_JSON'
const MAX_SHOWN = 2000

export interface AnsweredCall {
  readonly call: ReplyCall
  readonly record: CallRecord
  readonly raw?: Json
}

export interface Sending {
  /** The reply is signed: its calls are sent back as they came, and the result says how they were read. */
  readonly signed: boolean
  /** The ids that were used before in the turn. New ones are added. */
  readonly used: Set<string>
  readonly ids: RegExp | undefined
}

export function sentCall({ call, record, raw }: AnsweredCall, { signed, used, ids }: Sending): SentCall {
  const { tool, input, repairs, result } = record
  const wanted = call.id
  const isFree = wanted.trim() !== '' && !used.has(wanted) && (ids?.test(wanted) ?? true)
  const id = isFree ? wanted : randomId()
  used.add(id)
  const sent = call.unread === undefined ? sendableInput(signed ? call.input : input) : {}
  const isSame = (signed || repairs.length === 0) && isRecord(parsed(call.input))
  const dropped = repairs.filter(({ kind }) => kind === 'dropped').map(({ why }) => `${why}.`)
  const read = signed && repairs.length > dropped.length ? [`Your call was read as ${callText({ tool, input: input as Json })}.`] : []
  const notes = [...read, ...dropped].map((note): ContentPart => ({ type: 'text', text: `Note: ${note}` }))
  return {
    type: 'call',
    id,
    name: sendableName(signed ? (call.name ?? '') : tool),
    input: sent,
    // A server that has cached the reply recognises only the same text.
    text: isSame ? call.input : JSON.stringify(sent),
    ...(raw && { raw }),
    result: [...renderParts(result), ...notes],
    isError: !result.ok,
  }
}

/** Returns the name, changed to one that every provider accepts. */
export const sendableName = (name: string): string => (TOOL_NAME.test(name) ? name : name.replace(/[^\w-]/g, '_').slice(0, 64) || 'unknown')

/** Returns the input as an object, since providers accept nothing else. Unreadable text is shown under {@link INVALID_JSON}. */
export function sendableInput(input: unknown): Json {
  const value = typeof input === 'string' ? parsed(input) : input
  if (isRecord(value)) return value
  const text = typeof input === 'string' ? input : (JSON.stringify(input) ?? '')
  // Markup in the history would be imitated.
  return text.trim() === '' || /^\s*(?:<|\[[A-Z_]+\])/.test(text) ? {} : { [INVALID_JSON]: text.slice(0, MAX_SHOWN) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
