/** Refuses schemas whose check may hang: they come with a tool, which somebody else may have written. */
import { isExplosive } from './pattern.ts'
import type { JsonSchema } from './types.ts'
import { deref, isRecord, listOf } from './validate.ts'

/** Keywords whose values are data rather than schemas. */
const DATA = ['const', 'enum', 'default', 'examples']

const IN_PLACE = ['allOf', 'anyOf', 'oneOf'] as const
const IN_PLACE_ALONE = ['not', 'if', 'then', 'else'] as const
/** Subschemas that are visited for one part of a value, following references. */
const MAX_REACHED = 10_000
/** The same for all parts together. */
const MAX_REACHED_IN_ALL = 200_000

const MULTIPLIES = 'the references of its schema multiply, so that a check may take for ever'

/**
 * Rejects schemas that may hang: with such a pattern, or with references that multiply.
 * @throws TypeError that names the first such pattern or field
 */
export function refuseExplosive(schema: JsonSchema): void {
  const seen = new Set<unknown>()
  let all = 0
  const check = (one: unknown, path: readonly string[]): void => {
    if (typeof one !== 'object' || one === null || seen.has(one)) return
    seen.add(one)
    all += reached(one, schema)
    if (all > MAX_REACHED_IN_ALL) throw new TypeError(MULTIPLIES)
    for (const [key, child] of Object.entries(one)) {
      if (DATA.includes(key) && path.at(-1) !== 'properties') continue
      const patterns = key === 'pattern' ? [child] : key === 'patternProperties' ? Object.keys(Object(child)) : []
      for (const pattern of patterns)
        if (typeof pattern === 'string' && isExplosive(pattern))
          throw new TypeError(
            `the pattern /${pattern}/ of ${fieldText(path)} may take for ever on a text that does not match: it repeats what repeats`,
          )
      check(child, [...path, key])
    }
  }
  check(schema, [])
}

/** Counts the subschemas that a check of one value visits, as `validate` goes through them. @throws TypeError for too many */
function reached(start: unknown, root: JsonSchema): number {
  let count = 0
  const visit = (schema: unknown, open: readonly unknown[]): void => {
    if (!isRecord(schema)) return
    if (++count > MAX_REACHED) throw new TypeError(MULTIPLIES)
    const target = deref(schema, root)
    if (target !== schema && !open.includes(target)) visit(target, [...open, target])
    for (const keyword of IN_PLACE) for (const part of listOf(schema[keyword])) visit(part, open)
    // The branches of `oneOf` are visited again if none fits.
    for (const part of listOf(schema['oneOf'])) visit(part, open)
    for (const keyword of IN_PLACE_ALONE) visit(schema[keyword], open)
  }
  visit(start, [])
  return count
}

function fieldText(path: readonly string[]): string {
  const names = path.filter((step, at) => path[at - 1] === 'properties' || step === 'items')
  return names.length === 0 ? 'the input' : JSON.stringify(names.join('.').replaceAll('.items', '[]'))
}
