import { isRecord, type JsonSchema } from '@mulligan/repair'

const CHILD_MAPS = ['properties', '$defs', 'definitions', 'patternProperties']
const CHILDREN = ['anyOf', 'oneOf', 'prefixItems', 'items', 'additionalProperties', 'not']

/** The schema with every object that lists its properties closed to others. Parts of an `allOf` stay open: they add up. */
export function closeObjects(schema: JsonSchema): JsonSchema {
  const copy: Record<string, unknown> = { ...schema }
  for (const [key, child] of Object.entries(schema)) {
    if (CHILDREN.includes(key)) copy[key] = Array.isArray(child) ? child.map(close) : close(child)
    if (CHILD_MAPS.includes(key) && isRecord(child))
      copy[key] = Object.fromEntries(Object.entries(child).map(([name, inner]) => [name, close(inner)]))
  }
  if (isRecord(copy['properties']) && !('allOf' in copy) && !('patternProperties' in copy)) copy['additionalProperties'] ??= false
  return copy
}

const close = (child: unknown): unknown => (isRecord(child) ? closeObjects(child) : child)
