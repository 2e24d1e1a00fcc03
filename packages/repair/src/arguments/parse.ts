/** From what came on the wire as arguments to one object, or to what is wrong with the text. */
import { isTooDeep } from '../canonical.ts'
import type { Repair, RepairLevel } from '../repair.ts'
import { readJson } from './json.ts'
import { distinct, objectsIn } from './several.ts'

/** Arguments that could not be read, for the model: what it sent, where it went wrong, what to send instead. */
export interface Malformed {
  readonly error: string
  readonly details: {
    /** Path of the parameter at fault; absent where the text as a whole is. */
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
      /** The text was no JSON and had to be mended. To be told instead, should what came of it not fit the tool's schema. */
      readonly unlessFits?: Malformed
    }
  | {
      readonly ok: false
      readonly fault: Malformed
      /** It holds several objects, each of which may be a call. */
      readonly objects?: readonly Record<string, unknown>[]
    }

export interface ParseInputOptions {
  /** The response was cut off in this call: it is refused even where what came happens to parse. Default false. */
  readonly cutOff?: boolean
  /** Default `full`. */
  readonly level?: RepairLevel
}

/** How much of its own text the model is shown around the fault, in characters. */
const BEFORE = 80
const AFTER = 40

/** @param raw an object, the raw text of the arguments, or nothing */
export function parseInput(raw: unknown, { cutOff = false, level = 'full' }: ParseInputOptions = {}): Parsed {
  if (typeof raw !== 'string' && isTooDeep(raw)) return tooDeep()
  if (cutOff) return truncated(typeof raw === 'string' ? raw : (JSON.stringify(raw) ?? ''))
  if (raw === undefined || raw === null) return { ok: true, input: {}, repairs: [] }
  if (typeof raw !== 'string') return asObject(raw, [])
  if (raw.trim() === '') return { ok: true, input: {}, repairs: [] }
  const first = json(raw)
  if (!first.ok) return level === 'off' ? asSaid(raw, first) : mended(raw, first, level)
  if (typeof first.value !== 'string' || level === 'off') return asObject(first.value, [])
  if (first.value.trim() === '') return { ok: true, input: {}, repairs: [] }
  const second = json(first.value)
  const parsed: Parsed = second.ok ? asObject(second.value, []) : mended(first.value, second, level)
  if (!parsed.ok)
    return second.ok || !/^\s*\{/.test(first.value) ? malformed(raw, 'the arguments are a text, not an object', undefined) : parsed
  return { ...parsed, repairs: [{ kind: 'json', from: raw, to: parsed.input, why: 'the object was encoded twice' }, ...parsed.repairs] }
}

type Fault = Extract<Json, { ok: false }>

const asSaid = (raw: string, { atEnd, message, position }: Fault): Parsed => (atEnd ? truncated(raw) : malformed(raw, message, position))

/** What is no JSON: several objects, or one that can be read all the same. A text that was cut off is never completed. */
function mended(raw: string, fault: Fault, level: RepairLevel): Parsed {
  const objects = objectsIn(raw)
  if (objects) {
    const [one, ...others] = distinct(objects)
    if (one && others.length === 0 && !isTooDeep(one)) {
      const why = 'the same object twice, or an empty one beside it'
      return { ok: true, input: one, repairs: [{ kind: 'split', from: raw, to: one, why }] }
    }
    const constraint = 'one JSON object; make a call of its own for each'
    const error = `The arguments hold ${objects.length} JSON objects, and a call takes one. Nothing was done.`
    return { ok: false, fault: { error, details: { value: shorten(raw, 0), constraint } }, objects }
  }
  const read = readJson(raw)
  if (!read.ok) return read.cutOff ? truncated(raw) : asSaid(raw, fault)
  const guess = read.fixes.find((fix) => fix.changesText)
  if (guess && level !== 'full') return malformed(raw, guess.what, guess.position)
  const parsed = asObject(read.value, [
    { kind: 'json', from: raw, to: read.value, why: [...new Set(read.fixes.map((fix) => fix.what))].join(', ') },
  ])
  const said = asSaid(raw, fault)
  return parsed.ok && !said.ok ? { ...parsed, unlessFits: said.fault } : parsed
}

function asObject(value: unknown, repairs: readonly Repair[]): Parsed {
  if (isTooDeep(value)) return tooDeep()
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return { ok: true, input: value as Record<string, unknown>, repairs }
  const kind = Array.isArray(value) ? 'a list' : value === null ? 'null' : `a ${typeof value}`
  return malformed(JSON.stringify(value) ?? String(value), `the arguments are ${kind}, not an object`, undefined)
}

type Json = { ok: true; value: unknown } | { ok: false; message: string; position: number | undefined; atEnd: boolean }

function json(text: string): Json {
  try {
    return { ok: true, value: JSON.parse(text) }
  } catch (error) {
    const message = (error as Error).message
    const position = positionIn(message)
    const atEnd = endsTooSoon(message, text)
    return {
      ok: false,
      message: message.replace(/,? *(\.\.\.)?".*/s, '').replace(/ in JSON.*| \(line.*/s, ''),
      position: atEnd ? text.length : (position ?? faultAt(text)),
      atEnd,
    }
  }
}

function positionIn(message: string): number | undefined {
  const found = /position (\d+)/.exec(message)
  return found ? Number(found[1]) : undefined
}

function endsTooSoon(message: string, text: string): boolean {
  const position = positionIn(message)
  return /end of (JSON )?(input|data)|unterminated string/i.test(message) || (position !== undefined && position >= text.trimEnd().length)
}

/** Where the text stops being the beginning of JSON: V8 gives a position for some faults only. */
function faultAt(text: string): number {
  let good = 0
  let bad = text.length
  while (bad - good > 1) {
    const middle = (good + bad) >> 1
    if (isBeginning(text.slice(0, middle))) good = middle
    else bad = middle
  }
  return good
}

function isBeginning(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    return endsTooSoon((error as Error).message, text)
  }
}

function malformed(raw: string, why: string, position: number | undefined): Parsed {
  const where = position === undefined ? shorten(raw, 0) : shorten(raw, position)
  const at = position === undefined ? '' : ` at character ${position}`
  return {
    ok: false,
    fault: {
      error: `The arguments are not valid JSON${at}: ${why}. You sent: ${where}`,
      details: { value: where, constraint: 'one JSON object with the parameters of the tool', ...(position !== undefined && { position }) },
    },
  }
}

/** A call in markup that nobody could read, or read with the certainty that its tool asks for. */
export const unreadable = (raw: string, why: string): Malformed => ({
  error: `The call came as text and could not be read: ${why}. Nothing was done. You sent: ${shorten(raw, 0)}`,
  details: { value: shorten(raw, 0), constraint: 'a call of the tool, made as the server offers it, with one JSON object' },
})

function tooDeep(): Parsed {
  const error = 'The arguments are nested too deep to be read. Nothing was done.'
  return { ok: false, fault: { error, details: { constraint: 'one JSON object, at most 200 levels deep' } } }
}

function truncated(raw: string): Parsed {
  return {
    ok: false,
    fault: {
      error: `The call was cut off (truncated) after ${raw.length} characters and was not run. It ended: ${shorten(raw, raw.length)}`,
      details: {
        value: shorten(raw, raw.length),
        constraint: 'a complete JSON object; do the work in several smaller calls, e.g. write a long file in parts',
        position: raw.length,
        cutOff: true,
      },
    },
  }
}

/** The model's own text around a position, with the place marked. */
function shorten(raw: string, position: number): string {
  const from = Math.max(0, position - BEFORE)
  const to = Math.min(raw.length, position + AFTER)
  const mark = position > 0 && position < raw.length ? '⟦here⟧' : ''
  return `${from > 0 ? '…' : ''}${raw.slice(from, position)}${mark}${raw.slice(position, to)}${to < raw.length ? '…' : ''}`
}
