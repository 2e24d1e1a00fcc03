/** Reports a turn while it runs and when it has ended: as JSON, or as text with a line that shows the time spent waiting for the model. */
import type { AgentEvent, TurnOutcome } from '@mulligan/agent'
import { oneLine, type StreamSanitizer, safeJson, sanitize, streamSanitizer } from '@mulligan/host/light'
import type { Settings } from '@mulligan/host/parts'
import type { Colors } from './colors.ts'
import { type LineStyle, linesOf, NEW_VIEW, reduceView, thoughtLine } from './events-to-lines.ts'
import { endLines, ledgerLines, statusLine } from './ledger.ts'
import type { Output } from './output.ts'

export interface Reporter {
  readonly event: (event: AgentEvent) => void
  readonly end: (outcome: TurnOutcome) => void
}

/** Reports one JSON object at the end. */
export const jsonReporter = ({ out }: Output): Reporter => ({
  event: () => undefined,
  end: (outcome) => out(`${safeJson(outcome)}\n`),
})

/** Reports one event per line, the outcome last. */
export const jsonStreamReporter = ({ out }: Output): Reporter => ({
  event: (event) => out(`${safeJson(event)}\n`),
  end: (outcome) => out(`${safeJson({ type: 'result', ...outcome })}\n`),
})

export interface TextReporterOptions {
  /** Whether to stream the answer. Otherwise stdout gets only the complete answer. */
  readonly live: boolean
  /** Colors for stderr. */
  readonly colors: Colors
  readonly subject: LineStyle['subject']
  readonly model: { readonly id: string; readonly where: string }
  /** Whether to show on stderr, which must be a terminal, the wait for the model and the server's `status`. Default false. */
  readonly waits?: boolean
  readonly status?: ((signal: AbortSignal) => Promise<string | undefined>) | undefined
  readonly agent: string
  /** Undefined if they are not known here. */
  readonly limits: Settings['limits'] | undefined
}

/** Writes the answer to stdout, everything else to stderr. */
export function textReporter({ out, err }: Output, options: TextReporterOptions): Reporter {
  const { live, colors, subject, model, agent, limits, waits = false, status } = options
  const style: LineStyle = { colors, subject }
  let view = NEW_VIEW
  let fit: StreamSanitizer = streamSanitizer()
  /** The raw text of the current message shown so far. */
  let shown = ''
  let midLine = false
  /** Characters of thinking not reported yet. */
  let thought = 0
  const waiting = waits
    ? createWaiting({ write: err, model: model.id, dim: colors.dim, status, columns: () => process.stderr.columns })
    : undefined

  function say(text: string): void {
    out(text)
    if (text !== '') midLine = !text.endsWith('\n')
  }

  function endLine(): void {
    say(fit.end())
    if (midLine) say('\n')
  }

  function notes(lines: readonly string[]): void {
    if (lines.length === 0) return
    endLine()
    err(`${lines.join('\n')}\n`)
  }

  /** Reports the thinking before its result is shown. */
  function fold(): void {
    if (thought > 0) notes([thoughtLine(thought, colors)])
    thought = 0
  }

  return {
    event: (event) => {
      waiting?.end()
      if (event.type === 'reasoning.delta') thought += event.text.length
      if (event.type === 'message.part.delta' || event.type === 'message.completed' || event.type === 'message.discarded') fold()
      if (event.type === 'message.part.delta' && live) {
        shown += event.text
        say(fit.push(event.text))
        return
      }
      notes(linesOf(view, event, style))
      view = reduceView(view, event)
      if (event.type === 'message.completed') endLine()
      if (event.type !== 'message.created' && event.type !== 'message.discarded') return
      endLine()
      fit = streamSanitizer()
      shown = ''
      if (event.type === 'message.created') waiting?.begin()
    },
    end: (outcome) => {
      waiting?.end()
      endLine()
      const { answer, status } = outcome
      const rest = shown !== '' && answer.startsWith(shown) ? answer.slice(shown.length).trimStart() : answer
      // Without an answer there are only the engine's own words, which a script must not take for one.
      const noAnswer = status === 'failed' || status === 'cancelled' || status === 'interrupted'
      if (rest.trim() !== '' && noAnswer) err(`${sanitize(rest).trimEnd()}\n`)
      else if (rest.trim() !== '') say(`${sanitize(rest).trimEnd()}\n`)
      const under = [...ledgerLines(outcome, colors), ...endLines(outcome, limits, colors)]
      err([...(live ? [''] : []), ...under, colors.dim(statusLine(outcome, model, agent)), ''].join('\n'))
    },
  }
}

export interface WaitingOptions {
  readonly write: (text: string) => void
  /** The model being waited for. */
  readonly model: string
  readonly dim: (text: string) => string
  /** Returns what the server is doing. Must not throw. */
  readonly status?: ((signal: AbortSignal) => Promise<string | undefined>) | undefined
  /** Width of the terminal in columns. Default 80. */
  readonly columns?: () => number | undefined
}

export interface Waiting {
  readonly begin: () => void
  /** Must be called before anything else is written. */
  readonly end: () => void
}

/** Milliseconds of silence before the line is shown. */
const PATIENCE = 2000
const TICK = 1000
/** Ticks between status requests to the server. */
const LOOK_EVERY = 3
/** Timeout of a status request in milliseconds. */
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
