/** Parses raw arguments into one object, or reports what is wrong with the text. */
import { canonical, isTooDeep } from '../canonical.ts'
import type { Repair, RepairLevel } from '../repair.ts'
import { isRecord } from '../schema/validate.ts'
import { closing, parseJson } from '../text.ts'
import { attempt } from './json.ts'

/** Describes unreadable arguments to the model: what it sent, where the fault is and what to send instead. */
export interface Malformed {
  readonly error: string
  readonly details: {
    /** Path of the invalid parameter; absent if the whole text is invalid. */
    readonly parameter?: string
    /** The value received. For unreadable text: the model's own text around the fault, shortened. */
    readonly value?: unknown
    readonly suggestion?: unknown
    readonly candidates?: readonly unknown[]
    readonly constraint: string
    /** Position in characters. */
    readonly position?: number
    /** The text is truncated. */
    readonly cutOff?: true
  }
}

export type Parsed =
  | {
      readonly ok: true
      readonly input: Record<string, unknown>
      readonly repairs: readonly Repair[]
      /** The text was not valid JSON and was repaired. Report this error if the result does not fit the tool's schema. */
      readonly unlessFits?: Malformed
    }
  | { readonly ok: false; readonly fault: Malformed }

export interface ParseInputOptions {
  /** The response was cut off in this call, which is refused even if the text happens to parse. Default false. */
  readonly cutOff?: boolean
  /** Default `full`. */
  readonly level?: RepairLevel
}

/** How much of its own text to show the model around the fault, in characters. */
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

/** Describes truncated or invalid JSON with the runtime's message and the position of the fault, which not every runtime reports. */
function faultOf(raw: string, message: string): Refused {
  const read = attempt(raw, true)
  if (read.ok || read.cutOff || /^\s*"(?:[^"\\]|\\.)*$/s.test(raw)) return truncated(raw)
  return malformed(raw, message.replace(/,? *(\.\.\.)?".*| in JSON.*| \(line.*/s, ''), read.position)
}

/** Reads text that is not valid JSON: several objects, or one that can be repaired. Truncated text is never completed. */
function repaired(raw: string, said: Refused, level: RepairLevel): Parsed {
  const objects = objectsIn(raw)
  const [one, ...others] = distinct(objects ?? [])
  if (one && others.length === 0 && !isTooDeep(one))
    return {
      ok: true,
      input: one,
      repairs: [{ kind: 'split', from: raw, to: one, why: 'the same object twice, or an empty one beside it' }],
    }
  if (objects) {
    const error = `The arguments hold ${objects.length} JSON objects, and a call takes one. Nothing was done.`
    return refused(error, { value: shorten(raw, 0), constraint: 'one JSON object; make a call of its own for each' })
  }
  const read = attempt(raw, false)
  if (!read.ok) return read.cutOff ? truncated(raw) : said
  const guess = read.fixes.find((fix) => fix.changesText)
  if (guess && level !== 'full') return malformed(raw, guess.what, guess.position)
  const why = [...new Set(read.fixes.map((fix) => fix.what))].join(', ')
  const parsed = asObject(read.value, [{ kind: 'json', from: raw, to: read.value, why }])
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
  const details = { value, constraint: 'one JSON object with the parameters of the tool', ...(position !== undefined && { position }) }
  return refused(`The arguments are not valid JSON${at}: ${why}. You sent: ${value}`, details)
}

/** Reports a call whose markup could not be read, or not with the certainty that its tool requires. */
export function unreadable(raw: string, why: string): Malformed {
  const value = shorten(raw, 0)
  const error = `The call could not be read: ${why}. Nothing was done. You sent: ${value}`
  return { error, details: { value, constraint: 'a call of the tool, made as the server offers it, with one JSON object' } }
}

const tooDeep = (): Refused =>
  refused('The arguments are nested too deep to be read. Nothing was done.', { constraint: 'one JSON object, at most 200 levels deep' })

function truncated(raw: string): Refused {
  const position = raw.length
  const value = shorten(raw, position)
  const constraint = 'a complete JSON object; do the work in several smaller calls, e.g. write a long file in parts'
  const error = `The call was cut off (truncated) after ${position} characters and was not run. It ended: ${value}`
  return refused(error, { value, constraint, position, cutOff: true })
}

/** Returns the model's own text around a position, with the position marked. */
function shorten(raw: string, position: number): string {
  const from = Math.max(0, position - BEFORE)
  const to = Math.min(raw.length, position + AFTER)
  const mark = position > 0 && position < raw.length ? '⟦here⟧' : ''
  return `${from > 0 ? '…' : ''}${raw.slice(from, position)}${mark}${raw.slice(position, to)}${to < raw.length ? '…' : ''}`
}

/** More objects than this are not calls. */
const MAX_OBJECTS = 50

/**
 * Returns the objects of a text that consists of two or more objects and separators (`,`, `;`, white space). Returns undefined for any
 * other text. Takes linear time: each object is cut out by its brackets and then parsed.
 */
export function objectsIn(text: string): readonly Record<string, unknown>[] | undefined {
  const objects: Record<string, unknown>[] = []
  for (let at = 0; at < text.length; ) {
    const [gap = ''] = (objects.length === 0 ? /^\s*/ : /^[\s,;]*/).exec(text.slice(at, at + 100)) ?? []
    at += gap.length
    if (at >= text.length) break
    const end = text[at] === '{' ? closing(text, at, text.length) : -1
    if (end === -1 || objects.length === MAX_OBJECTS) return undefined
    const object = parseJson(text.slice(at, end))
    if (!isRecord(object)) return undefined
    objects.push(object)
    at = end
  }
  return objects.length > 1 ? objects : undefined
}

/** Removes duplicates, and empty objects if there are others. */
export function distinct(objects: readonly Record<string, unknown>[]): readonly Record<string, unknown>[] {
  const seen = new Map(objects.map((object) => [canonical(object), object]))
  if (seen.size > 1) seen.delete('{}')
  return [...seen.values()]
}
