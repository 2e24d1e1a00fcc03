/** The chat's view: turns events into finished items, cards of tool calls, and the current activity. Pure. */
import { type AgentEvent, type AssistantMessage, type NamedImage, type TurnOutcome, textOf } from '@mulligan/agent'
import type { Effect } from '@mulligan/core'
import type { Repair } from '@mulligan/core/executor'
import { oneLine, sanitize } from '@mulligan/host/light'
import type { Settings } from '@mulligan/host/parts'
import { type LineStyle, linesOf, NEW_VIEW, type ResultEvent, resultParts, type SeenCall } from '../ui/events-to-lines.ts'
import { endLines, ledgerLines } from '../ui/ledger.ts'
import { imageText, plural, thousands } from '../ui/text.ts'
import { shownPrompt } from './chat-input.ts'
import { countCall, type Health, healthNotice, NO_HEALTH } from './health.ts'
import { endText, type MarkdownBlock, NO_TEXT, type OpenText, pushText } from './markdown/stream.ts'
import type { CallDetail } from './panel/card-pager.ts'
import { openTodos, type Todo, todosIn } from './todo.ts'

/** A finished item, which never changes. Its texts are sanitized for the terminal. */
export type Item =
  | { readonly kind: 'user'; readonly text: string; readonly notes?: readonly string[] }
  /** A block of Markdown. */
  | { readonly kind: 'answer'; readonly text: string; readonly gap: boolean }
  | { readonly kind: 'thinking'; readonly characters: number }
  | { readonly kind: 'call'; readonly card: Card; readonly detail: CallDetail }
  | { readonly kind: 'question'; readonly lines: readonly string[]; readonly gap: boolean }
  /** Two columns: a name and its description. */
  | { readonly kind: 'rows'; readonly rows: readonly Row[] }
  /** Lines shown as they are, including colors. */
  | { readonly kind: 'notice' | 'ledger' | 'output'; readonly lines: readonly string[] }

export type Row = readonly [what: string, says: string]

export interface OpenCall {
  readonly id: string
  readonly tool: string
  readonly input: unknown
  readonly repairs: readonly Repair[]
  /** Milliseconds since 1970; undefined until it runs. */
  readonly startedAt?: number
  /** The latest progress output while it runs. */
  readonly progress: string
  /** Whether the user has already seen what it would do. */
  readonly isAsked?: boolean
}

export interface Doing {
  readonly what: 'waiting' | 'thinking' | 'writing' | 'asking' | 'calling'
  /** Milliseconds since 1970. */
  readonly since: number
}

export interface View {
  readonly calls: readonly OpenCall[]
  readonly text: OpenText
  /** The complete raw text of the current message. */
  readonly said: string
  /** Characters of thinking not reported yet. */
  readonly thought: number
  readonly doing: Doing | undefined
  /** Number of model requests in the turn. */
  readonly requests: number
  /** Tokens used by the last request and its reply. */
  readonly contextUsed: number | undefined
  /** Context size in tokens, if the server turned out to have a different one than expected. */
  readonly contextTokens: number | undefined
  /** How well the model's calls work in this session. */
  readonly health: Health
  /** The model's task list in this session. */
  readonly todos: readonly Todo[]
  /** Tools disabled in this turn (`tool.closed`), and until when. */
  readonly closed: readonly Closed[]
}

type Closed = Pick<Extract<AgentEvent, { type: 'tool.closed' }>, 'tool' | 'until'>

export const NO_VIEW: View = {
  calls: [],
  text: NO_TEXT,
  said: '',
  thought: 0,
  doing: undefined,
  requests: 0,
  contextUsed: undefined,
  contextTokens: undefined,
  health: NO_HEALTH,
  todos: [],
  closed: [],
}

export interface StepView {
  readonly view: View
  readonly done: readonly Item[]
}

