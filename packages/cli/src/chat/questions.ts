/** Questions to the person, one at a time: what is asked is in the conversation, the answer has a line of its own. */
import { type Ask, sanitize } from '@mulligan/host/light'

export interface Question {
  /** The line that the answer is typed behind. */
  readonly line: string
}

export interface Questions {
  readonly ask: Ask
  readonly current: () => Question | undefined
  readonly answer: (line: string) => void
}

/** @param show gets what stands above the question's line, and afterwards the line with its answer. `gap`: a blank line is before it */
export function openQuestions(show: (lines: readonly string[], gap: boolean) => void, onChange: () => void): Questions {
  let previous: Promise<unknown> = Promise.resolve()
  let current: (Question & { readonly settle: (line: string | undefined) => void }) | undefined

  function put(question: string, signal: AbortSignal): Promise<string | undefined> {
    if (signal.aborted) return Promise.resolve(undefined)
    const lastLine = question.lastIndexOf('\n') + 1
    const above = question.slice(0, lastLine).replace(/\n$/, '')
    const line = question.slice(lastLine)
    if (above !== '') show(above.replace(/^\n/, '').split('\n'), above.startsWith('\n'))
    return new Promise((resolve) => {
      const settle = (answer: string | undefined): void => {
        signal.removeEventListener('abort', onAbort)
        current = undefined
        if (answer !== undefined) show([line + sanitize(answer)], false)
        onChange()
        resolve(answer)
      }
      const onAbort = (): void => settle(undefined)
      signal.addEventListener('abort', onAbort, { once: true })
      current = { line, settle }
      onChange()
    })
  }

  return {
    ask: (question, signal) => {
      const mine = previous.then(() => put(question, signal))
      previous = mine
      return mine
    },
    current: () => current,
    answer: (line) => current?.settle(line),
  }
}
