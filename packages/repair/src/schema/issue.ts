/** One thing that is wrong with an input, as data: hints for the model are made of these. */
export interface Issue {
  readonly path: readonly (string | number)[]
  /** The JSON Schema keyword that failed, or `refinement` for a schema's own rule. */
  readonly keyword: string
  readonly value: unknown
  /** What the value must be, as a phrase. */
  readonly constraint: string
  /** The nearest value that would pass. */
  readonly suggestion?: unknown
  readonly candidates?: readonly unknown[]
  /** For `additionalProperties`: the key that is not known, and the declared one it was probably meant to be. */
  readonly unknownKey?: string
  readonly meantKey?: string
}

/** `['edits', 0, 'old_text']` → `edits[0].old_text`. */
export function pathText(path: readonly (string | number)[]): string {
  let text = ''
  for (const step of path) text += typeof step === 'number' ? `[${step}]` : text === '' ? step : `.${step}`
  return text
}

/** A copy of `root` with the value at `path` replaced, or removed when `value` is undefined. */
export function withPath(root: unknown, path: readonly (string | number)[], value: unknown): unknown {
  const [step, ...rest] = path
  if (step === undefined) return value
  if (typeof root !== 'object' || root === null) return root
  const copy: Record<string | number, unknown> | unknown[] = Array.isArray(root) ? [...root] : { ...root }
  const slots = copy as Record<string | number, unknown>
  if (rest.length === 0 && value === undefined) delete slots[step]
  else slots[step] = withPath(slots[step], rest, value)
  return copy
}
