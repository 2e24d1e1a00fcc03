/** Values in one form: equal values give equal text, whatever the order of their keys. */

/** Deeper than any input means anything, and than the stack of every runtime allows. */
const MAX_NESTING = 200
/** Where {@link canonical} stops looking, so that a deep value costs no stack overflow. */
const CANONICAL_DEPTH = 500

/** JSON with sorted keys. `undefined` members are left out, as in JSON. */
export function canonical(value: unknown, depth = 0): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null'
  if (depth > CANONICAL_DEPTH) return '"…"'
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, depth + 1)).join(',')}]`
  const toJSON = (value as { toJSON?: () => unknown }).toJSON
  if (typeof toJSON === 'function') return canonical(toJSON.call(value), depth + 1)
  let text = ''
  for (const key of Object.keys(value).sort()) {
    const member = (value as Record<string, unknown>)[key]
    if (member === undefined || typeof member === 'function') continue
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonical(member, depth + 1)}`
  }
  return `{${text}}`
}

/** True for JSON values nested deeper than 200 levels: whoever walks them recursively would run out of stack. */
export function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_NESTING) return true
    const next: unknown[] = []
    for (const one of level) if (typeof one === 'object' && one !== null) for (const member of Object.values(one)) next.push(member)
    level = next
  }
  return false
}

/** A copy of plain data; what is not a plain object or list is kept as it is. */
export function clonePlain<T>(value: T, depth = 0): T {
  if (typeof value !== 'object' || value === null || depth > MAX_CLONE_DEPTH) return value
  if (Array.isArray(value)) return value.map((item) => clonePlain(item, depth + 1)) as T
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  const copy: Record<string, unknown> = prototype === null ? Object.create(null) : {}
  for (const key of Object.keys(value)) {
    const member = clonePlain((value as Record<string, unknown>)[key], depth + 1)
    // Assigned, it would become the prototype.
    if (key === '__proto__') Object.defineProperty(copy, key, { value: member, enumerable: true, writable: true, configurable: true })
    else copy[key] = member
  }
  return copy as T
}

const MAX_CLONE_DEPTH = 200

/** Deep equality of JSON values. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  return canonical(a) === canonical(b)
}

/**
 * A 64-bit hash of a text, as 16 hex digits: two FNV-1a passes with different offsets (Fowler, Noll, Vo). To tell
 * inputs and results apart, not against someone who forges one.
 */
export function hash(text: string): string {
  let a = 0x811c9dc5
  let b = 0x01000193
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    a = Math.imul(a ^ unit, 0x01000193)
    b = Math.imul(b ^ unit, 0x85ebca6b)
  }
  // By way of one BigInt: a number beyond 31 bits is written in hex four times as slowly.
  return ((BigInt(a >>> 0) << 32n) | BigInt(b >>> 0)).toString(16).padStart(16, '0')
}
