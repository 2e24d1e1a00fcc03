/** A check that has not looked, in one sentence. The change stands all the same. */
import { withoutColours } from './colours.ts'
import type { CommandEnd } from './run-command.ts'

const LAST_LINES = 5
const MAX_LINE = 160
/** A frame of a stack is no news for the model. */
const STACK_FRAME = /^\s+at .*[:)\d]$/

export interface About {
  readonly label: string
  /** Seconds. */
  readonly timeout: number
  readonly scrub: (text: string) => string
  /** It has named at least one place. */
  readonly found: boolean
}

export function troubleOf(end: CommandEnd, { label, timeout, scrub, found }: About): string | undefined {
  if (end.how === 'not_started' && end.why !== undefined)
    return `"${label}" could not be run: ${scrub(end.why)}. The change is not checked.`
  if (end.how === 'not_started') return `"${label}" could not be started; is it installed? The change is not checked.`
  if (end.how === 'timeout') return `"${label}" was stopped after ${timeout} s. The change is not checked.`
  if (end.how === 'aborted') return `"${label}" was stopped with the turn.`
  if (end.code === 0 || found) return undefined
  const how = end.code === null ? 'was killed' : `ended with exit code ${end.code}`
  const lines = lastLines(end.stderr) || lastLines(end.stdout)
  return `"${label}" ${how} and named no place in a file${lines === '' ? '.' : `: ${scrub(lines)}`}`
}

function lastLines(text: string): string {
  const lines = withoutColours(text.slice(-LAST_LINES * 1000)).split('\n')
  return lines
    .filter((line) => line.trim() !== '' && !STACK_FRAME.test(line))
    .slice(-LAST_LINES)
    .map((line) =>
      line
        .replace(/[\0-\x1f\x7f]+/g, ' ')
        .trim()
        .slice(0, MAX_LINE),
    )
    .join(' ⏎ ')
}
