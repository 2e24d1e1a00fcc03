/** From what came on the wire as arguments to one object, or to what is wrong with the text. */
import { isTooDeep } from '../canonical.ts'
import type { Repair, RepairLevel } from '../repair.ts'
import { isRecord } from '../schema/validate.ts'
import { attempt, readJson } from './json.ts'
import { distinct, objectsIn } from './several.ts'

/** Arguments that could not be read, for the model: what it sent, where it went wrong, what to send instead. */
export interface Malformed {
  readonly error: string
  readonly details: {
    /** Path of the parameter at fault; absent if the text as a whole is. */
    readonly parameter?: string
    /** The value it got; for a text that can't be read the model's own words around the fault, shortened. */
    readonly value?: unknown
    readonly suggestion?: unknown
    readonly candidates?: readonly unknown[]
    readonly constraint: string
    /** In characters. */
    readonly position?: number
    /** The text ends in the middle. */
    readonly cutOff?: true
  }
}

export type Parsed =
  | {
      readonly ok: true
      readonly input: Record<string, unknown>
      readonly repairs: readonly Repair[]
      /** The text was not valid JSON and had to be repaired. To be told instead, should what came of it not fit the tool's schema. */
      readonly unlessFits?: Malformed
    }
  | { readonly ok: false; readonly fault: Malformed }

export interface ParseInputOptions {
  /** The response was cut off in this call: it is refused even where what came happens to parse. Default false. */
  readonly cutOff?: boolean
  /** Default `full`. */
  readonly level?: RepairLevel
}

/** How much of its own text the model is shown around the fault, in characters. */
const BEFORE = 80
const AFTER = 40

type Refused = Extract<Parsed, { ok: false }>

/** @param raw an object, the raw text of the arguments, or nothing */
export function parseInput(raw: unknown, { cutOff = false, level = 'full' }: ParseInputOptions = {}): Parsed {
  const isText = typeof raw === 'string'
  if (!isText && isTooDeep(raw)) return tooDeep()
  if (cutOff) return truncated(isText ? raw : (JSON.stringify(raw) ?? ''))
  if (raw === undefined || raw === null || isBlank(raw)) return { ok: true, input: {}, repairs: [] }
  if (!isText) return asObject(raw, [])
  let value: unknown
  try {
    value = JSON.parse(raw)
  } catch (error) {
    const said = faultOf(raw, (error as Error).message)
    return level === 'off' ? said : repaired(raw, said, level)
  }
  if (typeof value !== 'string' || level === 'off') return asObject(value, [])
  const parsed = parseInput(value, { level })
  if (!parsed.ok) return /^\s*\{/.test(value) ? parsed : malformed(raw, 'the arguments are a text, not an object')
  if (isBlank(value)) return parsed
  return { ...parsed, repairs: [{ kind: 'json', from: raw, to: parsed.input, why: 'the object was encoded twice' }, ...parsed.repairs] }
}

const isBlank = (raw: unknown): boolean => typeof raw === 'string' && raw.trim() === ''

/** A text that was cut off, or is not valid JSON: in the words of the runtime, and where the fault is, which not every runtime says. */
function faultOf(raw: string, message: string): Refused {
  const read = attempt(raw, true)
  if (read.ok || read.cutOff || /^\s*"(?:[^"\\]|\\.)*$/s.test(raw)) return truncated(raw)
  return malformed(raw, message.replace(/,? *(\.\.\.)?".*| in JSON.*| \(line.*/s, ''), read.position)
}

/** What is not valid JSON: several objects, or one that can be read anyway. A text that was cut off is never completed. */
function repaired(raw: string, said: Refused, level: RepairLevel): Parsed {
  const objects = objectsIn(raw)
  if (objects) {
    const [one, ...others] = distinct(objects)
    if (one && others.length === 0 && !isTooDeep(one)) {
      const why = 'the same object twice, or an empty one beside it'
      return { ok: true, input: one, repairs: [{ kind: 'split', from: raw, to: one, why }] }
    }
    return refused(`The arguments hold ${objects.length} JSON objects, and a call takes one. Nothing was done.`, {
      value: shorten(raw, 0),
      constraint: 'one JSON object; make a call of its own for each',
    })
  }
  const read = readJson(raw)
  if (!read.ok) return read.cutOff ? truncated(raw) : said
  const guess = read.fixes.find((fix) => fix.changesText)
  if (guess && level !== 'full') return malformed(raw, guess.what, guess.position)
  const parsed = asObject(read.value, [
    { kind: 'json', from: raw, to: read.value, why: [...new Set(read.fixes.map((fix) => fix.what))].join(', ') },
  ])
  return parsed.ok ? { ...parsed, unlessFits: said.fault } : parsed
}

function asObject(value: unknown, repairs: readonly Repair[]): Parsed {
  if (isTooDeep(value)) return tooDeep()
  if (isRecord(value)) return { ok: true, input: value, repairs }
  const kind = Array.isArray(value) ? 'a list' : value === null ? 'null' : `a ${typeof value}`
  return malformed(JSON.stringify(value) ?? String(value), `the arguments are ${kind}, not an object`)
}

const refused = (error: string, details: Malformed['details']): Refused => ({ ok: false, fault: { error, details } })

function malformed(raw: string, why: string, position?: number): Refused {
  const value = shorten(raw, position ?? 0)
  const at = position === undefined ? '' : ` at character ${position}`
  return refused(`The arguments are not valid JSON${at}: ${why}. You sent: ${value}`, {
    value,
    constraint: 'one JSON object with the parameters of the tool',
    ...(position !== undefined && { position }),
  })
}

/** A call in markup that nobody could read, or read with the certainty that its tool asks for. */
export function unreadable(raw: string, why: string): Malformed {
  const value = shorten(raw, 0)
  return {
    error: `The call could not be read: ${why}. Nothing was done. You sent: ${value}`,
    details: { value, constraint: 'a call of the tool, made as the server offers it, with one JSON object' },
  }
}

const tooDeep = (): Refused =>
  refused('The arguments are nested too deep to be read. Nothing was done.', { constraint: 'one JSON object, at most 200 levels deep' })

function truncated(raw: string): Refused {
  const position = raw.length
  const value = shorten(raw, position)
  return refused(`The call was cut off (truncated) after ${position} characters and was not run. It ended: ${value}`, {
    value,
    constraint: 'a complete JSON object; do the work in several smaller calls, e.g. write a long file in parts',
    position,
    cutOff: true,
  })
}

/** The model's own text around a position, with the place marked. */
function shorten(raw: string, position: number): string {
  const from = Math.max(0, position - BEFORE)
  const to = Math.min(raw.length, position + AFTER)
  const mark = position > 0 && position < raw.length ? '⟦here⟧' : ''
  return `${from > 0 ? '…' : ''}${raw.slice(from, position)}${mark}${raw.slice(position, to)}${to < raw.length ? '…' : ''}`
}
