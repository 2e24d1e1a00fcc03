/**
 * Asks the terminal for its background (OSC 11), while the chat is already on the screen. The reply comes as if it were typed, so it is
 * taken out of the input, in however many pieces and however late it comes.
 */
import type { Env } from '@mulligan/host/light'
import { type Background, isAutoOpen, type ThemeName } from '../ui/colors.ts'

const QUESTION = '\x1b]11;?\x07'
const HEAD = '\x1b]11;'
const REPLY = /\x1b\]11;([^\x07\x1b]*)(?:\x07|\x1b\\)/g
/** The beginning of a reply at the end of a chunk. */
const BEGUN = /\x1b\]11;[^\x07\x1b]{0,64}\x1b?$/
/** Milliseconds in which a reply still changes the theme. */
const PATIENCE = 1000
/** Milliseconds for which an Escape is held back that could begin the reply. Less than a person notices. */
const HOLD = 20

/** Multiplexers, which answer for another terminal or not at all, and consoles that print what they don't know. */
const MUTE = /^(?:dumb|linux|screen|tmux)/

/** Whether the background is of use, and the terminal can be asked. */
export const asksBackground = (theme: ThemeName, env: Env): boolean =>
  isAutoOpen(theme, env) && !env['TMUX'] && !env['STY'] && !MUTE.test(env['TERM'] ?? '')

export interface BackgroundOptions {
  /** Writes to the terminal. */
  readonly write: (text: string) => void
  /** Called with the answer, once. */
  readonly onKnown: (background: Background) => void
  /** Called when input that was held back can be read. */
  readonly onReady: () => void
  /** Returns milliseconds since 1970. */
  readonly now?: () => number
}

export function createBackground({ write, onKnown, onReady, now = Date.now }: BackgroundOptions) {
  let askedAt: number | undefined
  let held = ''
  let released = ''
  let timer: NodeJS.Timeout | undefined

  const isWaiting = (): boolean => askedAt !== undefined && now() - askedAt < PATIENCE

  /** Gives back what was held back, unless it is a part of the reply. */
  function release(): void {
    if (!held.startsWith(HEAD)) released += held
    held = ''
    if (released !== '') onReady()
  }

  function answered(color: string): void {
    const background = isWaiting() ? backgroundOf(color) : undefined
    askedAt = undefined
    if (background !== undefined) onKnown(background)
  }

  return {
    ask: (): void => {
      askedAt = now()
      write(QUESTION)
    },
    /** Returns the input without the reply. @param chunk null if there is none */
    input: (chunk: string | null): string | null => {
      if (chunk === null) {
        const text = released
        released = ''
        return text === '' ? null : text
      }
      clearTimeout(timer)
      const text = (released + held + chunk).replace(REPLY, (_, color: string) => {
        answered(color)
        return ''
      })
      released = ''
      held = BEGUN.exec(text)?.[0] ?? (isWaiting() ? beginning(text) : '')
      if (held !== '') timer = setTimeout(release, held.startsWith(HEAD) ? PATIENCE : HOLD).unref()
      return text.slice(0, text.length - held.length)
    },
    stop: (): void => clearTimeout(timer),
  }
}

/** Returns the end of a text that could be the beginning of a reply. */
function beginning(text: string): string {
  for (let length = HEAD.length - 1; length > 0; length--) if (text.endsWith(HEAD.slice(0, length))) return HEAD.slice(0, length)
  return ''
}

/** Reads `rgb:ffff/ffff/ffff`, with one to four digits each, or `rgba:`. */
export function backgroundOf(color: string): Background | undefined {
  const parts = /^rgba?:([\da-f]{1,4})\/([\da-f]{1,4})\/([\da-f]{1,4})(?:\/[\da-f]{1,4})?$/i.exec(color)?.slice(1, 4)
  if (!parts) return undefined
  const [red = 0, green = 0, blue = 0] = parts.map((part) => Number.parseInt(part, 16) / (16 ** part.length - 1))
  return 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 ? 'light' : 'dark'
}
