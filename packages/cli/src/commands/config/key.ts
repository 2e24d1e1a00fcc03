/** Resolves the key argument of a command. */
import { nearest } from '@mulligan/core'
import { type ConfigKey, isAbout, keysIn, oneLine, parseKey, UsageError } from '@mulligan/host/light'
import { configJsonSchema } from '@mulligan/host/parts'

export interface AskedKey {
  readonly path: readonly string[]
  /** The keys that it names: itself, or all in a group such as `limits`. */
  readonly keys: readonly ConfigKey[]
}

/** @throws UsageError with the nearest one */
export function askedKey(text: string): AskedKey {
  const all = keysIn(configJsonSchema())
  const path = parseKey(text)
  const keys = path === undefined ? [] : all.filter((key) => isAbout(key, path) || isAbove(path, key))
  if (path !== undefined && keys.length > 0) return { path, keys }
  const [near] = nearest(
    text,
    all.map(({ key }) => key),
    1,
  )
  throw new UsageError(
    `there is no key ${JSON.stringify(oneLine(text, 80))}${near ? `; did you mean ${near}?` : ''}`,
    'mulligan config explain lists all keys.',
  )
}

const isAbove = (path: readonly string[], { path: whole }: ConfigKey): boolean => isAbout({ path: whole.slice(0, path.length) }, path)
