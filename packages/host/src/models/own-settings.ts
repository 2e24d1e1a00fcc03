/** The model settings in the user's files, by model name. */

import type { Setting } from '../common/setting.ts'
import type { ModelFields } from './model-fields.ts'

export type ModelSettings = readonly Setting<Readonly<Record<string, ModelFields>>>[]

/**
 * All entries that fit, together: of two that say the same thing the project's counts, and within a file the one with more letters
 * of its own.
 * @param id `PROVIDER/NAME`
 */
export function settingsOf(id: string, files: ModelSettings): ModelFields {
  const fitting = files.flatMap(({ value }) =>
    Object.entries(value)
      .filter(([pattern]) => fits(pattern, id))
      .toSorted(([a], [b]) => weight(b) - weight(a))
      .map(([, fields]) => fields),
  )
  return Object.assign({}, ...fitting.toReversed())
}

/** Case counts for nothing: servers write the same name in several ways. `*` stands for anything. */
function fits(pattern: string, id: string): boolean {
  const [first = '', ...rest] = pattern.toLowerCase().split('*')
  const text = id.toLowerCase()
  if (rest.length === 0) return text === first
  const last = rest.pop() ?? ''
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false
  const end = text.length - last.length
  let at = first.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found === -1 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}

/** An entry without `*` overrides all with one. */
const weight = (pattern: string): number => (pattern.includes('*') ? pattern.replaceAll('*', '').length : Infinity)
