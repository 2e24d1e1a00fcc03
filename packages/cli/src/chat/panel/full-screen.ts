/**
 * The terminal's alternate screen, on which a panel is drawn. The conversation and the scrollback stay as they are beneath it: what the
 * renderer writes meanwhile is held back until the panel is closed.
 */

export interface FullScreen {
  readonly enter: () => void
  /** Draws lines that fit the width of the terminal, at most as many as it has rows. */
  readonly draw: (lines: readonly string[]) => void
  readonly leave: () => void
}

const ENTER = '\x1b[?1049h\x1b[?25l\x1b[2J'
const LEAVE = '\x1b[?1049l\x1b[?25h'

/** @param write writes to the terminal. @param under writes what the renderer wrote, in order */
export function createFullScreen(write: (text: string) => void, under: (text: string) => void) {
  let held: string[] | undefined
  let drawn = ''

  const full: FullScreen = {
    enter: () => {
      if (held) return
      held = []
      drawn = ''
      write(ENTER)
    },
    draw: (lines) => {
      const text = lines.map((line) => `${line}\x1b[K`).join('\r\n')
      if (!held || text === drawn) return
      drawn = text
      write(`\x1b[H${text}\x1b[J`)
    },
    leave: () => {
      if (!held) return
      const texts = held
      held = undefined
      write(LEAVE)
      for (const text of texts) under(text)
    },
  }
  /** Passes on what the renderer writes. */
  const pass = (text: string): void => {
    if (held) held.push(text)
    else under(text)
  }
  return { full, pass }
}
