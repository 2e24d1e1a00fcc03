/** A conversation as Markdown, for a person: prompts quoted, a line for each call, answers as they were, and the ledger. Fit for a terminal. */

import type { CallRecord } from '@mulligan/core'
import { oneLine, sanitize } from '@mulligan/host/light'
import { DEFAULT_AGENT } from '@mulligan/host/parts'
import { fromHome } from '../../paths.ts'
import { plain } from '../../ui/colors.ts'
import { ledgerLines } from '../../ui/ledger.ts'
import { plural } from '../../ui/plural.ts'
import { localTime } from '../../ui/time.ts'
import type { Called, Conversation, ShownTurn } from './conversation.ts'

export function markdownOf({ session, turns }: Conversation): string {
  const { id, cwd, title, createdAt, updatedAt } = session
  const head = [
    `# ${oneLine(title, 100) || `Session ${id}`}`,
    '',
    `- session ${id}`,
    `- folder ${oneLine(fromHome(cwd), 300)}`,
    `- begun ${localTime(createdAt)}, last turn ${localTime(updatedAt)}, ${plural(turns.length, 'turn')}`,
  ]
  return `${[...head, ...turns.flatMap(turnLines)].join('\n')}\n`
}

function turnLines(turn: ShownTurn, at: number): readonly string[] {
  const agent = turn.agent === undefined || turn.agent === DEFAULT_AGENT ? [] : [`agent ${oneLine(turn.agent, 40)}`]
  const about = [localTime(turn.at), `${oneLine(turn.model, 120)} on ${oneLine(turn.where, 80)}`, ...agent]
  return [
    '',
    `## Turn ${at + 1}`,
    '',
    about.join(' · '),
    '',
    ...quoted(turn.prompt),
    ...stepLines(turn),
    ...listed(ledgerLines({ ledger: turn.ledger, calls: callsOf(turn) }, plain)),
    ...endLines(turn),
  ]
}

const quoted = (text: string): string[] =>
  sanitize(text)
    .trimEnd()
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())

/** A blank line around each text; calls in a row are one list. */
function stepLines({ steps }: ShownTurn): readonly string[] {
  return steps.flatMap((step, at) => {
    if (step.type === 'text') return ['', ...sanitize(step.text).trimEnd().split('\n')]
    return [...(steps[at - 1]?.type === 'call' ? [] : ['']), callLine(step.call)]
  })
}

const callsOf = ({ steps }: ShownTurn): readonly CallRecord[] =>
  steps.filter((step): step is Called => step.type === 'call').map(({ call }) => call)

const listed = (lines: readonly string[]): readonly string[] => (lines.length === 0 ? [] : ['', ...lines.map((line) => `- ${line}`)])

function endLines({ status, error }: ShownTurn): readonly string[] {
  if (status === 'answered') return []
  return ['', `*${status.replaceAll('_', ' ')}${error === undefined ? '' : `: ${oneLine(error, 300)}`}*`]
}

const MARKS: Readonly<Record<string, string>> = { retry: '●', indeterminate: '?' }

export function callLine({ tool, target, input, result, repairs }: CallRecord): string {
  const mark = result.ok ? '✓' : (MARKS[result.status] ?? '✗')
  const subject = oneLine(target || (JSON.stringify(input) ?? ''), 120)
  const outcome = result.ok
    ? result.count === undefined
      ? ''
      : `: ${result.count} found`
    : `: ${result.status === result.errorType ? result.status : `${result.status} ${result.errorType}`}: ${oneLine(result.error, 200)}`
  const repaired = repairs.length === 0 ? '' : ` (${repairs.length} repaired)`
  return `- ${mark} ${oneLine(tool, 64)} ${subject}`.trimEnd() + outcome + repaired
}
