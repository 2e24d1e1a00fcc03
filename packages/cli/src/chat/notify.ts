/**
 * Calls the user back when the chat waits for them: a bell, or a notification of the desktop. Nobody is called who is there: if the
 * terminal reports its focus, that decides, otherwise whether a key was pressed just now.
 */
import { oneLine } from '@mulligan/host/light'
import type { ChatState, Question } from './chat-types.ts'
import { passed } from './status.ts'

export type Notify = 'off' | 'bell' | 'desktop'

/** Milliseconds since the last key for which a terminal counts as used. */
const USED = 5000
/** Milliseconds from which the end of a turn is worth a call. */
const LONG = 30_000

const FOCUS_ON = '\x1b[?1004h'
const FOCUS_OFF = '\x1b[?1004l'
const FOCUS = /\x1b\[([IO])/g

export interface NotifierOptions {
  readonly how: Notify
  /** Writes to the terminal. */
  readonly write: (text: string) => void
  readonly env: Readonly<Record<string, string | undefined>>
  /** Returns milliseconds since 1970. */
  readonly now?: () => number
}

export type Notifier = ReturnType<typeof createNotifier>

export function createNotifier({ how, write, env, now = Date.now }: NotifierOptions) {
  let isFocused: boolean | undefined
  let lastKey = now()
  let asked: Question | undefined
  let running: { readonly since: number; readonly isStopped: boolean } | undefined

  const isAway = (): boolean => (isFocused === undefined ? now() - lastKey >= USED : !isFocused)

  function call(text: string): void {
    if (isAway()) write(how === 'desktop' ? desktopText(text, env) : '\x07')
  }

  return {
    /** Asks the terminal to report its focus; one that cannot ignores it. */
    start: () => how !== 'off' && write(FOCUS_ON),
    stop: () => how !== 'off' && write(FOCUS_OFF),
    /** Sees what the terminal sends. */
    input: (text: string): void => {
      for (const [, letter] of text.matchAll(FOCUS)) isFocused = letter === 'I'
      if (text.replace(FOCUS, '') !== '') lastKey = now()
    },
    /** Sees each state of the chat. */
    look: ({ question, busy, items, isStopping }: Pick<ChatState, 'question' | 'busy' | 'items' | 'isStopping'>): void => {
      if (how === 'off') return
      if (question && question !== asked) {
        const about = items.findLast((item) => item.kind === 'question')
        call(`Waiting for your answer: ${about && 'lines' in about ? about.lines.join(' ') : ''}`)
      } else if (running && !busy && !running.isStopped && now() - running.since >= LONG) {
        call(`The turn has ended after${passed(running.since, now())}.`)
      }
      asked = question
      running = busy?.with === 'turn' ? { since: running?.since ?? busy.since, isStopped: isStopping } : undefined
    },
  }
}

const MAX_TEXT = 120

/** Returns the sequence of a notification: OSC 777 for VTE, foot and rxvt, otherwise OSC 9, passed through tmux. */
function desktopText(text: string, env: NotifierOptions['env']): string {
  // A semicolon separates the fields. The text is of a model, so nothing of it may end the sequence.
  const said = oneLine(text, MAX_TEXT).replace(/[;\\]|\p{C}/gu, ' ')
  const isVte = env['VTE_VERSION'] !== undefined || /^(?:foot|rxvt)/.test(env['TERM'] ?? '')
  const sequence = isVte ? `\x1b]777;notify;Mulligan;${said}\x07` : `\x1b]9;Mulligan: ${said}\x07`
  return env['TMUX'] ? `\x1bPtmux;${sequence.replaceAll('\x1b', '\x1b\x1b')}\x1b\\` : sequence
}
