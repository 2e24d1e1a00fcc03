/**
 * Holds back what the renderer writes while the window is being resized. How many rows it has to erase depends on the size at which the
 * terminal reads it: written between a resize and the next one, it would leave a copy behind, or erase what is above.
 */
import type { Env } from '@mulligan/host/light'
import type { Size } from './panel/panel.ts'

/**
 * Returns the milliseconds without a resize after which the window is taken to be as the user wants it. While a window is dragged, tmux
 * tells its programs of a new size only every 250 ms.
 */
export const settledAfter = (env: Env): number => (env['TMUX'] ? 350 : 80)

interface ResizingOptions {
  /** Writes to the terminal. */
  readonly write: (text: string) => void
  /** Called when a resize begins or goes on. */
  readonly resized: () => void
  /** Milliseconds without a resize after which what is held back is written. */
  readonly settled: number
}

/** @param size returns the size of the terminal at this moment */
export function createResizing(size: () => Size, { write, resized, settled }: ResizingOptions) {
  let held: string[] | undefined
  let known = size()
  let timer: NodeJS.Timeout | undefined

  function begin(): void {
    held ??= []
    resized()
    known = size()
    clearTimeout(timer)
    timer = setTimeout(release, settled)
  }

  function release(): void {
    clearTimeout(timer)
    const texts = held ?? []
    held = undefined
    for (const text of texts) write(text)
  }

  return {
    /** Called when the terminal has reported another size. */
    begin,
    /** Writes what is held back, at once. */
    release,
    pass: (text: string): void => {
      const { columns, rows } = size()
      // The signal may not have been handled yet.
      if (columns !== known.columns || rows !== known.rows) begin()
      if (held) held.push(text)
      else write(text)
    },
  }
}

/** Returns the size of the terminal at this moment; the stream's own is that of the last signal that was handled. */
export function realSize(stream: Pick<NodeJS.WriteStream, 'columns' | 'rows'>): Size {
  const { _handle } = stream as { readonly _handle?: { readonly getWindowSize?: (size: [number, number]) => number } }
  const size: [number, number] = [0, 0]
  const isKnown = _handle?.getWindowSize?.(size) === 0 && size[0] > 0 && size[1] > 0
  return isKnown ? { columns: size[0], rows: size[1] } : { columns: stream.columns, rows: stream.rows }
}
