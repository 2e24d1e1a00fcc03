/**
 * A line that says for how long a model has been waited for, and what its server is doing: for a terminal only. It erases
 * itself when something comes.
 */
import { oneLine } from '@mulligan/host/light'

export interface WaitingOptions {
  readonly write: (text: string) => void
  /** Who is waited for. */
  readonly model: string
  readonly dim: (text: string) => string
  /** What the server is doing. Must not throw. */
  readonly status?: ((signal: AbortSignal) => Promise<string | undefined>) | undefined
  /** Columns of the terminal. Default 80. */
  readonly columns?: () => number | undefined
}

export interface Waiting {
  readonly begin: () => void
  /** To be called before anything else is written. */
  readonly end: () => void
}

/** Milliseconds of silence before the line is shown. */
const PATIENCE = 2000
const TICK = 1000
/** Ticks between two looks at the server. */
const LOOK_EVERY = 3
/** Milliseconds that a look may take. */
const LOOK_WITHIN = 2000
const ERASE = '\r\x1b[2K'

export function createWaiting({ write, model, dim, status, columns = () => undefined }: WaitingOptions): Waiting {
  let timer: NodeJS.Timeout | undefined
  let current: AbortController | undefined
  let isShown = false

  function begin(): void {
    end()
    const waiting = new AbortController()
    current = waiting
    const since = Date.now()
    let says: string | undefined
    let isLooking = false
    let ticks = 0

    async function look(): Promise<void> {
      if (!status || isLooking) return
      isLooking = true
      const told = await status(AbortSignal.any([waiting.signal, AbortSignal.timeout(LOOK_WITHIN)])).catch(() => undefined)
      isLooking = false
      if (waiting.signal.aborted) return
      says = told
      draw()
    }

    function draw(): void {
      const seconds = Math.round((Date.now() - since) / 1000)
      const text = oneLine(`waiting for ${model}… ${seconds} s${says ? ` (${says})` : ''}`, Math.max(20, (columns() || 80) - 1))
      write(`${ERASE}${dim(text)}`)
      isShown = true
    }

    function tick(): void {
      if (ticks++ % LOOK_EVERY === 0) void look()
      draw()
      timer = setTimeout(tick, TICK).unref()
    }
    timer = setTimeout(tick, PATIENCE).unref()
  }

  function end(): void {
    clearTimeout(timer)
    current?.abort()
    current = undefined
    if (isShown) write(ERASE)
    isShown = false
  }

  return { begin, end }
}
