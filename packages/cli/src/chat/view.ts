/** What a chat shows: from the events of a turn to finished items, and to what is still going on. Pure; the components only draw. */

import { type AgentEvent, type AssistantMessage, type TurnOutcome, textOf } from '@mulligan/agent'
import type { Repair } from '@mulligan/core'
import { oneLine, sanitize } from '@mulligan/host/light'
import type { Settings } from '@mulligan/host/parts'
import { type LineStyle, linesOf, NEW_VIEW } from '../ui/events-to-lines.ts'
import { endLines, ledgerLines } from '../ui/ledger.ts'
import { plural } from '../ui/plural.ts'
import { type Card, cardOf } from './card.ts'
import { shownPrompt } from './chat-input.ts'
import { endText, type MarkdownBlock, NO_TEXT, type OpenText, pushText } from './markdown/stream.ts'

/** What is finished, and never changes again. Its texts are fit for a terminal. */
export type Item =
  | { readonly kind: 'user'; readonly text: string; readonly notes?: readonly string[] }
  /** A block of Markdown. */
  | { readonly kind: 'answer'; readonly text: string; readonly gap: boolean }
  | { readonly kind: 'thinking'; readonly characters: number }
  | { readonly kind: 'call'; readonly card: Card }
  | { readonly kind: 'question'; readonly lines: readonly string[]; readonly gap: boolean }
  /** Two columns: what, and what there is to say of it. */
  | { readonly kind: 'rows'; readonly rows: readonly Row[] }
  /** Lines as they are, colours and all. */
  | { readonly kind: 'notice' | 'ledger' | 'output'; readonly lines: readonly string[] }

export type Row = readonly [what: string, says: string]

export interface OpenCall {
  readonly id: string
  readonly tool: string
  readonly input: unknown
  readonly repairs: readonly Repair[]
  /** Milliseconds since 1970; undefined until it runs. */
  readonly startedAt?: number
  /** The last of what it says while it runs. */
  readonly progress: string
  /** The person has seen what it would do. */
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
  /** All of the present message, as it came. */
  readonly said: string
  /** Characters of thinking that are not told yet. */
  readonly thought: number
  readonly doing: Doing | undefined
  /** Model requests of the turn. */
  readonly requests: number
  /** Tokens that the last request and its reply take. */
  readonly contextUsed: number | undefined
  /** Tokens of the context, where the server was found to have another number than was thought. */
  readonly contextTokens: number | undefined
  /** Tools that are closed in this turn, and until when. */
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
  closed: [],
}

export interface StepView {
  readonly view: View
  readonly done: readonly Item[]
}

export function step(view: View, event: AgentEvent, style: LineStyle): StepView {
  const at = event.at
  const now = (what: Doing['what']): Doing => (view.doing?.what === what ? view.doing : { what, since: at })
  switch (event.type) {
    case 'turn.started': {
      const user: readonly Item[] = event.resumed ? noticeOf(event, style) : [userItem(event.prompt)]
      return { view: { ...NO_VIEW, ...contextOf(view), doing: { what: 'waiting', since: at } }, done: user }
    }
    case 'message.created':
      return {
        view: { ...view, text: NO_TEXT, said: '', requests: event.step, doing: { what: 'waiting', since: at } },
        done: noticeOf(event, style),
      }
    case 'reasoning.delta':
      return { view: { ...view, thought: view.thought + event.text.length, doing: now('thinking') }, done: [] }
    case 'message.part.delta': {
      const { text, done } = pushText(view.text, event.text)
      return {
        view: { ...view, text, said: view.said + event.text, thought: 0, doing: now('writing') },
        done: [...thinking(view), ...done.map(answer)],
      }
    }
    case 'message.discarded':
      return { view: { ...view, text: NO_TEXT, said: '', thought: 0 }, done: [...ending(view), ...noticeOf(event, style)] }
    case 'message.completed':
      return completed(view, event.message, at)
    case 'usage':
      return { view: { ...view, contextUsed: event.contextUsed }, done: [] }
    case 'tool.call': {
      const call: OpenCall = { id: event.callId, tool: event.tool, input: event.input, repairs: [], progress: '' }
      return { view: { ...view, calls: [...view.calls.filter(({ id }) => id !== call.id), call], doing: now('calling') }, done: [] }
    }
    case 'tool.repaired':
      return { view: changed(view, event.callId, ({ repairs }) => ({ repairs: [...repairs, event.repair] })), done: [] }
    case 'tool.approval.required':
      return { view: { ...changed(view, event.callId, () => ({ isAsked: true })), doing: now('asking') }, done: [] }
    case 'tool.approval.resolved':
      return { view: { ...view, doing: { what: 'calling', since: at } }, done: [] }
    case 'tool.started':
      return { view: changed(view, event.callId, () => ({ startedAt: at })), done: [] }
    case 'tool.delta':
      return { view: changed(view, event.callId, () => ({ progress: sanitize(event.message) })), done: [] }
    case 'tool.result': {
      const seen = view.calls.find(({ id }) => id === event.callId)
      const card = cardOf(seen, event, style)
      const calls = view.calls.filter(({ id }) => id !== event.callId)
      const isOpening = ({ tool, until }: Closed): boolean => event.result.ok && until === 'other_success' && tool !== event.tool
      const closed = view.closed.filter((one) => !isOpening(one))
      const doing = calls.length === 0 ? { what: 'waiting' as const, since: at } : view.doing
      return {
        view: { ...view, calls, closed, doing },
        done: [{ kind: 'call', card: seen?.isAsked && event.effect === 'write' ? { ...card, display: '', more: 0 } : card }],
      }
    }
    case 'context.compacted':
      return { view: { ...view, contextUsed: event.after, contextTokens: event.contextTokens }, done: noticeOf(event, style) }
    case 'tool.closed':
      return { view: { ...view, closed: [...view.closed, { tool: event.tool, until: event.until }] }, done: noticeOf(event, style) }
    case 'error':
    case 'warning':
    case 'message.quoted':
      return { view, done: noticeOf(event, style) }
    case 'turn.ended':
      return { view: { ...NO_VIEW, ...contextOf(view), said: view.said, requests: view.requests }, done: ending(view) }
    default:
      return { view, done: [] }
  }
}

