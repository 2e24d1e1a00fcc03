/** Several JSON objects run together in the place of one. */
import { canonical } from '../canonical.ts'
import { isRecord } from '../schema/validate.ts'
import { closing, parseJson } from './brackets.ts'

/** More objects than this in one call are not calls. */
const MAX_OBJECTS = 50

/**
 * The objects of a text that holds two or more and nothing else but separators (`,`, `;`, white space) between them.
 * Undefined when the text is anything else. Linear: each is cut out by its brackets, then parsed.
 */
export function objectsIn(text: string): readonly Record<string, unknown>[] | undefined {
  const objects: Record<string, unknown>[] = []
  for (let at = 0; at < text.length; ) {
    const [gap = ''] = (objects.length === 0 ? /^\s*/ : /^[\s,;]*/).exec(text.slice(at, at + 100)) ?? []
    at += gap.length
    if (at >= text.length) break
    const end = text[at] === '{' ? closing(text, at, text.length) : -1
    if (end === -1 || objects.length === MAX_OBJECTS) return undefined
    const object = parseJson(text.slice(at, end))
    if (!isRecord(object)) return undefined
    objects.push(object)
    at = end
  }
  return objects.length > 1 ? objects : undefined
}

/** Without empty objects beside full ones, and without exact doubles. */
export function distinct(objects: readonly Record<string, unknown>[]): readonly Record<string, unknown>[] {
  const seen = new Map(objects.map((object) => [canonical(object), object]))
  if (seen.size > 1) seen.delete('{}')
  return [...seen.values()]
}
