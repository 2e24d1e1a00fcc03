/** The calls that a provider reports, as calls of a reply. */
import { distinct, objectsIn } from './arguments/parse.ts'
import type { Repair } from './repair.ts'
import type { ParsedCall } from './resolve-call.ts'

/** A call in a reply. Its name and arguments may still need repair. */
export interface ReplyCall extends ParsedCall {
  /** Empty if the provider sends none. */
  readonly id: string
  readonly name: string | null
  /** The arguments as text. */
  readonly input: string
  readonly repairs: readonly Repair[]
  /** Index of the reported call that it is or belongs to; absent for a call found as markup. */
  readonly reported?: number
  readonly cutOff?: true
}

export const inputText = (input: unknown): string => (typeof input === 'string' ? input : (JSON.stringify(input) ?? ''))

/** Converts a reported call, unchanged. */
export const replyCallOf = ({ id = '', name = null, input }: ParsedCall): ReplyCall => ({ id, name, input: inputText(input), repairs: [] })

/** Splits a call whose arguments are several objects into one call for each. */
export function splitCall(given: ParsedCall): readonly ReplyCall[] {
  const call = replyCallOf(given)
  const objects = distinct(objectsIn(call.input) ?? [])
  if (objects.length < 2) return [call]
  return objects.map((object, at) => ({
    id: at === 0 ? call.id : '',
    name: call.name,
    input: JSON.stringify(object),
    repairs: [{ kind: 'split', from: call.input, to: object, why: `${objects.length} calls that came as one` }],
  }))
}

/** Marks the last call as cut off. */
export const lastCutOff = (calls: readonly ReplyCall[]): readonly ReplyCall[] =>
  calls.map((call, at) => (at === calls.length - 1 ? { ...call, cutOff: true } : call))
