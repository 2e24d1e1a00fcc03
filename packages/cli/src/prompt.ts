/** The prompt: the argument, stdin, or both. */
import { UsageError } from '@mulligan/host/light'
import { readStdin, readStdinIfAny } from './stdin.ts'

const HINT = 'mulligan "why does npm test fail?"   or   some-command | mulligan "what went wrong?"'

export interface PromptSource {
  readonly isTerminal: boolean
  readonly read: () => Promise<string>
  readonly readIfAny: () => Promise<string | undefined>
}

const STDIN: PromptSource = { isTerminal: process.stdin.isTTY === true, read: readStdin, readIfAny: readStdinIfAny }

export interface Prompt {
  /** Empty when an interrupted turn is to be taken up. */
  readonly text: string
  readonly warning?: string
}

/**
 * @param resumes whether no prompt at all has a meaning: to take up an interrupted turn
 * @throws UsageError
 */
export async function readPrompt(given: string | undefined, resumes: boolean, stdin: PromptSource = STDIN): Promise<Prompt> {
  if (given !== undefined && given !== '-') {
    if (given.trim() === '') throw new UsageError('the prompt is empty', HINT)
    if (stdin.isTerminal) return { text: given }
    const piped = await stdin.readIfAny()
    if (piped === undefined)
      return { text: given, warning: 'Nothing came on stdin, so the prompt goes without it (redirect < /dev/null to not wait).' }
    return { text: piped.trim() === '' ? given : `${given}\n\n${piped.trimEnd()}` }
  }
  if (given === undefined && stdin.isTerminal) {
    if (resumes) return { text: '' }
    throw new UsageError('there is no prompt', HINT)
  }
  const text = resumes && given === undefined ? ((await stdin.readIfAny()) ?? '') : await stdin.read()
  if (text.trim() === '' && !(resumes && given === undefined)) throw new UsageError('the prompt on stdin is empty', HINT)
  return { text: text.trim() }
}