export function step(before: View, event: AgentEvent, style: LineStyle): StepView {
  const health = countCall(before.health, event)
  const told = healthNotice(before.health, health)
  const stepped = stepIn({ ...before, health }, event, style)
  if (told === undefined) return stepped
  return { ...stepped, done: [...stepped.done, { kind: 'notice', lines: [style.colors.yellow(told)] }] }
}

function stepIn(view: View, event: AgentEvent, style: LineStyle): StepView {
  const at = event.at
  const now = (what: Doing['what']): Doing => (view.doing?.what === what ? view.doing : { what, since: at })
  const to = (change: Partial<View>, done: readonly Item[] = []): StepView => ({ view: { ...view, ...change }, done })
  const notice = (): readonly Item[] => noticeOf(event, style)
  switch (event.type) {
    case 'turn.started': {
      const doing: Doing = { what: 'waiting', since: at }
      return to(
        { ...NO_VIEW, ...contextOf(view), todos: openTodos(view.todos), doing },
        event.resumed ? notice() : [userItem(event.prompt, event.images)],
      )
    }
    case 'turn.steered':
      return to({}, [userItem(event.text, event.images)])
    case 'message.created':
      return to({ text: NO_TEXT, said: '', requests: event.step, doing: { what: 'waiting', since: at } }, notice())
    case 'reasoning.delta':
      return to({ thought: view.thought + event.text.length, doing: now('thinking') })
    case 'message.part.delta': {
      const { text, done } = pushText(view.text, event.text)
      return to({ text, said: view.said + event.text, thought: 0, doing: now('writing') }, [...thinking(view), ...done.map(answer)])
    }
    case 'message.discarded':
      return to({ text: NO_TEXT, said: '', thought: 0 }, [...ending(view), ...notice()])
    case 'message.completed':
      return completed(view, event.message, at)
    case 'usage':
      return to({ contextUsed: event.contextUsed })
    case 'tool.call': {
      const call: OpenCall = { id: event.callId, tool: event.tool, input: event.input, repairs: [], progress: '' }
      return to({ calls: [...view.calls.filter(({ id }) => id !== call.id), call], doing: now('calling') })
    }
    case 'tool.repaired':
      return to(changed(view, event.callId, ({ repairs }) => ({ repairs: [...repairs, event.repair] })))
    case 'tool.approval.required':
      return to({ ...changed(view, event.callId, () => ({ isAsked: true })), doing: now('asking') })
    case 'tool.approval.resolved':
      return to({ doing: { what: 'calling', since: at } })
    case 'tool.started':
      return to(changed(view, event.callId, () => ({ startedAt: at })))
    case 'tool.delta':
      return to(changed(view, event.callId, () => ({ progress: sanitize(event.message) })))
    case 'tool.result': {
      const seen = view.calls.find(({ id }) => id === event.callId)
      const card = cardOf(seen, event, style)
      const calls = view.calls.filter((call) => call !== seen)
      const isOpening = ({ tool, until }: Closed): boolean => event.result.ok && until === 'other_success' && tool !== event.tool
      const closed = view.closed.filter((one) => !isOpening(one))
      const doing = calls.length === 0 ? { what: 'waiting' as const, since: at } : view.doing
      // The question already showed this diff.
      const isSeen = seen?.isAsked && event.result.ok && isDiff(card)
      const detail = { head: headOf(event.tool, seen?.input, style), input: seen?.input, repairs: seen?.repairs ?? [], event }
      return to({ calls, closed, doing, todos: todosAfter(view, event) }, [
        { kind: 'call', card: isSeen ? { ...card, ...NO_BODY } : card, detail },
      ])
    }
    case 'context.compacted':
      return to({ contextUsed: event.after, contextTokens: event.contextTokens }, notice())
    case 'tool.closed':
      return to({ closed: [...view.closed, { tool: event.tool, until: event.until }] }, notice())
    case 'error':
    case 'warning':
    case 'message.quoted':
      return to({}, notice())
    case 'turn.ended':
      return to({ ...NO_VIEW, ...contextOf(view), said: view.said, requests: view.requests }, ending(view))
    default:
      return to({})
  }
}

