/** Rules and reports shared by all parts of the wire repair. */
import type { Repair } from '../repair.ts'
import { isRecord } from '../schema/validate.ts'

export type Fields = Readonly<Record<string, unknown>>

/** How to handle the last call of a reply that was cut off by its length. */
export type CutOff = 'keep' | 'refuse'

export interface Rules extends Ids {
  readonly cutOff: CutOff
  readonly onRepair?: ((repair: Repair) => void) | undefined
}

/** Reports a repair. An error in the listener must not break the stream. */
export function tell({ onRepair }: Pick<Rules, 'onRepair'>, repair: Repair): void {
  try {
    onRepair?.(repair)
  } catch {
    // Logging failed; ignore.
  }
}

export const wire = (from: unknown, to: unknown, why: string): Repair => ({ kind: 'wire', from, to, why })

/** Appended to the arguments of a call that was cut off by the length limit. Nobody can know whether it is complete, so it must not run. */
export const CUT = ' [cut off]'

/**
 * Returns the correct finish reason, judging by whether there are calls; undefined if it is already correct. `isCut`: the last call
 * may be cut off.
 */
export function repairFinish(given: unknown, hasCalls: boolean, rules: Rules) {
  const finish = (reason: string, why: string, isCut = false) => {
    tell(rules, wire(given, reason, why))
    return { reason, isCut }
  }
  if (hasCalls && (given === 'stop' || given === 'function_call')) return finish('tool_calls', 'the reply has calls')
  if (!hasCalls && (given === 'tool_calls' || given === 'function_call')) return finish('stop', 'the reply has no calls')
  if (hasCalls && given === 'length' && rules.cutOff === 'refuse')
    return finish('tool_calls', 'the reply was cut off in a call: it is handed on, unreadable, for the model to hear of', true)
  return undefined
}

/** Returns the calls of a message or a delta, including the legacy `function_call`. */
export function callsOf(message: Fields): { readonly given: readonly unknown[]; readonly isLegacy: boolean; readonly rest: Fields } {
  const { function_call: legacy, ...rest } = message
  const given: readonly unknown[] = Array.isArray(message['tool_calls']) ? message['tool_calls'] : []
  const isLegacy = given.length === 0 && isRecord(legacy)
  return isLegacy ? { given: [{ function: legacy }], isLegacy, rest } : { given, isLegacy, rest: message }
}

export const LEGACY = wire('function_call', 'tool_calls', 'a call of the old kind, function_call')

export interface Ids {
  /** Ids used in earlier turns: a result for one of them would go to the wrong call. */
  readonly earlier: Pick<ReadonlySet<string>, 'has'> & Iterable<string>
  readonly newId: () => string
}

/** Kimi numbers its calls and reads the number, so such an id is never replaced for being used in an earlier turn. */
const NUMBERED = /^functions\.(.+):(\d+)$/

/** Returns the id of a new call: its own, unless it is missing or taken. */
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

/** Returns the ids of the calls in a request's messages. */
export function earlierIds(request: unknown): ReadonlySet<string> {
  const messages = isRecord(request) && Array.isArray(request['messages']) ? request['messages'] : []
  const calls = messages.flatMap((message) => (isRecord(message) && Array.isArray(message['tool_calls']) ? message['tool_calls'] : []))
  return new Set(calls.flatMap((call) => (isRecord(call) && typeof call['id'] === 'string' ? [call['id']] : [])))
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'

/** Returns nine letters and digits: Mistral's templates accept no other id, and all others accept this one. */
export const randomId = (): string => Array.from(crypto.getRandomValues(new Uint8Array(9)), (byte) => LETTERS[byte % 62]).join('')
