/** Describes what is wrong with an input, as data and as sentences that say what to do. */
import { typeOf } from './types.ts'

/** A problem in an input, as data from which hints for the model are built. */
export interface Issue {
  readonly path: readonly (string | number)[]
  /** The JSON Schema keyword that failed, or `refinement` for a schema's own rule. */
  readonly keyword: string
  readonly value: unknown
  /** What the value must be, as a phrase. */
  readonly constraint: string
  /** The nearest valid value. */
  readonly suggestion?: unknown
  readonly candidates?: readonly unknown[]
  /** For `additionalProperties`: the unknown key and the declared key that it was probably meant to be. */
  readonly unknownKey?: string
  readonly meantKey?: string
}

/** Formats a path: `['edits', 0, 'old_text']` → `edits[0].old_text`. */
export function pathText(path: readonly (string | number)[]): string {
  let text = ''
  for (const step of path) text += typeof step === 'number' ? `[${step}]` : text === '' ? step : `.${step}`
  return text
}

/** Returns a copy of `root` with the value at `path` replaced, or removed if `value` is undefined. */
export function withPath(root: unknown, path: readonly (string | number)[], value: unknown): unknown {
  const [step, ...rest] = path
  if (step === undefined) return value
  if (typeof root !== 'object' || root === null) return root
  const copy: Record<string | number, unknown> | unknown[] = Array.isArray(root) ? [...root] : { ...root }
  const slots = copy as Record<string | number, unknown>
  if (rest.length === 0 && value === undefined) delete slots[step]
  else slots[step] = withPath(slots[step], rest, value)
  return copy
}

function issueText(issue: Issue): string {
  const name = pathText(issue.path)
  const what = name === '' ? 'The input' : `"${name}"`
  if (issue.keyword === 'required') return `${what} is missing: it must be ${issue.constraint}.`
  if (issue.unknownKey !== undefined)
    return issue.meantKey === undefined
      ? `${what} is not a parameter of this tool; it takes ${issue.constraint.replace('one of the declared parameters: ', '')}.`
      : `${what} is not a parameter of this tool; did you mean "${issue.meantKey}"?`
  if (issue.keyword === 'refinement') return name === '' ? `${issue.constraint}.` : `${what}: ${issue.constraint}.`
  return `${what} must be ${issue.constraint}, but was ${shown(issue.value)}.`
}

/** Maximum number of issues reported at once. The model fixes the first; the rest are listed with it. */
const MAX_ISSUES = 4

/** Describes the issues in words, at most four of them. */
export function issuesText(issues: readonly Issue[]): string {
  const told = issues.slice(0, MAX_ISSUES).map(issueText)
  if (issues.length > MAX_ISSUES) told.push(`${issues.length - MAX_ISSUES} more.`)
  return told.join(' ')
}

/** Formats a value as the model sent it: shortened, and with its type if that is the problem. */
export function shown(value: unknown, most = 80): string {
  const text = JSON.stringify(value) ?? 'undefined'
  const short = text.length > most ? `${text.slice(0, most)}…` : text
  return typeof value === 'string' || typeof value === 'object' ? `${short} (${typeOf(value)})` : short
}
