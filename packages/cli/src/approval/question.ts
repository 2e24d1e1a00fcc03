/** Renders an approval question: exactly what would be done, and why it asks. */
import type { ApprovalRequest, AskedTarget } from '@mulligan/core'
import { blanksCounted, oneLine, safeJson, visible } from '@mulligan/host/light'
import type { Colors } from '../ui/colors.ts'
import { coloured } from '../ui/diff.ts'

const MAX_LINES = 40
/** Of a command, under what it did. */
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

export interface Shown {
  readonly text: string
  /** Something was left out. */
  readonly isCut: boolean
}

/**
 * @param diff what would change; shown in place of the input. Of a call that ran on its layer, what it did there is shown, and the call
 * @param asks the targets that it is about
 * @param covers what an answer for the session would cover
 * @param whole nothing is left out
 */
export function questionOf(request: ApprovalRequest, { diff, asks, covers, whole = false }: Asked, colors: Colors): Shown {
  const { tool, effect, target, changes } = request
  const change = diff ?? changes?.diff
  const parts = [
    ...(change === undefined ? [] : [cut(diffLines(change), whole ? Infinity : MAX_LINES, (line) => coloured(line, colors))]),
    ...(diff === undefined ? [cut(inputLines(request.input), whole ? Infinity : changes ? MAX_COMMAND : MAX_LINES)] : []),
  ]
  const text = [
    '',
    `${colors.yellow('?')} ${colors.bold(oneLine(tool, 64))} (${effect}) ${oneLine(visible(target), 200)}`,
    ...(changes ? [`  It has run, but its changes are not kept yet: ${oneLine(visible(changes.summary), 200)}.`] : []),
    ...parts.flatMap(({ lines }) => lines).map((line) => `    ${line}`),
    ...whyLines(request, asks).map((line) => colors.dim(`  ${line}`)),
    ...(covers === undefined ? [] : [colors.dim(`  [s] allows ${oneLine(visible(covers), MAX_COVERS)} for this session.`)]),
    '',
  ].join('\n')
  return { text, isCut: parts.some(({ isCut }) => isCut) }
}

const diffLines = (diff: string): string[] => visible(diff.replace(/\n$/, '')).split('\n')

interface Cut {
  readonly lines: readonly string[]
  readonly isCut: boolean
}

function cut(all: readonly string[], most: number, paint = (line: string): string => line): Cut {
  const lines = most === Infinity ? all : all.slice(0, most).map(clip)
  const left = all.length - lines.length
  const more = left > 0 ? [`… ${left} more ${left === 1 ? 'line' : 'lines'}`] : []
  return { lines: [...lines.map(paint), ...more], isCut: left > 0 || lines.some((line, at) => line !== all[at]) }
}

/** Where only a part of the call is in question, which one. */
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

/** The exact input, readable: long texts on lines of their own. */
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
