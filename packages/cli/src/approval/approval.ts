/** Asks the user to approve a call: shows exactly what it would do and why approval is needed, and repeats until the answer is valid. */
import type { ApprovalRequest } from '@mulligan/core'
import type { AskedTarget } from '@mulligan/core/executor'
import { type Ask, blanksCounted, oneLine, safeJson, visible } from '@mulligan/host/light'
import type { ApprovalQuestion, AskApproval } from '@mulligan/host/parts'
import { type Colors, colorsFor } from '../ui/colors.ts'
import { diffLines } from '../ui/diff-lines.ts'

const MAX_LINES = 40
/** Lines of a command's input that are shown when its changes are shown above it. */
const MAX_COMMAND = 12
const MAX_CHARS = 1000
const MAX_ASKED = 12
const MAX_COVERS = 300

interface Asked {
  readonly diff?: string | undefined
  readonly asks: readonly AskedTarget[]
  readonly covers?: string | undefined
  readonly whole?: boolean
}

export interface QuestionLook {
  readonly colors: Colors
  /** Returns the width of the terminal, or undefined if there is none. */
  readonly columns: () => number | undefined
}

/** Returns how questions look on a stream. */
export const lookOf = (stream: { readonly isTTY?: boolean; readonly columns?: number }): QuestionLook => ({
  colors: colorsFor(stream),
  columns: () => stream.columns,
})

export interface Shown {
  readonly text: string
  /** Whether something was left out. */
  readonly isCut: boolean
}

/**
 * @param diff what would change, shown instead of the input. A call that already ran on its layer shows its changes and the input
 * @param asks the targets that need approval
 * @param covers what an answer for the session would cover
 * @param whole whether to show everything instead of cutting it
 */
export function questionOf(
  request: ApprovalRequest,
  { diff, asks, covers, whole = false }: Asked,
  { colors, columns }: QuestionLook,
): Shown {
  const { tool, effect, target, changes, agent } = request
  const asker = agent === undefined ? '' : `${oneLine(agent, 40)}: `
  const change = diff ?? changes?.diff
  const parts = [
    ...(change === undefined ? [] : [diffPart(change, target, whole, { colors, columns })]),
    ...(diff === undefined ? [cut(inputLines(request.input), whole ? Infinity : changes ? MAX_COMMAND : MAX_LINES)] : []),
  ]
  const text = [
    '',
    `${colors.yellow('?')} ${asker}${colors.bold(oneLine(tool, 64))} (${oneLine(effect, 20)}) ${oneLine(visible(target), 200)}`,
    ...(changes ? [`  It has run, but its changes are not kept yet: ${oneLine(visible(changes.summary), 200)}.`] : []),
    ...parts.flatMap(({ lines, more }) => [...lines, ...more]).map((line) => ' '.repeat(INDENT) + line),
    ...whyLines(request, asks).map((line) => colors.dim(`  ${line}`)),
    ...(covers === undefined ? [] : [colors.dim(`  [s] allows ${oneLine(visible(covers), MAX_COVERS)} for this session.`)]),
    '',
  ].join('\n')
  return { text, isCut: parts.some(({ isCut }) => isCut) }
}

/** Spaces before the lines of a diff and of an input. */
const INDENT = 4

function diffPart(diff: string, target: string, whole: boolean, { colors, columns }: QuestionLook): Cut {
  const { lines, isCut, more } = cut(visible(diff.replace(/\n$/, '')).split('\n'), whole ? Infinity : MAX_LINES)
  // A terminal of unknown width has 0 columns.
  const width = columns()
  const room = width ? Math.max(20, width - INDENT) : undefined
  const isNamed = lines.some((line) => line === `+++ ${visible(target)}`)
  return { lines: diffLines(lines.join('\n'), { columns: room, colors, long: 'wrap', isNamed }), isCut, more }
}

interface Cut {
  readonly lines: readonly string[]
  /** How much was left out below them, if anything. */
  readonly more: readonly string[]
  readonly isCut: boolean
}

function cut(all: readonly string[], most: number): Cut {
  const lines = most === Infinity ? all : all.slice(0, most).map(clip)
  const left = all.length - lines.length
  const more = left > 0 ? [`… ${left} more ${left === 1 ? 'line' : 'lines'}`] : []
  return { lines, more, isCut: left > 0 || lines.some((line, at) => line !== all[at]) }
}

/** Explains why approval is needed, listing the targets in question if they are only part of the call. */
function whyLines({ target, reason, forced, changes }: ApprovalRequest, asks: readonly AskedTarget[]): string[] {
  const only = forced ? ' Only you can approve it.' : ''
  const [first, ...more] = asks
  if (forced || changes || !first || (more.length === 0 && first.target === target))
    return [`Needs approval: ${oneLine(reason, 300)}.${only}`]
  const left = asks.length - MAX_ASKED
  return [
    'Needs approval because of',
    ...asks.slice(0, MAX_ASKED).map((one) => `  ${oneLine(visible(one.target), 200)}: ${oneLine(one.reason, 300)}`),
    ...(left > 0 ? [`  and ${left} more`] : []),
  ]
}