const contextOf = ({ contextUsed, contextTokens }: View): Pick<View, 'contextUsed' | 'contextTokens'> => ({ contextUsed, contextTokens })

function userItem(prompt: string): Item {
  const { text, notes } = shownPrompt(sanitize(prompt))
  return { kind: 'user', text, notes }
}

const answer = ({ text, gap }: MarkdownBlock): Item => ({ kind: 'answer', text: sanitize(text), gap })

const noticeOf = (event: AgentEvent, style: LineStyle): readonly Item[] => {
  const lines = linesOf(NEW_VIEW, event, style)
  return lines.length === 0 ? [] : [{ kind: 'notice', lines }]
}

const thinking = ({ thought }: View): readonly Item[] => (thought === 0 ? [] : [{ kind: 'thinking', characters: thought }])

const ending = (view: View): readonly Item[] => [...thinking(view), ...endText(view.text).map(answer)]

/** What comes from the store has come in no pieces. */
function completed(view: View, message: AssistantMessage, at: number): StepView {
  const thought = message.parts.reduce((sum, part) => sum + (part.type === 'reasoning' ? part.text.length : 0), 0)
  const isWhole = view.said === ''
  const said = isWhole ? textOf(message) : view.said
  const whole: View = isWhole ? { ...view, thought: view.thought || thought, text: { ...NO_TEXT, open: said } } : view
  return { view: { ...view, text: NO_TEXT, said, thought: 0, doing: { what: 'waiting', since: at } }, done: ending(whole) }
}

const changed = (view: View, id: string, change: (call: OpenCall) => Partial<OpenCall>): View => ({
  ...view,
  calls: view.calls.map((call) => (call.id === id ? { ...call, ...change(call) } : call)),
})

/** What is under a turn: words that no message had, what was changed, why it ended. `said` is the text of its last message. */
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
    colors.dim(oneLine(`${plural(requests, 'request')} · ${(usage.inputTokens + usage.outputTokens).toLocaleString('en-US')} tokens`)),
  ]
  return [...words, { kind: 'ledger', lines }]
}

/** Which items stand together: between two others there is a blank line. */
const GROUP: Readonly<Record<Item['kind'], string>> = {
  user: 'user',
  answer: 'answer',
  thinking: 'work',
  call: 'work',
  notice: 'work',
  question: 'question',
  ledger: 'ledger',
  output: 'output',
  rows: 'output',
}

/** Whether a blank line is before an item. */
export function hasGap(before: Item | undefined, item: Item): boolean {
  if (!before || item.kind === 'user' || item.kind === 'output' || item.kind === 'rows') return true
  if (GROUP[before.kind] !== GROUP[item.kind]) return true
  return (item.kind === 'answer' || item.kind === 'question') && item.gap
}
