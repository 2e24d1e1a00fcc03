/** From what came on the wire as arguments to one object, or to what is wrong with the text. */
import { isTooDeep } from '../canonical.ts'
import type { Repair } from '../repair.ts'

/** Arguments that could not be read, for the model: what it sent, where it went wrong, what to send instead. */
export interface Malformed {
  readonly error: string
  readonly details: {
    /** The model's own text around the fault, shortened. */
    readonly value?: string
    readonly constraint: string
    /** In characters. */
    readonly position?: number
    /** The text ends in the middle. */
    readonly cutOff?: true
  }
}

export type Parsed =
  | { readonly ok: true; readonly input: Record<string, unknown>; readonly repairs: readonly Repair[] }
  | { readonly ok: false; readonly fault: Malformed }

/** How much of its own text the model is shown around the fault, in characters. */
const BEFORE = 80
const AFTER = 40

/**
 * @param raw an object, the raw text of the arguments, or nothing
 * @param cutOff the response was cut off in this call: it is refused even where what came happens to parse
 */
export function parseInput(raw: unknown, cutOff = false): Parsed {
  if (typeof raw !== 'string' && isTooDeep(raw)) return tooDeep()
  if (cutOff) return truncated(typeof raw === 'string' ? raw : (JSON.stringify(raw) ?? ''))
  if (raw === undefined || raw === null) return { ok: true, input: {}, repairs: [] }
  if (typeof raw !== 'string') return asObject(raw, [])
  if (raw.trim() === '') return { ok: true, input: {}, repairs: [] }
  const first = json(raw)
  if (!first.ok) return first.atEnd ? truncated(raw) : malformed(raw, first.message, first.position)
  if (typeof first.value !== 'string') return asObject(first.value, [])
  const second = first.value.trim() === '' ? { ok: true as const, value: {} } : json(first.value)
  if (!second.ok) return malformed(raw, 'the arguments are a text, not an object', undefined)
  return asObject(second.value, [{ kind: 'json', from: raw, to: second.value, why: 'the object was encoded twice' }])
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
