/** One turn: the prompt, what happened in order, the answer, and the ledger. */
import { duration } from '@mulligan/server/present'
import { memo } from 'react'
import { api } from '../api/client.ts'
import type { Approval } from '../api/types.ts'
import { type CallItem, type Item, isOpen, pendingApproval, type RequestItem, type Turn } from '../conversation/conversation.ts'
import { Clip } from '../ui/clip.tsx'
import { Markdown } from '../ui/markdown.tsx'
import { useNotices } from '../ui/notices.tsx'
import { go, sessionHref, timelineHref } from '../ui/route.ts'
import { oneLine, sentence } from '../ui/safe-text.ts'
import { fullTime, shortTime, tokens } from '../ui/time.ts'
import { CallCard } from './call-card.tsx'
import { LedgerView } from './ledger.tsx'

interface TurnViewProps {
  readonly turn: Turn
  readonly number: number
  readonly sessionId: string
  /** The turn after this one; undefined for the last. */
  readonly next: string | undefined
  readonly approvals: readonly Approval[]
  readonly onAnswered: () => void
}

export const TurnView = memo(({ turn, number, sessionId, next, approvals, onAnswered }: TurnViewProps) => (
  <article className={`turn${turn.rewound ? ' rewound' : ''}`} aria-label={`Turn ${number}`}>
    <header className="prompt" data-nav tabIndex={-1}>
      <div className="prompt-head soft">
        <span>You</span>
        <time dateTime={new Date(turn.startedAt).toISOString()} title={fullTime(turn.startedAt)}>
          {shortTime(turn.startedAt)}
        </time>
        {turn.rewound && <span className="badge">taken back</span>}
      </div>
      <Clip text={turn.prompt} first={4000} className="prompt-text" />
    </header>
    {blocksOf(turn.items).map((block) =>
      Array.isArray(block) ? (
        <ul key={block[0]?.id} className="calls">
          {block.map((call: CallItem) => (
            <CallCard key={call.id} call={call} approval={approvals.find(({ callId }) => callId === call.id)} onAnswered={onAnswered} />
          ))}
        </ul>
      ) : (
        <Said key={(block as Item).id} item={block as Exclude<Item, CallItem>} isLive={turn.status === 'running'} />
      ),
    )}
    <TurnEnd turn={turn} sessionId={sessionId} next={next} />
  </article>
))
TurnView.displayName = 'TurnView'

/** Groups calls that follow each other. */
function blocksOf(items: readonly Item[]): readonly (Exclude<Item, CallItem> | CallItem[])[] {
  const blocks: (Exclude<Item, CallItem> | CallItem[])[] = []
  for (const item of items) {
    const last = blocks.at(-1)
    if (item.kind !== 'call') {
      if (item.kind === 'note' || isShown(item)) blocks.push(item)
    } else if (Array.isArray(last)) last.push(item)
    else blocks.push([item])
  }
  return blocks
}

const isShown = ({ text, reasoning, attempts, completedAt, quoted }: RequestItem): boolean =>
  text.trim() !== '' || reasoning !== '' || quoted.length > 0 || completedAt === undefined || attempts.some(({ why }) => why !== undefined)

