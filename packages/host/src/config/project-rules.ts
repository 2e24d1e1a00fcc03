/**
 * What a project's file may say. A repository that somebody else wrote brings it along, so it widens nothing that the person has not
 * given. Each key of the schema has its rule beside it: `keys` takes no key without one.
 */
import { z } from 'zod'

/** Reads what the person has at a key, in dots; undefined if there is nothing. */
export type Own = (key: string) => unknown

/**
 * `set`: its value counts before the person's. `fallback`: where the person has none, or trusts the project. `add`: it is beside
 * the person's. `tighten` and `lower`: where it is stricter than the person's. `local`: where it keeps the conversation on this machine, otherwise after
 * the person's word. `trusted`: after the person's word. `user`: never; a file that has it is refused.
 */
export type ProjectRule = { readonly says: string } & (
  | { readonly may: 'set' | 'fallback' | 'add' }
  /** `does`: what its value does, after "which". */
  | { readonly may: 'trusted'; readonly does: string }
  | {
      readonly may: 'lower' | 'tighten'
      readonly isStricter: (theirs: unknown, own: Own) => boolean
      readonly trustLifts?: true
      readonly refuses?: Refuses
    }
  /** `redirect` gives the host that the value would send the conversation to; undefined for this machine. */
  | { readonly may: 'local'; readonly redirect: (theirs: unknown) => string | undefined }
  | { readonly may: 'user'; readonly why: string }
)
type Refuses = (theirs: unknown) => string | undefined

export const set: ProjectRule = { may: 'set', says: 'may set it' }
export const fallback: ProjectRule = { may: 'fallback', says: 'may choose it where you choose none, or trust it' }
export const add = (says: string): ProjectRule => ({ may: 'add', says })
export const trusted = (says: string, does: string): ProjectRule => ({ may: 'trusted', says, does })
export const local = (redirect: (theirs: never) => string | undefined): ProjectRule => ({
  may: 'local',
  says: 'may choose one on this machine; another after your approval (`mulligan trust`)',
  redirect: redirect as (theirs: unknown) => string | undefined,
})
export const user = (why: string): ProjectRule => ({ may: 'user', says: `can't set it: it ${why}`, why })
export const tighten = (
  isStricter: (theirs: never, own: Own) => boolean,
  { says = 'may make it tighter', ...more }: { readonly says?: string; readonly trustLifts?: true; readonly refuses?: Refuses } = {},
): ProjectRule => ({ may: 'tighten', says, isStricter: isStricter as (theirs: unknown, own: Own) => boolean, ...more })
/** @param key of a number whose lower value is the stricter one */
export const lower = (key: string, byDefault: number): ProjectRule => ({
  may: 'lower',
  says: 'may lower it',
  isStricter: (theirs, own) => Number(theirs) < ((own(key) as number | undefined) ?? byDefault),
})

/** The rules of a value and of those inside it. */
export interface RuleNode {
  readonly rule?: ProjectRule
  readonly keys?: Readonly<Record<string, RuleNode>>
  /** Of every name. */
  readonly each?: RuleNode
}

declare const RULED: unique symbol
export type Ruled<Schema extends z.ZodType = z.ZodType> = Schema & { readonly [RULED]: true }

const nodes = new WeakMap<z.ZodType, RuleNode>()
export const rulesOf = (schema: z.ZodType): RuleNode => nodes.get(schema) ?? {}

/** A key with its rule. @param each the values of a record, where they have rules of their own */
export function key<Schema extends z.ZodType>(schema: Schema, rule: ProjectRule, each?: Ruled): Ruled<Schema> {
  nodes.set(schema, { rule, ...(each && { each: rulesOf(each) }) })
  return schema as Ruled<Schema>
}

/** An object of keys, none of which has to be there. One without a rule does not compile. */
export function keys<const Shape extends Readonly<Record<string, Ruled>>>(shape: Shape, description?: string) {
  const partial = z.strictObject(shape).partial()
  const made = description === undefined ? partial : partial.describe(description)
  nodes.set(made, { keys: Object.fromEntries(Object.entries(shape).map(([name, one]) => [name, rulesOf(one)])) })
  return made as Ruled<typeof made>
}

/** The rule of a key, otherwise of what it is in. */
export function ruleAt(root: RuleNode, path: readonly string[]): ProjectRule | undefined {
  let [node, rule] = [root as RuleNode | undefined, root.rule]
  for (const name of path) {
    node = node?.keys && Object.hasOwn(node.keys, name) ? node.keys[name] : node?.each
    rule = node?.rule ?? rule
  }
  return rule
}