/** Returns the exact input in readable form, with long texts on separate lines. */
export function inputLines(input: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(input).flatMap(([key, value]) => {
    const name = oneLine(key, 64)
    const text = typeof value === 'string' ? blanksCounted(visible(value)) : safeJson(value, 2)
    return text.includes('\n') ? [`${name}:`, ...text.split('\n').map((line) => `  | ${line}`)] : [`${name}: ${text}`]
  })
}

const clip = (line: string): string => {
  const left = line.length - MAX_CHARS
  return left > 0 ? `${line.slice(0, MAX_CHARS)}… ${left} more characters` : line
}

export type Answer = { readonly answer: 'once' | 'session' | 'always' | 'view' } | { readonly answer: 'no'; readonly reason?: string }

export const LETTERS = {
  y: 'once',
  yes: 'once',
  s: 'session',
  session: 'session',
  a: 'always',
  always: 'always',
  v: 'view',
  view: 'view',
} as const
const MAX_REASON = 500

/**
 * Parses an answer. `n too risky` is a denial with a reason. So is `Ntoo risky`, because `N` is the key that begins one. A number alone is
 * the choice in that place. Returns `undefined` for an answer that is invalid or not offered.
 */
export function answerOf(line: string, offered: readonly Answer['answer'][]): Answer | undefined {
  const byNumber = /^[1-9]$/.test(line.trim()) ? offered[Number(line) - 1] : undefined
  if (byNumber !== undefined) return { answer: byNumber }
  const [word = '', ...rest] = line
    .trim()
    .replace(/^N(?![oO]?\b)/, 'n ')
    .split(/\s+/)
  const reason = rest.join(' ').slice(0, MAX_REASON)
  if (/^(?:n|no)[,:.]?$/i.test(word)) return { answer: 'no', ...(reason !== '' && { reason }) }
  const answer = reason === '' && Object.hasOwn(LETTERS, word.toLowerCase()) && LETTERS[word.toLowerCase() as keyof typeof LETTERS]
  return answer && offered.includes(answer) ? { answer } : undefined
}

const WORDS = { once: '[y]es once', session: '[s]ession', always: '[a]lways', view: '[v]iew all', no: '[n]o and why' } as const

export const choices = (offered: readonly Answer['answer'][]): string => `  ${offered.map((one) => WORDS[one]).join(', ')}: `

export const approvalInWords =
  (ask: Ask, look: QuestionLook): AskApproval =>
  async (asked, signal) => {
    const { request, session, always, ...rest } = asked
    const about = { ...rest, covers: session?.covers }
    let { text, isCut } = questionOf(request, about, look)
    const offered = (): Answer['answer'][] => [
      'once',
      ...(session ? (['session'] as const) : []),
      ...(always ? (['always'] as const) : []),
      ...(isCut ? (['view'] as const) : []),
      'no',
    ]
    for (let question = text + choices(offered()); ; ) {
      const line = await ask(question, signal)
      if (line === undefined) return { answer: signal.aborted ? 'timeout' : 'no' }
      const given = answerOf(line, offered())
      if (given?.answer === 'no') return given
      if (given?.answer === 'once' || given?.answer === 'session') return { answer: given.answer }
      if (given?.answer === 'always' && always) {
        const offer = await chooseRules(always, ask, signal)
        if (offer !== undefined) return { answer: 'always', offer }
      }
      if (given?.answer === 'view') {
        text = questionOf(request, { ...about, whole: true }, look).text
        isCut = false
      }
      question = given ? text + choices(offered()) : `Please answer${choices(offered()).replace(/^ +/, ' ')}`
    }
  }

/** Shows what would be written to the file. Returns `undefined` if the user declines. */
async function chooseRules(
  { file, offers }: NonNullable<ApprovalQuestion['always']>,
  ask: Ask,
  signal: AbortSignal,
): Promise<number | undefined> {
  const numbered = offers.flatMap((rules, at) => rules.map((rule, line) => `    ${line === 0 ? at + 1 : ' '}  ${safeJson(rule)}`))
  const numbers = offers.map((_, at) => `[${at + 1}]`).join(', ')
  const line = await ask(
    ['', `  To be written to "policy" in ${oneLine(visible(file))}:`, ...numbered, `  ${numbers}, [n]othing: `].join('\n'),
    signal,
  )
  const chosen = Number(line?.trim() || Number.NaN) - 1
  return offers[chosen] ? chosen : undefined
}
