/** Filters a project's file: every key goes through the rule next to it in the schema. */
import { isObject } from '../common/is-object.ts'
import { type Own, type ProjectRule, type RuleNode, rulesOf } from './project-rules.ts'
import { type Config, configSchema } from './schema.ts'
import { valueAt, withValue } from './value-at.ts'

/** A value of a project that waits for the person's word. */
export interface Withheld {
  readonly key: string
  readonly value: unknown
  /** What it would do, after "which". */
  readonly does: string
  /** The file, for the person. */
  readonly from: string
}

/** What the person has said. */
export interface Word {
  /** Their own values: file, environment and flags. */
  readonly own: Config
  /** The project is among `trustedProjects`. */
  readonly isTrusted: boolean
  /** `remoteHosts` */
  readonly hosts: readonly string[]
  /** Whether they have allowed this value of this project. */
  readonly allows: (key: string, value: unknown) => boolean
}

export interface Admitted {
  readonly values: Config
  readonly withheld: readonly Withheld[]
}

/** Values with rules of their own, one by one: `limits.requests`, `agents.review.model`. */
interface Leaf {
  readonly path: readonly string[]
  readonly value: unknown
  readonly rule: ProjectRule | undefined
}

function leavesOf(value: unknown, node: RuleNode, path: readonly string[] = [], above?: ProjectRule): readonly Leaf[] {
  const rule = node.rule ?? above
  if (!isObject(value) || !(node.keys || node.each) || Object.keys(value).length === 0) return [{ path, value, rule }]
  return Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, node.keys?.[name] ?? node.each ?? {}, [...path, name], rule))
}

/** The first value of a project's file that it may not have at all, and why. */
export function refusedIn(values: Config): { readonly key: string; readonly why: string } | undefined {
  for (const { path, value, rule } of leavesOf(values, rulesOf(configSchema()))) {
    if (rule?.may === 'user') return { key: path.join('.'), why: rule.why }
    const why = rule?.may === 'tighten' || rule?.may === 'lower' ? rule.refuses?.(value) : undefined
    if (why !== undefined) return { key: `${path.join('.')}: ${String(value)}`, why }
  }
  return undefined
}

/** Those of its values that count, and those that would after the person's word. Pure. */
export function admit(project: Config, from: string, word: Word): Admitted {
  const own: Own = (key) => valueAt(word.own, key.split('.'))
  let values: unknown = {}
  const withheld: Withheld[] = []
  for (const { path, value, rule } of leavesOf(project, rulesOf(configSchema()))) {
    const key = path.join('.')
    const does = rule && doesWithoutWord(rule, key, value, word)
    if (does !== undefined) {
      withheld.push({ key, value, does, from })
      // What it is in is there without it, such as an agent.
      values = withValue(values, path.slice(0, -1), valueAt(values, path.slice(0, -1)) ?? {})
    } else if (rule && counts(rule, key, value, own, word.isTrusted)) values = withValue(values, path, value)
  }
  // Its model is one of that server.
  if (withheld.some(({ key }) => key === 'baseUrl')) delete (values as Config).model
  return { values: values as Config, withheld }
}

function counts(rule: ProjectRule, key: string, value: unknown, own: Own, isTrusted: boolean): boolean {
  if (rule.may === 'user') return false
  if (rule.may === 'tighten' || rule.may === 'lower') return (isTrusted && rule.trustLifts === true) || rule.isStricter(value, own)
  return rule.may !== 'fallback' || isTrusted || own(key) === undefined
}

function doesWithoutWord(rule: ProjectRule, key: string, value: unknown, { hosts, isTrusted, allows }: Word): string | undefined {
  if (rule.may === 'trusted') return isTrusted || allows(key, value) ? undefined : rule.does
  if (rule.may !== 'local') return undefined
  const host = rule.redirect(value)
  return host === undefined || hosts.includes(host) || allows(key, value) ? undefined : `would send this conversation to ${host}`
}