const headOf = (tool: string, input: unknown, { subject }: LineStyle): string =>
  `${oneLine(tool, 64)} ${oneLine(subject(tool, input), 100)}`.trimEnd()

/** What stays from turn to turn. */
const contextOf = ({ contextUsed, contextTokens, health, todos }: View): Partial<View> => ({
  ...{ contextUsed, contextTokens, health, todos },
})

const todosAfter = ({ todos }: View, { tool, result }: ResultEvent): View['todos'] =>
  tool === 'todo' && result.ok ? todosIn((result.data as { readonly items?: unknown } | undefined)?.items) : todos

/** Lines of a message shown in the transcript. The rest is what was pasted. */
const MAX_PROMPT = 10

function userItem(prompt: string, images: readonly NamedImage[] = []): Item {
  const { text, notes: other } = shownPrompt(sanitize(prompt))
  const notes = [...other, ...images.map((image) => `with ${imageText(image)}`)]
  const lines = text.split('\n')
  if (lines.length <= MAX_PROMPT) return { kind: 'user', text, notes }
  return { kind: 'user', text: lines.slice(0, MAX_PROMPT).join('\n'), notes: [`… ${lines.length - MAX_PROMPT} more lines`, ...notes] }
}

const answer = ({ text, gap }: MarkdownBlock): Item => ({ kind: 'answer', text: sanitize(text), gap })

const noticeOf = (event: AgentEvent, style: LineStyle): readonly Item[] => {
  const lines = linesOf(NEW_VIEW, event, style)
  return lines.length === 0 ? [] : [{ kind: 'notice', lines }]
}

const thinking = ({ thought }: View): readonly Item[] => (thought === 0 ? [] : [{ kind: 'thinking', characters: thought }])

const ending = (view: View): readonly Item[] => [...thinking(view), ...endText(view.text).map(answer)]

/** Completes a message. Messages from the store arrive whole, without deltas. */
function completed(view: View, message: AssistantMessage, at: number): StepView {
  const thought = message.parts.reduce((sum, part) => sum + (part.type === 'reasoning' ? part.text.length : 0), 0)
  const isWhole = view.said === ''
  const said = isWhole ? textOf(message) : view.said
  const whole: View = isWhole ? { ...view, thought: view.thought || thought, text: { ...NO_TEXT, open: said } } : view
  return { view: { ...view, text: NO_TEXT, said, thought: 0, doing: { what: 'waiting', since: at } }, done: ending(whole) }
}

const changed = (view: View, id: string, change: (call: OpenCall) => Partial<OpenCall>): Pick<View, 'calls'> => ({
  calls: view.calls.map((call) => (call.id === id ? { ...call, ...change(call) } : call)),
})

/**
 * Returns the items below a turn: text that was not in any message, the changes, and why it ended. `said` is the text of its last message.
 */
export function endItems(
  outcome: Omit<TurnOutcome, 'calls'> & Partial<Pick<TurnOutcome, 'calls'>>,
  said: string,
  { limits, colors }: { readonly limits: Settings['limits'] } & Pick<LineStyle, 'colors'>,
): readonly Item[] {
  const { status, requests, usage, calls = [] } = outcome
  const rest = said !== '' && outcome.answer.startsWith(said) ? outcome.answer.slice(said.length) : outcome.answer
  const words =
    rest.trim() === '' || status === 'cancelled' || status === 'failed' ? [] : endText({ ...NO_TEXT, open: rest.trim() }).map(answer)
  const lines = [
    ...ledgerLines({ ...outcome, calls }, colors),
    ...endLines(outcome, limits, colors, 'Your next message continues from here.'),
    colors.dim(oneLine(`${plural(requests, 'request')} · ${thousands(usage.inputTokens + usage.outputTokens)} tokens`)),
  ]
  return [...words, { kind: 'ledger', lines }]
}

