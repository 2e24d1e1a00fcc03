/** Validates a value against its schema. Error messages name the key, what it must be, and the nearest known key. */
import { nearest } from '@mulligan/core/executor'
import { z } from 'zod'

export type CheckedConfig<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: string }

export function checkWith<T>(schema: z.ZodType<T>, value: unknown): CheckedConfig<T> {
  const checked = schema.safeParse(value)
  if (checked.success) return { ok: true, value: checked.data }
  const [issue] = checked.error.issues
  return { ok: false, error: issue ? sentence(schema, issue) : 'it is not valid' }
}

function sentence(schema: z.ZodType, issue: z.core.$ZodIssue): string {
  const at = keyText(issue.path)
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys
    const known = keysAt(z.toJSONSchema(schema, { unrepresentable: 'any' }), issue.path)
    const [meant] = nearest(key, known, 1)
    const inside = at === '' ? '' : ` in ${at}`
    return `there is no key ${JSON.stringify(key)}${inside}; ${meant ? `did you mean ${JSON.stringify(meant)}?` : `there are ${known.join(', ')}`}`
  }
  return at === '' ? whatOf(issue) : `${at}: ${whatOf(issue)}`
}

/** Describes what is wrong with the value of one key, whatever else may be missing. Returns undefined if it is valid. */
export function faultAt(schema: z.ZodType, path: readonly string[], value: unknown): string | undefined {
  const nested = path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value)
  const issue = schema.safeParse(nested).error?.issues.find((one) => path.every((name, at) => one.path[at] === name))
  return issue && whatOf(issue)
}

const whatOf = ({ message }: z.core.$ZodIssue): string => message.replace(/^Invalid input: /, '').replace(/^Invalid (\w+): /, '')

export const keyText = (path: readonly PropertyKey[]): string =>
  path.map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? String(step) : `.${String(step)}`)).join('')

type Node = { readonly [key: string]: unknown }

/** Lists the keys that an object at this path may have. */
function keysAt(schema: Node, path: readonly PropertyKey[]): readonly string[] {
  let node: unknown = schema
  for (const step of path) {
    const { properties, additionalProperties, items } = (node ?? {}) as Node
    node = typeof step === 'number' ? items : ((properties as Node | undefined)?.[String(step)] ?? additionalProperties)
  }
  return Object.keys(((node ?? {}) as Node)['properties'] ?? {})
}
