/** Renders a session: its turns with messages and the results of calls, as data and as Markdown. Pure. */
import { type AgentEvent, isRewind, type Ledger, type Message, type SessionRow, takenBack, textOf } from '@mulligan/agent'
import type { CallRecord } from '@mulligan/core'
import { oneLine, sanitize } from '@mulligan/host/light'
import { DEFAULT_AGENT } from '@mulligan/host/parts'
import { fromHome } from '../../paths.ts'
import { plain } from '../../ui/colors.ts'
import { ledgerLines } from '../../ui/ledger.ts'
import { imageText, localTime, plural } from '../../ui/text.ts'
import { type ModelUsage, usageText } from '../../ui/usage.ts'

/** `steer`: what the user said while the turn ran. */
type Step =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'steer'; readonly text: string }
  | { readonly type: 'call'; readonly call: CallRecord }
type Event<Type> = Extract<AgentEvent, { type: Type }>
type ShownTurn = ReturnType<typeof turnOf> & { readonly undone: boolean; readonly rewound: boolean }

const NOTHING: Ledger = { changed: [], failed: [], unknown: [] }

/** @param undone ids of the turns whose changes were undone */
export function conversationOf(
  session: SessionRow,
  history: readonly Message[],
  events: readonly AgentEvent[],
  undone: ReadonlySet<string> = new Set(),
) {
  const ends = new Map(events.flatMap((event) => (event.type === 'turn.ended' ? [[event.turnId, event.outcome] as const] : [])))
  const starts = events.flatMap((event) => (event.type === 'turn.started' && !event.resumed ? [event] : []))
  const isGone = takenBack(events.filter(isRewind))
  return {
    session,
    turns: starts.map((event) => ({
      ...turnOf(event, ends.get(event.turnId), history),
      undone: undone.has(event.turnId),
      rewound: isGone(event.turnId),
    })),
  }
}

function turnOf(
  { turnId: id, at, prompt, images = [], model, where, agent }: Event<'turn.started'>,
  end: Event<'turn.ended'>['outcome'] | undefined,
  history: readonly Message[],
) {
  return {
    ...{ id, at, prompt, images, model, where, agent },
    /** `unfinished`: still running, or its process died. */
    status: end?.status ?? ('unfinished' as const),
    error: end?.error,
    /** In order; the last text is the answer. */
    steps: history.filter(({ turnId }) => turnId === id).flatMap(stepsOf),
    ledger: end?.ledger ?? NOTHING,
    usage: end?.usage ?? { inputTokens: 0, outputTokens: 0 },
    requests: end?.requests ?? 0,
  }
}

function stepsOf(message: Message): readonly Step[] {
  if (message.role === 'results') return message.records.map((call) => ({ type: 'call', call }))
  if (message.role === 'user') {
    const images = (message.images ?? []).map(({ name }) => `\n(with ${name})`).join('')
    return message.step === undefined ? [] : [{ type: 'steer', text: message.text + images }]
  }
  const text = textOf(message).trim()
  return text === '' ? [] : [{ type: 'text', text }]
}

/** Renders a session as Markdown: prompts quoted, one line per call, answers as they were, and the ledger. Sanitized for the terminal. */
export function markdownOf({
  session,
  turns,
  usage,
}: ReturnType<typeof conversationOf> & { readonly usage: readonly ModelUsage[] }): string {
  const { id, cwd, title, createdAt, updatedAt } = session
  const head = [
    `# ${oneLine(title, 100) || `Session ${id}`}`,
    '',
    `- session ${id}`,
    `- folder ${oneLine(fromHome(cwd), 300)}`,
    `- begun ${localTime(createdAt)}, last turn ${localTime(updatedAt)}, ${plural(turns.length, 'turn')}`,
    ...(usage.length > 0 ? [`- ${usageText(usage)}`] : []),
  ]
  return `${[...head, ...turns.flatMap(turnLines)].join('\n')}\n`
}

function turnLines(turn: ShownTurn, at: number): readonly string[] {
  const { agent = DEFAULT_AGENT, model, where, prompt, images, steps, ledger, status, error, undone, rewound } = turn
  const about = [localTime(turn.at), `${oneLine(model, 120)} on ${oneLine(where, 80)}`]
  const under = ledgerLines({ ledger, calls: steps.flatMap((step) => (step.type === 'call' ? [step.call] : [])) }, plain)
  return [
    ...['', `## Turn ${at + 1}`, ''],
    [...about, ...(agent === DEFAULT_AGENT ? [] : [`agent ${oneLine(agent, 40)}`])].join(' · '),
    ...['', ...quoted(prompt), ...images.map((image) => `> with ${imageText(image)}`), ...stepLines(steps)],
    ...(under.length === 0 ? [] : ['', ...under.map((line) => `- ${line}`)]),
    ...(rewound ? ['', '*Taken out of the conversation by a rewind.*'] : []),
    ...(undone ? ['', '*The changes to files were undone.*'] : []),
    ...(status === 'answered' ? [] : ['', `*${status.replaceAll('_', ' ')}${error === undefined ? '' : `: ${oneLine(error, 300)}`}*`]),
  ]
}

const linesIn = (text: string): readonly string[] => sanitize(text).trimEnd().split('\n')

const quoted = (text: string): readonly string[] => linesIn(text).map((line) => `> ${line}`.trimEnd())

/** Puts blank lines around each text; consecutive calls form one list. */
const stepLines = (steps: readonly Step[]): readonly string[] =>
  steps.flatMap((step, at) => {
    if (step.type === 'text') return ['', ...linesIn(step.text)]
    if (step.type === 'steer') return ['', ...quoted(step.text)]
    return [...(steps[at - 1]?.type === 'call' ? [] : ['']), callLine(step.call)]
  })

const MARKS: Readonly<Record<string, string>> = { retry: '●', indeterminate: '?' }

function callLine({ tool, target, input, result, repairs }: CallRecord): string {
  const mark = result.ok ? '✓' : (MARKS[result.status] ?? '✗')
  const subject = oneLine(target || (JSON.stringify(input) ?? ''), 120)
  const found = result.ok && result.count !== undefined ? `: ${result.count} found` : ''
  const failed = result.ok ? '' : `: ${[...new Set([result.status, result.errorType])].join(' ')}: ${oneLine(result.error, 200)}`
  const repaired = repairs.length === 0 ? '' : ` (${repairs.length} repaired)`
  return `- ${mark} ${oneLine(tool, 64)} ${subject}`.trimEnd() + found + failed + repaired
}
