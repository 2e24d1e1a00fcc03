/** Several JSON objects run together in the place of one. */
import { canonical } from '../canonical.ts'
import { isRecord } from '../schema/validate.ts'

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
    const end = text[at] === '{' ? endOfObject(text, at) : undefined
    if (end === undefined || objects.length === MAX_OBJECTS) return undefined
    try {
      const object: unknown = JSON.parse(text.slice(at, end))
      if (!isRecord(object)) return undefined
      objects.push(object)
    } catch {
      return undefined
    }
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

const INTERESTING = /["{}]/g

function endOfObject(text: string, from: number): number | undefined {
  let depth = 0
  INTERESTING.lastIndex = from
  for (let found = INTERESTING.exec(text); found; found = INTERESTING.exec(text)) {
    if (found[0] === '{') depth++
    else if (found[0] === '}') {
      if (--depth === 0) return found.index + 1
    } else {
      const end = endOfString(text, found.index)
      if (end === undefined) return undefined
      INTERESTING.lastIndex = end
    }
  }
  return undefined
}

function endOfString(text: string, from: number): number | undefined {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at + 1
  }
  return undefined
}
