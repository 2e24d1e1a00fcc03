/** The text of an approval question: exactly what the call would do, and why approval is needed. Pure. */
import type { ApprovalRequest } from '@mulligan/core'
import type { AskedTarget } from '@mulligan/core/executor'
import { blanksCounted, oneLine, safeJson, visible } from '@mulligan/host/light'
import type { Colors } from '../ui/colors.ts'
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
