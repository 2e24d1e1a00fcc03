/** The model's own questions, in words. */
import { type Ask, visible } from '@mulligan/host/light'
import type { Ask as AskUser } from '@mulligan/tools'

/** What the model says stays behind a bar: a line of its own could look like what the program says, or what the user answered. */
const barred = (text: string): string => visible(text).replaceAll('\n', '\n  | ')

export const answerInWords =
  (ask: Ask): AskUser =>
  async ({ question, options = [] }, signal) => {
    const lines = ['', `? ${barred(question)}`, ...options.map((option, at) => `  ${at + 1}  ${barred(option)}`), '> ']
    const line = await ask(lines.join('\n'), signal)
    if (line === undefined) return { declined: signal.aborted ? 'timeout' : 'closed' }
    return { answer: line }
  }
