/** Reads JSON with comments and trailing commas, as people write it by hand. */
import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'

export type Parsed = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: string }

/** Parses the text. Never throws. An empty file is an empty object. */
export function parseJsonc(text: string): Parsed {
  try {
    const { root, error } = treeOf(text)
    return error === undefined ? { ok: true, value: root ? nodeValue(root) : {} } : { ok: false, error }
  } catch {
    return { ok: false, error: 'nested too deeply' }
  }
}

/** Returns the nodes with their offsets, and the first error with line and column. @throws RangeError if the text is nested too deeply */
export function treeOf(text: string): { readonly root: Node | undefined; readonly error?: string } {
  const errors: ParseError[] = []
  const root = parseTree(text.replace(/^\ufeff/, ' '), errors, { allowTrailingComma: true, allowEmptyContent: true })
  const [first] = errors
  if (!first) return { root }
  const lines = text.slice(0, first.offset).split('\n')
  const what = printParseErrorCode(first.error)
    .replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase()
  return { root, error: `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}: ${what}` }
}

/** Builds the value from entries, so that `__proto__` is a key like any other. Of duplicate keys, the last one counts. */
function nodeValue({ type, value, children = [] }: Node): unknown {
  if (type === 'array') return children.map(nodeValue)
  if (type !== 'object') return value
  return Object.fromEntries(children.map(({ children: [name, inner] = [] }) => [name?.value, inner && nodeValue(inner)]))
}
