/** Makes plain what a server's result leaves unclear. A result in which nothing is unclear is returned unchanged. Pure. */
import { isRecord } from '@mulligan/repair'
import { type CallResult, isText, text } from './messages.ts'

/** What was done to a result, for the report. */
export type Mend = 'error_text' | 'binary' | 'empty' | 'no_arguments' | 'notes' | 'bounded'

/** A line that is an error and nothing else, as servers without error results write it. */
const ERROR_LINE = /^\s*(?:(?:MCP )?error(?: -?\d+)?|[A-Z]\w{0,40}(?:Error|Exception))\s*:\s*\S[^\n]{0,2000}\s*$/i
const TRACEBACK = /^\s*Traceback \(most recent call last\):/

/**
 * @param call whether the call had arguments, which the model could change, and notes for the model: sentences
 */
export function mendResult(
  given: CallResult,
  { hasArguments, notes }: { readonly hasArguments: boolean; readonly notes: readonly string[] },
): { readonly result: CallResult; readonly mends: readonly Mend[] } {
  if (!Array.isArray(given.content)) return { result: given, mends: [] }
  const mends: Mend[] = []
  const added: string[] = []
  let result = given
  const { content } = given
  const isBare = given.structuredContent === undefined
  const [only, ...others] = content as readonly unknown[]
  if (
    isBare &&
    given.isError !== true &&
    others.length === 0 &&
    isText(only) &&
    (ERROR_LINE.test(only.text) || TRACEBACK.test(only.text))
  ) {
    mends.push('error_text')
    result = { ...result, isError: true }
  }
  if (content.some((item) => isText(item) && isBinary(item.text))) {
    mends.push('binary')
    result = {
      ...result,
      content: content.map((item) => (isText(item) && isBinary(item.text) ? text(binaryText(item.text)) : item)),
      isError: true,
    }
  }
  if (isBare && content.every((item) => isText(item) && item.text.trim() === '')) {
    mends.push('empty')
    result = {
      ...result,
      content: [text(given.isError === true ? 'The tool failed and gave no reason.' : 'The tool returned nothing, and reported no error.')],
    }
  }
  if (result.isError === true && !hasArguments) {
    mends.push('no_arguments')
    added.push(
      'The call has no arguments that could be wrong, so the fault is in the server or its environment, and the same call will fail again. Tell the user.',
    )
  }
  if (notes.length > 0) mends.push('notes')
  const told = [...notes.map((note) => `Note: ${note}`), ...added]
  return { result: told.length > 0 ? { ...result, content: [...(result.content as unknown[]), text(told.join('\n'))] } : result, mends }
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
