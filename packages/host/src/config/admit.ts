/** Filters a project's configuration file by the rule of each setting. */
import { isObject } from '../common/is-object.ts'
import type { Own, ProjectRule } from './project-rules.ts'
import { type Config, ROWS } from './schema.ts'
import { valueAt, withValue } from './value-at.ts'

/** A value from a project that waits for the user's approval. */
export interface Withheld {
  readonly key: string
  readonly value: unknown
  /** What the value would do; follows "which". */
  readonly does: string
  /** Path of the file, for display. */
  readonly from: string
}

/** The user's own values and what they have allowed. */
export interface Word {
  /** The user's own values: from file, environment and flags. */
  readonly own: Config
  /** The project is among `trustedProjects`. */
  readonly isTrusted: boolean
  /** The user's `remoteHosts`. */
  readonly hosts: readonly string[]
  /** Whether the user has allowed this value for this project. */
  readonly allows: (key: string, value: unknown) => boolean
}

interface Given {
  readonly path: readonly string[]
  readonly value: unknown
  readonly rule: ProjectRule
}

/** Lists a file's values one by one: `limits.requests`, and `agents.review.model` if fields have rules of their own. */
function valuesIn(config: Config): readonly Given[] {
  return ROWS.flatMap(([, path, { project: rule, fields }]): readonly Given[] => {
    const value = valueAt(config, path)
    if (value === undefined) return []
    if (!fields || !isObject(value)) return [{ path, value, rule }]
    return Object.entries(value).flatMap(([name, one]): readonly Given[] => {
      const inner = isObject(one) ? Object.entries(one) : []
      const at = [...path, name]
      return inner.length === 0
        ? [{ path: at, value: one, rule }]
        : inner.map(([field, value]) => ({ path: [...at, field], value, rule: fields[field] ?? rule }))
    })
  })
}

/** Finds the first value that a project's file must not have at all, and says why. */
export function refusedIn(config: Config): { readonly key: string; readonly why: string } | undefined {
  for (const { path, value, rule } of valuesIn(config)) {
    if (rule.may === 'user') return { key: path.join('.'), why: rule.why }
    const why = rule.may === 'tighten' ? rule.refuses?.(value) : undefined
    if (why !== undefined) return { key: `${path.join('.')}: ${String(value)}`, why }
  }
  return undefined
}

/** Splits the values into those that count and those that wait for the user's approval. Pure. */
export function admit(project: Config, from: string, word: Word) {
  const own: Own = (key) => valueAt(word.own, key.split('.'))
  let values: unknown = {}
  const withheld: Withheld[] = []
  for (const { path, value, rule } of valuesIn(project)) {
    const key = path.join('.')
    const does = doesWithoutWord(rule, key, value, word)
    if (does !== undefined) {
      withheld.push({ key, value, does, from })
      // Keep the object around the value, such as an agent, without the value.
      values = withValue(values, path.slice(0, -1), valueAt(values, path.slice(0, -1)) ?? {})
    } else if (counts(rule, key, value, own, word.isTrusted)) values = withValue(values, path, value)
  }
  // The model belongs to that server.
  if (withheld.some(({ key }) => key === 'baseUrl')) delete (values as Config).model
  return { values: values as Config, withheld }
}

function counts(rule: ProjectRule, key: string, value: unknown, own: Own, isTrusted: boolean): boolean {
  if (rule.may === 'user') return false
  if (rule.may === 'tighten' || rule.may === 'lower')
    return (isTrusted && rule.trustLifts === true) || rule.isStricter(value, own(key), own)
  return rule.may !== 'fallback' || isTrusted || own(key) === undefined
}

function doesWithoutWord(rule: ProjectRule, key: string, value: unknown, { hosts, isTrusted, allows }: Word): string | undefined {
  if (rule.may === 'trusted') return isTrusted || allows(key, value) ? undefined : rule.does
  if (rule.may !== 'local') return undefined
  const host = rule.redirect(value as string)
  return host === undefined || hosts.includes(host) || allows(key, value) ? undefined : `would send this conversation to ${host}`
}
