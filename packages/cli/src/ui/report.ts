/** Who is told what while a turn runs and when it has ended. */
import type { AgentEvent, TurnOutcome } from '@mulligan/agent'
import { type StreamSanitizer, safeJson, sanitize, streamSanitizer } from '@mulligan/host/light'
import type { Settings } from '@mulligan/host/parts'
import type { Colors } from './colors.ts'
import { type LineStyle, linesOf, NEW_VIEW, reduceView, thoughtLine } from './events-to-lines.ts'
import { endLines, ledgerLines, statusLine } from './ledger.ts'
import type { Output } from './output.ts'
import { createWaiting } from './waiting.ts'

export interface Reporter {
  readonly event: (event: AgentEvent) => void
  readonly end: (outcome: TurnOutcome) => void
}

/** One object at the end. */
export const jsonReporter = ({ out }: Output): Reporter => ({
  event: () => undefined,
  end: (outcome) => out(`${safeJson(outcome)}\n`),
})

/** One event a line, the outcome last. */
export const jsonStreamReporter = ({ out }: Output): Reporter => ({
  event: (event) => out(`${safeJson(event)}\n`),
  end: (outcome) => out(`${safeJson({ type: 'result', ...outcome })}\n`),
})

export interface TextReporterOptions {
  /** Show the answer as it comes. Without it stdout has the answer alone, once it is whole. */
  readonly live: boolean
  /** Of stderr. */
  readonly colors: Colors
  readonly subject: LineStyle['subject']
  readonly model: { readonly id: string; readonly where: string }
  /** stderr is a terminal: say there that the model is waited for, and what `status` tells of its server. Default false. */
  readonly waits?: boolean
  readonly status?: ((signal: AbortSignal) => Promise<string | undefined>) | undefined
  readonly agent: string
  readonly limits: Settings['limits']
}

/** The answer on stdout, everything else on stderr. */
export function textReporter({ out, err }: Output, options: TextReporterOptions): Reporter {
  const { live, colors, subject, model, agent, limits, waits = false, status } = options
  const style: LineStyle = { colors, subject }
  let view = NEW_VIEW
  let fit: StreamSanitizer = streamSanitizer()
  /** What has been shown of the present message, as it came. */
  let shown = ''
  let midLine = false
  /** Characters of thinking that were not told of yet. */
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

  /** Before what came of it. */
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
      // A turn without an answer has only the engine's words about it, and a script must not take these for one.
      const noAnswer = status === 'failed' || status === 'cancelled' || status === 'interrupted'
      if (rest.trim() !== '' && noAnswer) err(`${sanitize(rest).trimEnd()}\n`)
      else if (rest.trim() !== '') say(`${sanitize(rest).trimEnd()}\n`)
      const under = [...ledgerLines(outcome, colors), ...endLines(outcome, limits, colors)]
      err([...(live ? [''] : []), ...under, colors.dim(statusLine(outcome, model, agent)), ''].join('\n'))
    },
  }
}
