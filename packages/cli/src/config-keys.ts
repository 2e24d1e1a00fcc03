/** The keys of a configuration file, from the JSON Schema that is shipped: read when it is asked for, and nothing else is loaded. */
import { readFileSync } from 'node:fs'
import { type ConfigKey, isAbout, keysIn, parseKey, type SchemaNode } from '@mulligan/host/light'

export const allKeys = (): readonly ConfigKey[] =>
  keysIn(JSON.parse(readFileSync(new URL('../mulligan.schema.json', import.meta.url), 'utf8')) as SchemaNode)

/** The values that a key may have; none where they can't be listed. */
export function choicesOf(asked: string): readonly string[] {
  const path = parseKey(asked)
  const node = path && allKeys().find((key) => isAbout(key, path))?.node
  return node?.type === 'boolean' ? ['true', 'false'] : (node?.enum ?? []).map(String)
}
