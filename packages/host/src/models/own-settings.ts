/** Model settings from the user's files, by model name. */

import type { Setting } from '../common/setting.ts'
import type { ModelFields } from './model-fields.ts'

export type ModelSettings = readonly Setting<Readonly<Record<string, ModelFields>>>[]

/**
 * Merges all matching entries. If two set the same field, the project's wins; within a file, the pattern with more literal characters.
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

/**
 * Returns a model's prices; undefined if they are not known. A project's file can't set them: lower ones would lift the limit of the cost.
 * @param id `PROVIDER/NAME`
 */
export const pricesOf = (id: string, files: ModelSettings): ModelFields['prices'] =>
  settingsOf(
    id,
    files.filter(({ origin }) => origin !== 'project'),
  ).prices

/** Matches a pattern, where `*` stands for anything. Case-insensitive, because servers write the same name in different ways. */
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

/** An entry without `*` overrides all entries with one. */
const weight = (pattern: string): number => (pattern.includes('*') ? pattern.replaceAll('*', '').length : Infinity)
