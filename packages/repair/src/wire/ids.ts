/** Ids of calls: one id, one call, in the reply and in the conversation. */
import { isRecord } from '../schema/validate.ts'

export interface Ids {
  /** Ids of earlier turns: a result for one of them would go to the wrong call. */
  readonly earlier: ReadonlySet<string>
  readonly newId: () => string
}

/** Kimi numbers its calls, and reads the number: such an id is never replaced because an earlier turn has it too. */
const NUMBERED = /^functions\.(.+):(\d+)$/

/** The id that a new call goes by: its own unless that is missing or taken. */
export function idFor(wanted: string | undefined, taken: readonly string[], ids: Ids): string {
  const numbered = wanted === undefined ? null : NUMBERED.exec(wanted)
  if (wanted !== undefined && !taken.includes(wanted) && (numbered || !ids.earlier.has(wanted))) return wanted
  if (numbered) return `functions.${numbered[1]}:${nextNumber([...taken, ...ids.earlier])}`
  let id = ids.newId()
  while (taken.includes(id) || ids.earlier.has(id)) id = ids.newId()
  return id
}

const nextNumber = (known: readonly string[]): number =>
  known.reduce((next, id) => Math.max(next, Number(NUMBERED.exec(id)?.[2] ?? -1) + 1), 0)

/** Ids of the calls in the messages of a request. */
export function earlierIds(request: unknown): ReadonlySet<string> {
  const messages = isRecord(request) && Array.isArray(request['messages']) ? request['messages'] : []
  const calls = messages.flatMap((message) => (isRecord(message) && Array.isArray(message['tool_calls']) ? message['tool_calls'] : []))
  return new Set(calls.flatMap((call) => (isRecord(call) && typeof call['id'] === 'string' ? [call['id']] : [])))
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'

/** Nine letters and digits: the templates of Mistral take no other id, and everyone else takes this one. */
export const randomId = (): string => Array.from(crypto.getRandomValues(new Uint8Array(9)), (byte) => LETTERS[byte % 62]).join('')