function Said({ item, isLive }: { readonly item: Exclude<Item, CallItem>; readonly isLive: boolean }) {
  if (item.kind === 'note')
    return (
      <p className={`note ${item.tone}`}>
        <span className="hidden">{item.tone}: </span>
        {oneLine(item.text, 1000)}
      </p>
    )
  const isWriting = isLive && item.completedAt === undefined
  return (
    <div className={`said${isWriting ? ' writing' : ''}`}>
      {item.attempts.map(({ at, why, backoffMs }) =>
        why === undefined || why === STOPPED ? null : (
          <p key={at} className="note warning">
            {sentence(oneLine(why, 600))}
            {backoffMs !== undefined && <span className="soft"> Tried again after {duration(backoffMs)}.</span>}
          </p>
        ),
      )}
      {item.reasoning !== '' && (
        <details className="reasoning">
          <summary>{isWriting && item.text === '' ? 'Thinking…' : 'Thinking'}</summary>
          <Clip text={item.reasoning} first={8000} className="plain" />
        </details>
      )}
      {item.text.trim() !== '' && <Markdown text={item.text} />}
      {item.quoted.map(({ raw, why }) => (
        <details key={raw} className="note warning">
          <summary>A call in the text was not run: {oneLine(why, 300)}</summary>
          <Clip text={raw} first={2000} />
        </details>
      ))}
      {isWriting && item.text === '' && item.reasoning === '' && (
        <p className="soft thinking">
          <i />
          <i />
          <i />
          <span className="hidden">The model has not answered yet.</span>
        </p>
      )}
    </div>
  )
}

/** Why the engine discarded a reply when the person stopped the turn, which the status says. */
const STOPPED = 'the turn was stopped'

const LIMITS: Readonly<Record<string, string>> = {
  ...{ loop: 'Stopped: it repeated itself', requests: 'Stopped: limit of model requests', calls: 'Stopped: limit of tool calls' },
  ...{ tokens: 'Stopped: limit of tokens', cost: 'Stopped: limit of cost', seconds: 'Stopped: time limit' },
}

const STATUS: Readonly<Record<Turn['status'], string>> = {
  ...{ running: 'Running', answered: 'Answered', failed: 'Failed', stopped: 'Stopped at a limit' },
  ...{ needs_approval: 'Needed an approval', cancelled: 'Stopped by you', interrupted: 'Interrupted', waiting: 'Waiting for you' },
}

function TurnEnd({ turn, sessionId, next }: Pick<TurnViewProps, 'turn' | 'sessionId' | 'next'>) {
  const { attempt } = useNotices()
  const { status, error, endedAt, startedAt, ledger, requests, stoppedBy = '' } = turn
  const isWaiting = turn.items.some((item) => item.kind === 'call' && pendingApproval(item) !== undefined)
  const isSaid = turn.items.some((item) => item.kind === 'note' && item.text === error)
  const branch = async (): Promise<void> => {
    const made = await attempt(() => api.branch(sessionId, next))
    if (made) go(sessionHref(made.id))
  }
  const calls = turn.items.filter(({ kind }) => kind === 'call').length
  const facts = [
    endedAt === undefined ? '' : duration(endedAt - startedAt),
    requests > 0 ? `${requests} ${requests === 1 ? 'request' : 'requests'}` : '',
    calls > 0 ? `${calls} ${calls === 1 ? 'call' : 'calls'}` : '',
    turn.inputTokens > 0 ? `${tokens(turn.inputTokens)} in, ${tokens(turn.outputTokens)} out` : '',
  ]
  return (
    <>
      {ledger && <LedgerView ledger={ledger} sessionId={sessionId} turnId={turn.id} canUndo={!isOpen(turn)} />}
      {error && !isSaid && <p className="note error">{oneLine(error, 1000)}</p>}
      <footer className="turn-end">
        <span className={`status ${isWaiting ? 'needs_approval' : status}`}>
          {isWaiting ? 'Waiting for you' : (LIMITS[status === 'stopped' ? stoppedBy : ''] ?? STATUS[status])}
        </span>
        <span className="facts-line soft">{facts.filter(Boolean).join(' · ')}</span>
        <span className="turn-actions">
          <a href={timelineHref(sessionId, turn.id)}>Timeline</a>
          {!isOpen(turn) && (
            <button type="button" className="quiet" onClick={() => void branch()} title="A new session with the conversation up to here">
              Branch
            </button>
          )}
          {next === undefined && !isOpen(turn) && (
            <button type="button" className="quiet" onClick={() => void attempt(() => api.retry(sessionId))}>
              Retry
            </button>
          )}
        </span>
      </footer>
    </>
  )
}
