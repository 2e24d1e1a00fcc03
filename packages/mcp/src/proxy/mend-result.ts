/** Makes plain what a server's result leaves unclear. A result in which nothing is unclear is returned unchanged. Pure. */
import { isRecord, issuesText, type JsonSchema, validateJson } from '@mulligan/repair'
import { type CallResult, isText, text } from './messages.ts'

/** What was done to a result, for the report. */
export type Mend = 'error_text' | 'binary' | 'empty' | 'broken_output' | 'no_arguments' | 'notes' | 'bounded'

/** A line that is an error and nothing else, as servers without error results write it. */
const ERROR_LINE =
  /^\s*(?:[^\w\s]{1,4}\s*)?(?:\[|\*\*)?(?:(?:[A-Za-z]+ ){0,3}error(?: -?\d+)?|[A-Z]\w{0,40}(?:Error|Exception))(?:\]|\*\*)?\s*:(?:\*\*)?\s*\S[^\n]{0,2000}\s*$/i
/** The same with the stack of Node.js, which the model can't use. */
const STACK = /^(\s*[^\n]{1,2000})(?:\n\s+at [^\n]*)+\s*$/
const TRACEBACK = /^\s*Traceback \(most recent call last\):/
const TAGGED = /^\s*<error>[\s\S]{1,4000}<\/error>\s*$/i
/** Characters of an object that may be an error and nothing else. */
const MAX_ERROR = 4000

interface Told {
  /** Whether the call had arguments, which the model could change. */
  readonly hasArguments: boolean
  /** For the model: sentences. */
  readonly notes: readonly string[]
  /** The same, only if the result is an error. */
  readonly hints?: readonly string[]
  readonly outputSchema?: JsonSchema | undefined
}

/** Returns the result, and what was done to it. */
export function mendResult(
  given: CallResult,
  { hasArguments, notes, hints = [], outputSchema }: Told,
): { readonly result: CallResult; readonly mends: readonly Mend[] } {
  if (!Array.isArray(given.content)) return { result: given, mends: [] }
  const mends: Mend[] = []
  const added: string[] = []
  let result = given
  const mend = (what: Mend, more: Partial<CallResult>): void => {
    mends.push(what)
    result = { ...result, ...more }
  }
  const { content, structuredContent } = given
  const isBare = structuredContent === undefined
  const [only, ...others] = content as readonly unknown[]
  if (isBare && given.isError !== true && others.length === 0 && isText(only) && isErrorText(only.text))
    mend('error_text', { isError: true })
  if (content.some((item) => isText(item) && isBinary(item.text)))
    mend('binary', {
      content: content.map((item) => (isText(item) && isBinary(item.text) ? text(binaryText(item.text)) : item)),
      isError: true,
    })
  const isEmpty = content.every((item) => isText(item) && item.text.trim() === '')
  if (isEmpty && (isBare || saysNothing(structuredContent)))
    mend('empty', {
      content: [text(given.isError === true ? 'The tool failed and gave no reason.' : 'The tool returned nothing, and reported no error.')],
    })
  // Clients without structured content would show nothing.
  else if (!isBare && content.length === 0) mend('empty', { content: [text(JSON.stringify(structuredContent))] })
  const broken = result.isError === true ? undefined : brokenOutput(structuredContent, outputSchema)
  if (broken !== undefined) {
    // Clients that check it would throw the whole result away, and the model would make the call again.
    mend('broken_output', { isError: true })
    added.push(
      `The tool was called and answered, but its answer violates its own output schema: ${broken} The answer is above. The fault is in the server; the same call may repeat its effect.`,
    )
  }
  if (result.isError === true) added.push(...hints.map((hint) => `Hint: ${hint}`))
  if (result.isError === true && !hasArguments && broken === undefined) {
    mends.push('no_arguments')
    added.push(
      'The tool takes no arguments, so the fault is in the server or its environment, and the same call will fail again. Tell the user.',
    )
  }
  if (notes.length > 0 || (result.isError === true && hints.length > 0)) mends.push('notes')
  const told = [...notes.map((note) => `Note: ${note}`), ...added]
  return { result: told.length > 0 ? { ...result, content: [...(result.content as unknown[]), text(told.join('\n'))] } : result, mends }
}

/** Whether there is nothing in it but keys. */
function saysNothing(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() === ''
  return value === null || (typeof value === 'object' && Object.values(value).every(saysNothing))
}

function isErrorText(says: string): boolean {
  const [, first = says] = STACK.exec(says) ?? []
  return ERROR_LINE.test(first) || TRACEBACK.test(says) || TAGGED.test(says) || isErrorObject(says)
}

/** `{"error": "…"}`, or an object that says `success: false`. */
function isErrorObject(says: string): boolean {
  if (says.length > MAX_ERROR || !says.trimStart().startsWith('{')) return false
  const value = parsed(says)
  if (!isRecord(value)) return false
  const { error, success, ok, isError, status } = value
  const hasReason = (typeof error === 'string' && error !== '') || (isRecord(error) && typeof error['message'] === 'string')
  const keys = Object.keys(value).length
  return success === false || ok === false || isError === true || (hasReason && (keys === 1 || status === 'error' || keys <= 3))
}

function parsed(value: string): unknown {
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}

/** Returns how structured content breaks its schema, as a sentence. */
function brokenOutput(structured: unknown, schema: JsonSchema | undefined): string | undefined {
  if (!schema) return undefined
  if (structured === undefined) return 'it has no structured content.'
  const issues = validateJson(schema, structured).filter(({ unknownKey }) => unknownKey === undefined)
  return issues.length === 0 ? undefined : issuesText(issues.slice(0, 3))
}

/** Whether a result is the final one of its call: not a question, and not a task that goes on. */
export const isFinal = (value: unknown): value is CallResult =>
  isRecord(value) && (value['resultType'] === undefined || value['resultType'] === 'complete') && value['task'] === undefined

/** The part of a text that is looked at. */
const SAMPLE = 4000
/** The share of characters that no text contains, from which a text is a binary. */
const MOST = 0.05

function isBinary(value: string): boolean {
  const sample = value.slice(0, SAMPLE)
  if (sample.length < 8) return false
  let odd = 0
  for (let at = 0; at < sample.length; at++) {
    const code = sample.charCodeAt(at)
    if (code === 0xfffd || code < 9 || (code > 13 && code < 32 && code !== 27)) odd++
  }
  return odd > sample.length * MOST
}

const binaryText = (value: string): string =>
  `The result is binary data (about ${value.length} bytes), which the server returned as text. It can't be read this way; use a tool for binary files.`
