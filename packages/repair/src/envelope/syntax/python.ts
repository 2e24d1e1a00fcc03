/** Python literals, as models write them in calls: nothing is evaluated, and what is an expression is refused. */

/** Where reading stands. What failed says by `cut` whether the text merely ended. */
export interface Cursor {
  readonly text: string
  at: number
  cut: boolean
  /** Reads what else may stand where a value does, at a word. Not in a dict. */
  call?: ((cursor: Cursor) => Literal) | undefined
}

/** A value, boxed: `None` is one too. */
export type Literal = { readonly value: unknown } | undefined

const DEPTH = 100
const SPACE = /\s*/y
const NUMBER = /[+-]?(?:0[xX][\da-fA-F]+|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d+)(?:[eE][+-]?\d+)?)(?![\w.])/y
const WORD = /[A-Za-z_]\w*/y
/** The literals of Python and JSON. */
export const WORDS: Readonly<Record<string, unknown>> = { True: true, False: false, None: null, true: true, false: false, null: null }
const QUOTE = /([rRuU]?)("""|'''|"|')/y

/** Reads the literal at the cursor; undefined, and the cursor anywhere, when there is none. */
export function readLiteral(cursor: Cursor, depth = 0): Literal {
  space(cursor)
  const character = cursor.text[cursor.at]
  if (character === undefined || depth > DEPTH) return fail(cursor)
  if (character === '[') return readItems(cursor, ']', depth)
  if (character === '(') return readTuple(cursor, depth)
  if (character === '{') {
    const { call } = cursor
    cursor.call = undefined
    const dict = readDict(cursor, depth)
    cursor.call = call
    return dict
  }
  const text = readStrings(cursor)
  if (text || cursor.cut) return text
  const number = take(cursor, NUMBER)
  if (number) {
    const value = Number(number.replaceAll('_', ''))
    // `1e999`: JSON has no infinity, and null is another value.
    return Number.isFinite(value) ? { value } : undefined
  }
  const from = cursor.at
  const other = cursor.call?.(cursor)
  if (other || cursor.at !== from) return other
  const word = take(cursor, WORD)
  if (word === undefined || !Object.hasOwn(WORDS, word)) return fail(cursor)
  return { value: WORDS[word] }
}

export function space(cursor: Cursor): void {
  take(cursor, SPACE)
}

/** What the sticky `pattern` matches at the cursor, which moves behind it. */
export function take(cursor: Cursor, pattern: RegExp): string | undefined {
  pattern.lastIndex = cursor.at
  const found = pattern.exec(cursor.text)
  if (!found) return undefined
  cursor.at = pattern.lastIndex
  return found[0]
}

/** True, and the cursor behind it, when `character` stands there after white space. */
export function takeCharacter(cursor: Cursor, character: string): boolean {
  space(cursor)
  if (cursor.text[cursor.at] !== character) return false
  cursor.at++
  return true
}

/** Undefined, and noted whether it was the end of the text that stopped it. */
export function fail(cursor: Cursor): undefined {
  if (cursor.at >= cursor.text.length) cursor.cut = true
  return undefined
}

function readItems(cursor: Cursor, closer: ']' | ')', depth: number): { readonly value: readonly unknown[] } | undefined {
  const items: unknown[] = []
  cursor.at++
  for (;;) {
    if (takeCharacter(cursor, closer)) return { value: items }
    const item = readLiteral(cursor, depth + 1)
    if (!item) return undefined
    items.push(item.value)
    if (!takeCharacter(cursor, ',') && cursor.text[cursor.at] !== closer) return fail(cursor)
  }
}

/** `(1)` is a number in brackets, `(1,)` a tuple. */
function readTuple(cursor: Cursor, depth: number): Literal {
  const items = readItems(cursor, ')', depth)
  if (!items || items.value.length !== 1) return items
  const comma = /,\s*\)$/.test(cursor.text.slice(Math.max(0, cursor.at - 16), cursor.at))
  return comma ? items : { value: items.value[0] }
}

/** A dict, or a set: a list in JSON. */
function readDict(cursor: Cursor, depth: number): Literal {
  const entries: [string, unknown][] = []
  const items: unknown[] = []
  cursor.at++
  for (;;) {
    if (takeCharacter(cursor, '}')) return { value: items.length > 0 ? items : Object.fromEntries(entries) }
    const key = readLiteral(cursor, depth + 1)
    if (!key) return undefined
    if (entries.length === 0 && !takeCharacter(cursor, ':')) items.push(key.value)
    else {
      const isKey = ['string', 'number'].includes(typeof key.value) && items.length === 0
      if (!isKey || (entries.length > 0 && !takeCharacter(cursor, ':'))) return fail(cursor)
      const value = readLiteral(cursor, depth + 1)
      if (!value) return undefined
      entries.push([String(key.value), value.value])
    }
    if (!takeCharacter(cursor, ',') && cursor.text[cursor.at] !== '}') return fail(cursor)
  }
}

/** One string, or several side by side, which Python joins. */
function readStrings(cursor: Cursor): Literal {
  let joined: string | undefined
  for (;;) {
    space(cursor)
    const part = readString(cursor)
    if (part === undefined) return joined === undefined || cursor.cut ? undefined : { value: joined }
    joined = (joined ?? '') + part
  }
}

function readString(cursor: Cursor): string | undefined {
  QUOTE.lastIndex = cursor.at
  const found = QUOTE.exec(cursor.text)
  if (!found) return undefined
  const quote = found[2] as string
  const raw = found[1] === 'r' || found[1] === 'R'
  const from = QUOTE.lastIndex
  const end = stringEnd(cursor.text, from, quote)
  cursor.at = end === -1 ? cursor.text.length : end + quote.length
  if (end === -1) return fail(cursor)
  const inside = cursor.text.slice(from, end)
  return raw ? inside : decoded(inside)
}

/** Where the string that goes on at `from` has its closing quote, -1 when it has none. */
export function stringEnd(text: string, from: number, quote: string): number {
  for (let i = from; i < text.length; i += text[i] === '\\' ? 2 : 1) if (text.startsWith(quote, i)) return i
  return -1
}

const ESCAPE = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{1,3})|(\r?\n)|([\s\S]))/g
const NAMED: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  v: '\v',
  a: '\x07',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '/': '/',
}

/** As Python has it: what is no escape stays as it stands, backslash included (`\d`, `C:\Users`). */
function decoded(text: string): string {
  return text.replace(ESCAPE, (whole, x, u, wide, octal, line, other) => {
    if (line !== undefined) return ''
    if (other !== undefined) return NAMED[other] ?? whole
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8))
    const code = Number.parseInt(x ?? u ?? wide, 16)
    return code > 0x10ffff ? whole : wide === undefined ? String.fromCharCode(code) : String.fromCodePoint(code)
  })
}
