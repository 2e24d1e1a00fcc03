/** Asks about one call in place: the exact effect first, then the answers, each with what it allows. */
import { useId, useState } from 'react'
import { api, ServerError } from '../api/client.ts'
import type { Answer, Approval } from '../api/types.ts'
import { Diff } from '../ui/diff.tsx'
import { useNotices } from '../ui/notices.tsx'
import { oneLine, safeText } from '../ui/safe-text.ts'
import { Input, textOf } from './value.tsx'

interface ApprovalCardProps {
  readonly approval: Approval
  readonly onAnswered: () => void
}

export function ApprovalCard({ approval, onAnswered }: ApprovalCardProps) {
  const { tool, target, effect, forced, agent, asks, input, diff, summary, hash, offers } = approval
  const [denying, setDenying] = useState(false)
  const [choosing, setChoosing] = useState(false)
  const [why, setWhy] = useState('')
  const [sent, setSent] = useState(false)
  const { attempt, say } = useNotices()
  const id = useId()

  const answer = async (given: Answer, more: { reason?: string; offer?: number } = {}): Promise<void> => {
    setSent(true)
    const done = await attempt(() =>
      api.answer(approval.id, { answer: given, hash, ...more }).catch((error: unknown) => {
        // Somebody else was first: the event with their answer is on its way.
        if (error instanceof ServerError && error.status === 409) onAnswered()
        throw error
      }),
    )
    if (done === undefined) return setSent(false)
    say(given === 'no' ? 'Denied.' : 'Approved.')
    onAnswered()
  }
  const rules = offers.always?.rules ?? []
  const reasons = [...new Set(asks.map(({ reason }) => oneLine(reason, 300)))].filter(Boolean).join('; ')

  return (
    <section className={`approval${forced ? ' forced' : ''}`} aria-labelledby={`${id}-title`}>
      <h4 id={`${id}-title`}>
        {agent && <span className="soft">{oneLine(agent, 40)}: </span>}
        Allow <code>{oneLine(tool, 64)}</code>
        {target && (
          <>
            {' on '}
            <code>{oneLine(target, 300)}</code>
          </>
        )}
        ?
      </h4>
      <p className="soft">
        {reasons && `${reasons[0]?.toUpperCase()}${reasons.slice(1)}. `}
        {EFFECTS[effect] ?? ''} {forced && 'Only a person may answer this.'}
      </p>
      {summary && <p>{oneLine(summary, 600)}</p>}
      {diff ? <Diff text={diff} /> : <Input input={input} />}
      {diff && INPUT_COUNTS.has(tool) && <Input input={input} />}
      {denying ? (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            void answer('no', why.trim() === '' ? {} : { reason: why.trim() })
          }}
        >
          <label htmlFor={`${id}-why`}>Why not? The model reads this.</label>
          <div className="inline">
            <input
              id={`${id}-why`}
              value={why}
              onChange={(event) => setWhy(event.target.value)}
              placeholder="optional"
              ref={focusOnce}
              maxLength={500}
            />
            <button type="submit" className="bad" disabled={sent}>
              Deny
            </button>
            <button type="button" className="quiet" onClick={() => setDenying(false)}>
              Back
            </button>
          </div>
        </form>
      ) : choosing ? (
        <fieldset className="rules">
          <legend>
            Always, by a rule in <code>{oneLine(offers.always?.file ?? '', 200)}</code>
          </legend>
          {rules.map((rule, offer) => (
            <div key={textOf(rule)} className="rule">
              <p>{ruleWords(rule)}</p>
              <pre>{ruleText(rule)}</pre>
              <button type="button" disabled={sent} onClick={() => void answer('always', { offer })}>
                Write this rule
              </button>
            </div>
          ))}
          <button type="button" className="quiet" onClick={() => setChoosing(false)}>
            Back
          </button>
        </fieldset>
      ) : (
        <div className="answers">
          <button type="button" className="primary" disabled={sent} onClick={() => void answer('once')}>
            Allow once
          </button>
          {offers.session && (
            <button type="button" disabled={sent} title={offers.session.text} onClick={() => void answer('session')}>
              This session
            </button>
          )}
          {rules.length > 0 && (
            <button type="button" disabled={sent} onClick={() => setChoosing(true)}>
              Always…
            </button>
          )}
          <button type="button" className="bad" disabled={sent} onClick={() => setDenying(true)}>
            Deny…
          </button>
        </div>
      )}
      {offers.session && !denying && !choosing && <p className="soft small">“This session” allows {oneLine(offers.session.text, 300)}.</p>}
    </section>
  )
}

const EFFECTS: Readonly<Record<string, string>> = {
  external: 'It reaches beyond this machine.',
}

/** Tools whose input says more than the diff. */
const INPUT_COUNTS = new Set(['bash'])

const focusOnce = (field: HTMLInputElement | null): void => field?.focus()

type Rules = readonly Readonly<Record<string, unknown>>[]

/** As it is written into the file, with spaces at which a long line breaks. */
const ruleText = (rules: Rules): string => rules.map((one) => safeText(JSON.stringify(one, undefined, 1).replace(/\n\s*/g, ' '))).join('\n')

/** What the rules allow, by the keys that limit them. */
function ruleWords(rules: Rules): string {
  const texts = rules.map(({ tool, target, folder }) =>
    [
      typeof tool === 'string' ? tool : 'any tool',
      typeof target === 'string' ? `on ${target}` : 'on anything',
      typeof folder === 'string' ? `in ${folder}` : 'in any folder',
    ].join(' '),
  )
  return `Allows ${oneLine([...new Set(texts)].join('; '), 400)}`
}
