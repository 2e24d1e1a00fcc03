import type { JsonSchema } from '@mulligan/repair'

const CHILD_MAPS = ['properties', '$defs', 'definitions', 'patternProperties']
const CHILD_LISTS = ['anyOf', 'oneOf', 'prefixItems']
const CHILDREN = ['items', 'additionalProperties', 'not']

/** The schema with every object that lists its properties closed to others. Parts of an `allOf` stay open: they add up. */
export function closeObjects(schema: JsonSchema): JsonSchema {
  const copy: Record<string, unknown> = { ...schema }
  for (const key of CHILD_MAPS) {
    const map = copy[key]
    if (isObject(map)) copy[key] = Object.fromEntries(Object.entries(map).map(([name, child]) => [name, close(child)]))
  }
  for (const key of CHILD_LISTS) {
    const list = copy[key]
    if (Array.isArray(list)) copy[key] = list.map(close)
  }
  for (const key of CHILDREN) if (isObject(copy[key])) copy[key] = close(copy[key])
  if (isObject(copy['properties']) && copy['additionalProperties'] === undefined && !('allOf' in copy) && !('patternProperties' in copy))
    copy['additionalProperties'] = false
  return copy
}

const close = (child: unknown): unknown => (isObject(child) ? closeObjects(child) : child)
const isObject = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null && !Array.isArray(value)