/** Groups items. A blank line separates items of different groups; thinking, calls and notices are one group. */
const groupOf = ({ kind }: Item): string => (['thinking', 'call', 'notice'].includes(kind) ? 'work' : kind)

/** Whether a blank line precedes an item. */
export function hasGap(before: Item | undefined, item: Item): boolean {
  if (!before || item.kind === 'user' || item.kind === 'output' || item.kind === 'rows') return true
  if (groupOf(before) !== groupOf(item)) return true
  return (item.kind === 'answer' || item.kind === 'question') && item.gap
}

export interface Card {
  readonly mark: string
  readonly head: string
  /** The repairs made to the call. */
  readonly repairs: readonly string[]
  /** Markdown, sanitized for the terminal. */
  readonly display: string
  /** Number of lines left out above the display. */
  readonly earlier: number
  /** Number of lines left out below the display. */
  readonly more: number
  /** Whether the call only read. */
  readonly isRead: boolean
}

/** Maximum display lines. Reads get fewer, because they can be repeated. */
const MAX_LINES: Readonly<Record<Effect, number>> = { read: 4, write: 16, external: 10 }
/** Milliseconds from which a call's duration is shown. */
const SLOW = 1000

function cardOf(seen: SeenCall | undefined, event: ResultEvent, style: LineStyle): Card {
  const { dim } = style.colors
  const { mark, name, said, notes, repairs } = resultParts(seen, event, style, SLOW)
  const about = [event.result.ok ? dim(said) : said, ...notes.map(dim)].filter(isSome).join(dim(' · '))
  const most = event.result.ok ? MAX_LINES[event.effect] : MAX_LINES.write
  const body = folded(event.result.display, most, event.tool === 'bash')
  return { mark, head: [name, about].filter(isSome).join('  '), repairs: [...new Set(repairs)], ...body, isRead: event.effect === 'read' }
}

const isSome = (text: string): boolean => text !== ''

type CardBody = Pick<Card, 'display' | 'earlier' | 'more'>

const NO_BODY: CardBody = { display: '', earlier: 0, more: 0 }
const isDiff = ({ display }: Card): boolean => /^`{3,}diff\n/.test(display)

/** How a tool says that its display begins in the middle. */
const EARLIER = /^\[(\d+) earlier lines?\]$/

/**
 * Returns the body of a display without its heading, which the card's line already shows.
 *
 * @param fromEnd whether to keep the end, which has the result of a command
 */
export function folded(display: string | undefined, most: number, fromEnd = false): CardBody {
  if (display === undefined) return NO_BODY
  const text = sanitize(display)
    .trim()
    .replace(/^\*\*[^\n]*\n+/, '')
  const fence = /^(`{3,})([^\n]*)\n([\s\S]*?)\n?\1$/.exec(text)
  const [, ticks = '', lang = '', inner] = fence ?? []
  const whole = (inner ?? text).split('\n')
  const names = lang === 'diff' ? namesAbove(whole) : 0
  const all = whole.slice(names)
  const notShown = Number(EARLIER.exec(all[0] ?? '')?.[1] ?? 0)
  const lines = notShown > 0 ? all.slice(1) : all
  const left = Math.max(0, lines.length - most)
  const body = [...whole.slice(0, names), ...(fromEnd ? lines.slice(left) : lines.slice(0, most))]
    .map((line) => (line.length > 400 ? `${line.slice(0, 399)}…` : line))
    .join('\n')
  return {
    display: fence ? `${ticks}${lang}\n${body}\n${ticks}` : body,
    earlier: notShown + (fromEnd ? left : 0),
    more: fromEnd ? 0 : left,
  }
}

/** Counts the lines that name the file of a diff, which take no room: its name is in the card's line. */
function namesAbove(lines: readonly string[]): number {
  return lines[0]?.startsWith('--- ') && lines[1]?.startsWith('+++ ') ? 2 : 0
}
