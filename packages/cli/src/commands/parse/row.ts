/** One reply or one call of a model, read as the engine reads it. */
import {
  announcements,
  type Effect,
  isRecord,
  type ParsedReply,
  parseToolCalls,
  type RefusedCall,
  type Repair,
  readCall,
} from '@mulligan/repair'
import { ASSUMED_EFFECT, assumedIn, toolsOf } from './tools-of.ts'

/** What became of a row. `refused`: the first call that would not be run, and what the model is told. */
export interface ParsedRow {
  readonly id: unknown
  readonly calls: readonly { readonly name: string; readonly arguments: Record<string, unknown> }[]
  readonly text: string
  /** Each repair, with the place of its call in `calls`. */
  readonly notes: readonly (Repair & { readonly call: number })[]
  readonly refused?: Pick<RefusedCall, 'errorType' | 'error' | 'details'>
  /** Markup that was not read as a call, and why. */
  readonly quoted?: ParsedReply['quoted']
  /** The policy that was taken for tools that say nothing of their effect. */
  readonly assumed?: Assumed
}

export interface Assumed {
  readonly effect: Effect
  readonly tools: readonly string[]
}

/** Undefined where every tool says what it does. */
export function assumedOf(tools: unknown, effect: Effect = ASSUMED_EFFECT): Assumed | undefined {
  const names = assumedIn(tools)
  return names.length === 0 ? undefined : { effect, tools: names }
}

/**
 * @param line JSON: `{ id, raw, tools, families?, finishReason?, opensInReasoning? }` or `{ id, call: { name, arguments }, tools, finishReason? }`
 * @throws TypeError for a line that is neither
 */
export function parseRow(line: string): ParsedRow {
  const row: unknown = parseLine(line)
  if (!isRecord(row)) throw new TypeError('a row is an object')
  const { id, raw, call, finishReason } = row
  const tools = toolsOf(row['tools'] ?? [])
  const assumed = assumedOf(row['tools'])
  const families = Array.isArray(row['families']) ? row['families'].map(String) : undefined
  const options = {
    families,
    announcements,
    ...(typeof finishReason === 'string' && { finishReason }),
    opensInReasoning: row['opensInReasoning'] === true,
  }
  if (typeof raw === 'string') return toRow(id, parseToolCalls(raw, tools, options), assumed)
  if (!isRecord(call)) throw new TypeError('a row has "raw", a text, or "call", an object with "name" and "arguments"')
  const name = typeof call['name'] === 'string' ? call['name'] : null
  return toRow(id, readCall({ name, arguments: call['arguments'] }, tools, options), assumed)
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch (error) {
    throw new TypeError(`no JSON: ${(error as Error).message}`)
  }
}

/** What is in the place of a line that is not a row. */
export function noRow(line: string, error: string): Omit<ParsedRow, 'refused'> & { readonly refused: object } {
  let id: unknown = null
  try {
    id = (JSON.parse(line) as { readonly id?: unknown }).id ?? null
  } catch {
    // There is none to be had.
  }
  return { id, calls: [], text: '', notes: [], refused: { errorType: 'config', error, details: {} } }
}

export function toRow(id: unknown, { calls, text, refused, quoted }: ParsedReply, assumed?: Assumed): ParsedRow {
  const [first] = refused
  return {
    id,
    calls: calls.map(({ name, arguments: input }) => ({ name, arguments: input })),
    text,
    notes: calls.flatMap(({ repairs }, call) => repairs.map((repair) => ({ call, ...repair }))),
    ...(first && { refused: { errorType: first.errorType, error: first.error, details: first.details } }),
    ...(quoted.length > 0 && { quoted }),
    ...(assumed && { assumed }),
  }
}
