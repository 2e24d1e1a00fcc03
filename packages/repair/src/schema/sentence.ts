/** What is wrong with an input, as a sentence that says what to do. */
import { type Issue, pathText } from './issue.ts'
import { typeOf } from './validate.ts'

export function issueText(issue: Issue): string {
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

/** Issues told at once; the model repairs the first, the rest come along. */
const MAX_ISSUES = 4

/** All of them, at most four in words. */
export function issuesText(issues: readonly Issue[]): string {
  const told = issues.slice(0, MAX_ISSUES).map(issueText)
  if (issues.length > MAX_ISSUES) told.push(`${issues.length - MAX_ISSUES} more.`)
  return told.join(' ')
}

/** A value as the model sent it, shortened, with its type where that is the point. */
export function shown(value: unknown, most = 80): string {
  const text = JSON.stringify(value) ?? 'undefined'
  const short = text.length > most ? `${text.slice(0, most)}…` : text
  return typeof value === 'string' || typeof value === 'object' ? `${short} (${typeOf(value)})` : short
}
