/** Asks the user at the terminal. */
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { type Ask, visible } from '@mulligan/host/light'
import type { Ask as AskUser } from '@mulligan/tools'

/** Whether there is a user who can read and answer questions. */
export const isAttendedFor = ({ json }: { readonly json?: boolean }): boolean =>
  !json && process.stdin.isTTY === true && process.stderr.isTTY === true

/** Asks on stderr and reads the terminal. `interrupt` is called for Ctrl-C, since a terminal being read does not send it as a signal. */
export const askInTerminal = (interrupt: () => void): Ask => askOn(process.stderr, interrupt)

/** The same for a secret, which is not shown as it is typed. */
export function askHidden(interrupt: () => void): Ask {
  const nowhere = new Writable({ write: (_, __, done) => done() })
  const ask = askOn(nowhere, interrupt)
  return async (question, signal) => {
    process.stderr.write(question)
    const answer = await ask('', signal)
    process.stderr.write('\n')
    return answer
  }
}

function askOn(output: NodeJS.WritableStream, interrupt: () => void): Ask {
  return async (question, signal) => {
    const reader = createInterface({ input: process.stdin, output, terminal: true })
    const ended = new AbortController()
    reader.on('SIGINT', interrupt)
    reader.on('close', () => ended.abort())
    const lastLine = question.lastIndexOf('\n') + 1
    process.stderr.write(question.slice(0, lastLine))
    try {
      return await reader.question(question.slice(lastLine), { signal: AbortSignal.any([signal, ended.signal]) })
    } catch {
      process.stderr.write('\n')
      return undefined
    } finally {
      reader.close()
    }
  }
}

/** Asks for confirmation. Only an explicit yes counts. */
export async function isConfirmed(ask: Ask, question: string, signal: AbortSignal = new AbortController().signal): Promise<boolean> {
  return /^y(?:es)?$/i.test((await ask(question, signal))?.trim() ?? '')
}

/** Prefixes the model's text with a bar, so that no line looks like program output or the user's answer. */
const barred = (text: string): string => visible(text).replaceAll('\n', '\n  | ')

/** Returns the last line of a question. Where a number can only mean an option, the numbers are choices. */
function answerLine(options: readonly string[]): string {
  if (options.length === 0 || options.some((option) => /^\d/.test(option))) return '> '
  return `  ${options.map((_, at) => `[${at + 1}]`).join(', ')}, or your own answer: `
}

/** Asks the user the model's questions. */
export const answerInWords =
  (ask: Ask): AskUser =>
  async ({ question, options = [] }, signal) => {
    const lines = ['', `? ${barred(question)}`, ...options.map((option, at) => `  ${at + 1}  ${barred(option)}`), answerLine(options)]
    const line = await ask(lines.join('\n'), signal)
    if (line === undefined) return { declined: signal.aborted ? 'timeout' : 'closed' }
    return { answer: line }
  }
