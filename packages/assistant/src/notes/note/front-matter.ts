/** The front matter of a note: the YAML between two lines of dashes at its beginning. Pure. */

const OPENS = /^\ufeff?---[ \t]*\r?\n/
const CLOSES = /^(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/m

export interface FrontMatter {
  /** The YAML; empty if there is none. */
  readonly fields: string
  /** Where the text begins. */
  readonly start: number
}

export function frontMatterOf(text: string): FrontMatter {
  const opens = OPENS.exec(text)
  if (!opens) return { fields: '', start: text.startsWith('\ufeff') ? 1 : 0 }
  const rest = text.slice(opens[0].length)
  const closes = CLOSES.exec(rest)
  if (!closes) return { fields: '', start: 0 }
  return { fields: rest.slice(0, closes.index), start: opens[0].length + closes.index + closes[0].length }
}

/**
 * Returns a list in the front matter: `[a, b]`, `a, b`, or lines with dashes. Parsing the YAML of 20,000 notes would take longer than
 * indexing them.
 */
export function listField(fields: string, name: string): readonly string[] {
  if (!fields.includes(name)) return []
  const [, inline, block = ''] = new RegExp(`^${name}:[ \\t]*(.*)\\r?\\n?((?:[ \\t]*-[ \\t].*(?:\\r?\\n|$))*)`, 'm').exec(fields) ?? []
  if (inline === undefined) return []
  const values =
    inline.trim() === '' ? block.split('\n').map((line) => line.replace(/^\s*-\s/, '')) : inline.replace(/^\[|\]\s*$/g, '').split(',')
  return values
    .map((value) =>
      value
        .trim()
        .replace(/^(["'])(.*)\1$/, '$2')
        .trim(),
    )
    .filter((value) => value !== '')
}
