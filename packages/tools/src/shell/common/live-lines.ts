/** The latest lines of a running command, for the person: a few, now and then. */
import { lastLines, plainText } from './plain-text.ts'

const EVERY_MS = 500
const LINES = 5
const WIDTH = 200
/** Characters that are looked at: what a person is shown is the end. */
const MAX_HELD = 4000

export interface LiveLines {
  readonly push: (text: string) => void
  /** Nothing is told after it. */
  readonly end: () => void
}

export function liveLines(tell: (message: string) => void, everyMs = EVERY_MS): LiveLines {
  let held = ''
  let timer: NodeJS.Timeout | undefined
  const flush = (): void => {
    timer = undefined
    const lines = lastLines(plainText(held), LINES, WIDTH)
    held = ''
    if (lines.length > 0) tell(lines.join('\n'))
  }
  return {
    push: (text) => {
      held = (held + text).slice(-MAX_HELD)
      timer ??= setTimeout(flush, everyMs).unref()
    },
    end: () => clearTimeout(timer),
  }
}
