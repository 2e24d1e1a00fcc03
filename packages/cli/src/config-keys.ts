/** The keys of a configuration file, read on demand from the shipped JSON Schema, without loading anything else. */
import { readFileSync } from 'node:fs'
import { type ConfigKey, isAbout, keysIn, parseKey, type SchemaNode } from '@mulligan/host/light'

export const allKeys = (): readonly ConfigKey[] =>
  keysIn(JSON.parse(readFileSync(new URL('../mulligan.schema.json', import.meta.url), 'utf8')) as SchemaNode)

/** Returns the possible values of a key; none if they cannot be listed. */
export function choicesOf(asked: string): readonly string[] {
  const path = parseKey(asked)
  const node = path && allKeys().find((key) => isAbout(key, path))?.node
  return node?.type === 'boolean' ? ['true', 'false'] : (node?.enum ?? []).map(String)
}
