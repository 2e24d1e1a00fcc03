/** Everything about one call: input, repairs, attempts, what the model read, what the person sees, the diff. */
import { render } from '@mulligan/core'
import { duration } from '@mulligan/server/present'
import { type ReactNode, useId, useState } from 'react'
import type { CallItem } from '../conversation/conversation.ts'
import { Clip } from '../ui/clip.tsx'
import { Diff } from '../ui/diff.tsx'
import { Markdown } from '../ui/markdown.tsx'
import { oneLine } from '../ui/safe-text.ts'
import { fullTime } from '../ui/time.ts'
import { STATE_LABELS, stateOf } from './outcome.ts'
import { Input, textOf } from './value.tsx'

const diffOf = ({ result }: CallItem): string | undefined => {
  const data = result?.ok ? result.data : result?.details
  const diff = typeof data === 'object' && data !== null && 'diff' in data ? data.diff : undefined
  return typeof diff === 'string' && diff !== '' ? diff : undefined
}

export function CallDetails({ call }: { readonly call: CallItem }) {
  const diff = diffOf(call)
  const { result, repairs } = call
  const tabs: readonly (readonly [label: string, content: ReactNode])[] = [
    ...(diff === undefined ? [] : [['Diff', <Diff key="diff" text={diff} />] as const]),
    ['Input', <Input key="input" input={call.input} />],
    ...(repairs.length === 0 ? [] : [[`Repairs ${repairs.length}`, <Repairs key="repairs" call={call} />] as const]),
    ...(result ? [['What the model read', <Clip key="read" text={modelText(result)} />] as const] : []),
    ...(result?.display && diff === undefined ? [['What you see', <Markdown key="seen" text={result.display} />] as const] : []),
    ['Facts', <Facts key="facts" call={call} />],
  ]
  return <Tabs tabs={tabs} />
}

function modelText(result: NonNullable<CallItem['result']>): string {
  try {
    return render(result)
  } catch {
    return textOf(result)
  }
}

/** Tabs with the usual keys: the arrows move between them. */
function Tabs({ tabs }: { readonly tabs: readonly (readonly [label: string, content: ReactNode])[] }) {
  const [chosen, setChosen] = useState(0)
  const id = useId()
  const at = Math.min(chosen, tabs.length - 1)
  const move = (by: number, list: HTMLElement): void => {
    const next = (at + by + tabs.length) % tabs.length
    setChosen(next)
    list.querySelectorAll<HTMLElement>('[role=tab]')[next]?.focus()
  }
  return (
    <div className="details">
      <div
        role="tablist"
        aria-label="About this call"
        onKeyDown={(event) => {
          if (event.key === 'ArrowRight') move(1, event.currentTarget)
          if (event.key === 'ArrowLeft') move(-1, event.currentTarget)
        }}
      >
        {tabs.map(([label], index) => (
          <button
            key={label}
            type="button"
            role="tab"
            id={`${id}-tab-${index}`}
            aria-selected={index === at}
            aria-controls={`${id}-panel`}
            tabIndex={index === at ? 0 : -1}
            onClick={() => setChosen(index)}
          >
            {label}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-tab-${at}`} key={at}>
        {tabs[at]?.[1]}
      </div>
    </div>
  )
}

const json = (value: unknown): string => JSON.stringify(value) ?? String(value)

function Repairs({ call }: { readonly call: CallItem }) {
  return (
    <ul className="repairs">
      {call.repairs.map(({ at, repair: { kind, parameter, from, to, why } }) => {
        // "50" and 50 must not look the same.
        const asText = typeof from === typeof to || typeof to === 'object' ? textOf : json
        return (
          <li key={`${at}-${kind}-${parameter}`}>
            <p>
              <b>{kind.replaceAll('_', ' ')}</b>
              {parameter && <code>{oneLine(parameter, 80)}</code>} <span className="soft">{why}</span>
            </p>
            <div className="from-to">
              <Clip text={asText(from)} first={1000} />
              <span aria-hidden="true">→</span>
              <Clip text={asText(to)} first={1000} />
            </div>
          </li>
        )
      })}
    </ul>
  )
}

function Facts({ call }: { readonly call: CallItem }) {
  const { approvals, hint, closed, warning, late, result } = call
  const facts: [string, string | undefined][] = [
    ['Outcome', STATE_LABELS[stateOf(call)] + (result && !result.ok ? ` (${result.errorType})` : '')],
    ['Effect', call.effect],
    ['Target', call.target && oneLine(call.target, 300)],
    ['Asked for as', call.requestedTool && oneLine(call.requestedTool, 80)],
    ['Began', fullTime(call.at)],
    ['Took', call.durationMs === undefined ? undefined : duration(call.durationMs)],
    ['Attempts', call.attempts === undefined ? undefined : String(call.attempts)],
    ...approvals.map(({ reason, answer, answerReason, at, resolvedAt }): [string, string] => [
      'Approval',
      `${oneLine(reason, 200)} → ${answer ?? 'open'}${answerReason ? `: ${oneLine(answerReason, 200)}` : ''}${resolvedAt ? ` after ${duration(resolvedAt - at)}` : ''}`,
    ]),
    ['Hint', hint && `${hint.errorType}${hint.parameter ? ` in ${oneLine(hint.parameter, 80)}` : ''}, ${hint.triesLeft} tries left`],
    ['Tool closed', closed && (closed.until === 'turn' ? 'for this turn' : 'until another tool succeeds')],
    ['Loop guard', warning && `${warning.repeats} times the same${warning.blocked ? ', blocked' : ''}`],
    ['Late result', late && (late.result.ok ? 'it succeeded after its timeout' : `${late.result.status} after its timeout`)],
    ['Call', call.id],
  ]
  return (
    <dl className="facts">
      {facts.map(([name, value], at) =>
        value ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: several approvals have the same name
          <div key={at}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ) : null,
      )}
    </dl>
  )
}
