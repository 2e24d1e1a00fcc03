/** Canonical form of values: equal values give equal text, whatever the order of their keys. */

/** Deeper than any meaningful input, and still within every runtime's stack. */
const MAX_NESTING = 200
/** The depth at which {@link canonical} stops, to avoid a stack overflow. */
const CANONICAL_DEPTH = 500

/** Returns JSON with sorted keys. `undefined` members are left out, as in JSON. */
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

/** Returns true for JSON values nested deeper than 200 levels, which would overflow the stack of recursive code. */
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

/** Copies plain data. Anything other than plain objects and lists is kept as it is. */
export function clonePlain<T>(value: T, depth = 0): T {
  if (typeof value !== 'object' || value === null || depth > MAX_CLONE_DEPTH) return value
  if (Array.isArray(value)) return value.map((item) => clonePlain(item, depth + 1)) as T
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  // Assigning a member named `__proto__` would set the prototype.
  const copy: unknown = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, clonePlain(member, depth + 1)]))
  return (prototype === null ? Object.setPrototypeOf(copy, null) : copy) as T
}

const MAX_CLONE_DEPTH = 200

/** Compares JSON values deeply. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  return canonical(a) === canonical(b)
}

/**
 * Returns a 64-bit hash of a text as 16 hex digits: two FNV-1a passes with different offsets (Fowler, Noll, Vo). Tells inputs and
 * results apart; not safe against forgery.
 */
export function hash(text: string): string {
  let a = 0x811c9dc5
  let b = 0x01000193
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    a = Math.imul(a ^ unit, 0x01000193)
    b = Math.imul(b ^ unit, 0x85ebca6b)
  }
  // A BigInt is faster: numbers beyond 31 bits take four times as long to format as hex.
  return ((BigInt(a >>> 0) << 32n) | BigInt(b >>> 0)).toString(16).padStart(16, '0')
}
