/** Renders stored events as lines of a log: the time, what happened, and to what. */
import { type AgentEvent, textOf } from '@mulligan/agent'
import { oneLine } from '@mulligan/host/light'
import { type LineStyle, NEW_VIEW, reduceView, resultParts } from '../../ui/events-to-lines.ts'

const MAX_TEXT = 500

/** Returns a function that renders the events of a session, in order; most of the engine's bookkeeping has no line. */
export function logLines({ colors, subject }: LineStyle): (event: AgentEvent) => readonly string[] {
  let view = NEW_VIEW
  /** What the latest calls act on, which their results do not repeat. */
  const targets = new Map<string, string>()
  return (event) => {
    const before = view
    view = reduceView(view, event)
    if (event.type === 'turn.started') targets.clear()
    if (event.type === 'tool.call') targets.set(event.callId, event.target ?? subject(event.tool, event.input))
    const target = 'callId' in event ? targets.get(event.callId) : undefined
    const style: LineStyle = { colors, subject: (tool, input) => target ?? subject(tool, input) }
    const parts = partsOf(event, style, before)
    if (!parts) return []
    const [word, text] = parts
    return [`${colors.dim(timeOf(event.at))}  ${word.padEnd(9)} ${text}`.trimEnd()]
  }
}

type Parts = readonly [word: string, text: string]

function partsOf(event: AgentEvent, style: LineStyle, view: typeof NEW_VIEW): Parts | undefined {
  const { dim, yellow } = style.colors
  switch (event.type) {
    case 'session.created':
      return ['session', `${event.sessionId} in ${oneLine(event.cwd, 200)}`]
    case 'turn.started':
      return [event.resumed ? 'resumed' : 'turn', `${said(event.prompt)} ${dim(`(${oneLine(event.model, 120)})`)}`]
    case 'message.created':
      return event.attempt > 1 || event.concluding
        ? ['request', `step ${event.step}, attempt ${event.attempt}${event.concluding ? `, the last: ${event.concluding}` : ''}`]
        : undefined
    case 'message.discarded':
      return ['discarded', yellow(oneLine(event.why, MAX_TEXT))]
    case 'message.completed': {
      const text = textOf(event.message)
      return text.trim() === '' ? undefined : ['says', said(text)]
    }
    case 'tool.call':
      return ['call', `${oneLine(event.tool, 64)} ${oneLine(style.subject(event.tool, event.input), 200)}`.trimEnd()]
    case 'tool.approval.required':
      return ['asks', `${oneLine(event.tool, 64)} ${oneLine(event.target, 120)}: ${oneLine(event.reason, 200)}`]
    case 'tool.approval.resolved':
      return ['answered', `${oneLine(event.tool, 64)}: ${answerText(event.decision)}`]
    case 'tool.started':
      return event.attempt === undefined ? undefined : ['again', `${oneLine(event.tool, 64)}, attempt ${event.attempt}`]
    case 'tool.result': {
      const { mark, name, said: outcome, notes, repairs } = resultParts(view.get(event.callId), event, style)
      return ['result', [mark, name, outcome, ...[...notes, ...repairs].map(dim)].filter((part) => part !== '').join(' ')]
    }
    case 'tool.closed':
      return ['closed', yellow(oneLine(event.tool, 64))]
    case 'guard.warning':
      return ['guard', yellow(`${oneLine(event.tool, 64)} repeated ${event.repeats} times${event.blocked ? ', blocked' : ''}`)]
    case 'context.compacted':
      return ['compacted', `about ${event.before} to ${event.after} tokens`]
    case 'session.rewound':
      return ['rewound', `to before ${event.from}: ${event.scope}`]
    case 'warning':
      return ['warning', yellow(oneLine(event.message, MAX_TEXT))]
    case 'error':
      return ['error', yellow(oneLine(event.message, MAX_TEXT))]
    case 'turn.ended': {
      const { status, stoppedBy, error, requests, usage } = event.outcome
      const why = error ?? stoppedBy
      const tokens = usage.inputTokens + usage.outputTokens
      return [
        'end',
        `${status}${why === undefined ? '' : `: ${oneLine(why, MAX_TEXT)}`} ${dim(`(${requests} requests, ${tokens} tokens)`)}`,
      ]
    }
    default:
      return undefined
  }
}

const said = (text: string): string => oneLine(text, MAX_TEXT)

function answerText(decision: object): string {
  const { answer, reason } = decision as { readonly answer?: unknown; readonly reason?: unknown }
  return oneLine([String(answer), ...(typeof reason === 'string' ? [reason] : [])].join(', '), 300)
}

/** The local time, with the date if it is not today. */
function timeOf(at: number): string {
  const date = new Date(at)
  const two = (value: number): string => String(value).padStart(2, '0')
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')
  const isToday = date.toDateString() === new Date().toDateString()
  return isToday ? time : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`
}
