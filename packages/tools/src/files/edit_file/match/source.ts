/** A text with `\n` only, and what the strategies make of it: each thing once, however many edits are looked for. */

export interface Source {
  readonly text: string
  /** What `make` gives for this text; made once. `make` must be one and the same function each time. */
  readonly derive: <T>(make: (source: Source) => T) => T
}

export function sourceOf(text: string): Source {
  const made = new Map<unknown, unknown>()
  const source: Source = {
    text,
    derive<T>(make: (source: Source) => T): T {
      if (!made.has(make)) made.set(make, make(source))
      return made.get(make) as T
    },
  }
  return source
}

/** The source of another text, or this one where the text is the same. */
export const withText = (source: Source, text: string): Source => (text === source.text ? source : sourceOf(text))

export const linesOf = ({ text }: Source): readonly string[] => text.split('\n')

export const trimmedLines = (source: Source): readonly string[] => source.derive(linesOf).map((line) => line.trim())
