/** Reads the prompt from the argument, stdin, or both. */
import { fstatSync } from 'node:fs'
import { UsageError } from '@mulligan/host/light'

export const PROMPT_HINT = 'mulligan "why does npm test fail?"   or   some-command | mulligan "what went wrong?"'

export interface PromptSource {
  readonly isTerminal: boolean
  readonly read: () => Promise<string>
  readonly readIfAny: () => Promise<string | undefined>
}

const STDIN: PromptSource = { isTerminal: process.stdin.isTTY === true, read: readStdin, readIfAny: readStdinIfAny }

export interface Prompt {
  /** Empty if an interrupted turn is to be resumed. */
  readonly text: string
  readonly warning?: string
}

/**
 * @param resumes whether an empty prompt is allowed, meaning that an interrupted turn is resumed
 * @throws UsageError
 */
export async function readPrompt(given: string | undefined, resumes: boolean, stdin: PromptSource = STDIN): Promise<Prompt> {
  if (given !== undefined && given !== '-') {
    if (given.trim() === '') throw new UsageError('the prompt is empty', PROMPT_HINT)
    if (stdin.isTerminal) return { text: given }
    const piped = await stdin.readIfAny()
    if (piped === undefined)
      return { text: given, warning: 'Nothing arrived on stdin, so the prompt is sent without it (redirect < /dev/null to skip the wait).' }
    checkText(piped)
    return { text: piped.trim() === '' ? given : `${given}\n\n${piped.trimEnd()}` }
  }
  if (given === undefined && stdin.isTerminal) {
    if (resumes) return { text: '' }
    throw new UsageError('there is no prompt', PROMPT_HINT)
  }
  const text = resumes && given === undefined ? ((await stdin.readIfAny()) ?? '') : await stdin.read()
  checkText(text)
  if (text.trim() === '' && !(resumes && given === undefined)) throw new UsageError('the prompt on stdin is empty', PROMPT_HINT)
  return { text: text.trim() }
}

/** A larger share of characters that are no text means a binary file. */
const UNREADABLE = 0.1

/** @throws UsageError if binary data was piped in */
function checkText(piped: string): void {
  const sample = piped.slice(0, 4000)
  const odd = sample.match(/[\0-\x08\x0e-\x1a\x1c-\x1f\ufffd]/g)?.length ?? 0
  if (sample.includes('\0') || odd > sample.length * UNREADABLE)
    throw new UsageError(
      'what was piped in is not text',
      'Name the file in the prompt instead; the model can read PDF files and notebooks.',
    )
}

/** Milliseconds to wait for the first byte if stdin only adds to a prompt. Some programs leave it open without writing. */
const PATIENCE = { pipe: 10_000, other: 1500 } as const

/** Reads stdin to its end. */
export async function readStdin(): Promise<string> {
  process.stdin.setEncoding('utf8')
  let text = ''
  for await (const piece of process.stdin) text += piece
  return text
}

/**
 * Reads stdin in addition to a prompt; returns `undefined` if it stays open without a byte. A pipe usually has a command at the other end,
 * which may take a while to write; a socket is typically left open by a program that writes nothing.
 */
async function readStdinIfAny(patience: number = PATIENCE[isPipe() ? 'pipe' : 'other']): Promise<string | undefined> {
  const { stdin } = process
  const came = await new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => settle(false), patience)
    const settle = (came: boolean): void => {
      clearTimeout(timer)
      stdin.off('readable', onReadable).off('end', onReadable).off('error', onReadable)
      resolve(came)
    }
    const onReadable = (): void => settle(true)
    stdin.on('readable', onReadable).on('end', onReadable).on('error', onReadable)
  })
  if (came) return readStdin()
  stdin.pause()
  stdin.unref()
  return undefined
}

function isPipe(): boolean {
  try {
    return fstatSync(0).isFIFO()
  } catch {
    return false
  }
}
