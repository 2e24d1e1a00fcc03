/** One call as a line that opens. */
import { duration } from '@mulligan/server/present'
import { memo, useState } from 'react'
import type { Approval } from '../api/types.ts'
import type { CallItem } from '../conversation/conversation.ts'
import { oneLine } from '../ui/safe-text.ts'
import { ApprovalCard } from './approval-card.tsx'
import { CallDetails } from './call-details.tsx'
import { MARKS, STATE_LABELS, stateOf } from './outcome.ts'

interface CallCardProps {
  readonly call: CallItem
  readonly approval: Approval | undefined
  readonly onAnswered: () => void
}

export const CallCard = memo(({ call, approval, onAnswered }: CallCardProps) => {
  const [open, setOpen] = useState(false)
  const state = stateOf(call)
  const { result, progress, warning, closed, repairs, attempts = 0 } = call
  const failure = result && !result.ok ? result : undefined
  const denial = call.approvals.findLast(({ answer }) => answer === 'no')
  return (
    <li className={`call is-${state}`}>
      <button type="button" className="call-line" aria-expanded={open} data-nav onClick={() => setOpen(!open)}>
        <span className="mark" aria-hidden="true">
          {MARKS[state]}
        </span>
        <span className="name">{oneLine(call.tool, 64)}</span>
        <span className="subject">{subjectOf(call)}</span>
        <span className="badges">
          {repairs.length > 0 && (
            <span className="badge repaired">{repairs.length === 1 ? 'repaired' : `repaired ×${repairs.length}`}</span>
          )}
          {attempts > 1 && <span className="badge">{attempts} attempts</span>}
          {warning && <span className="badge warn">{warning.repeats}× the same</span>}
          {closed && <span className="badge warn">closed</span>}
        </span>
        <span className="hidden">{STATE_LABELS[state]}</span>
        <span className="took">
          {call.durationMs === undefined ? (state === 'running' ? '…' : '') : attempts > 0 ? duration(call.durationMs) : ''}
        </span>
      </button>
      {!result && progress && <p className="under soft">{oneLine(progress, 300)}</p>}
      {failure && (
        <p className="under">
          <b>{STATE_LABELS[state]}</b> {oneLine(failure.error, 400)}
          {denial?.answerReason && !failure.error.includes(denial.answerReason) && (
            <span className="soft"> “{oneLine(denial.answerReason, 300)}”</span>
          )}
          {failure.details?.call && (
            <span className="soft">
              {' '}
              Suggested: <code>{suggestion(failure.details.call)}</code>
            </span>
          )}
        </p>
      )}
      {state === 'waiting' && approval && <ApprovalCard approval={approval} onAnswered={onAnswered} />}
      {state === 'waiting' && !approval && (
        <p className="under soft">Waiting for approval: {oneLine(call.approvals.at(-1)?.reason ?? '', 200)}</p>
      )}
      {open && <CallDetails call={call} />}
    </li>
  )
})
CallCard.displayName = 'CallCard'

const suggestion = ({ tool, input }: { tool: string; input: unknown }): string => oneLine(`${tool} ${aboutInput(input)}`, 120)

const SUBJECTS = ['path', 'command', 'pattern', 'query', 'url', 'file', 'name', 'prompt', 'title']

/** What the call is about, in one line. */
export function subjectOf({ input, target }: CallItem): string {
  return oneLine(target || aboutInput(input), 200)
}

function aboutInput(input: unknown): string {
  if (typeof input !== 'object' || input === null) return String(input ?? '')
  const values = input as Readonly<Record<string, unknown>>
  const [key] = SUBJECTS.filter((one) => typeof values[one] === 'string')
  const text = key === undefined ? JSON.stringify(input) : (values[key] as string)
  return text === '{}' ? '' : text
}
