/** A session: its heading, the chat or a timeline, and the composer. */
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { api } from '../api/client.ts'
import type { SessionDetails } from '../api/types.ts'
import { ApprovalCard } from '../chat/approval-card.tsx'
import { Composer } from '../chat/composer.tsx'
import { TurnView } from '../chat/turn-view.tsx'
import { isOpen, pendingApproval, type Turn } from '../conversation/conversation.ts'
import { TimelineView } from '../timeline/timeline-view.tsx'
import { useNotices } from '../ui/notices.tsx'
import { START } from '../ui/route.ts'
import { oneLine } from '../ui/safe-text.ts'
import { SessionHead } from './session-head.tsx'
import { useSession } from './use-session.ts'

interface SessionPageProps {
  readonly id: string
  readonly turn: string | undefined
  readonly onChanged: () => void
}

export function SessionPage({ id, turn: turnId, onChanged }: SessionPageProps) {
  const { conversation, connection, synced, approvals, reloadApprovals } = useSession(id)
  const [session, setSession] = useState<SessionDetails>()
  const { turns } = conversation
  const last = turns.at(-1)
  const running = last !== undefined && isOpen(last)
  useAnnouncements(last, synced)

  // biome-ignore lint/correctness/useExhaustiveDependencies: the title and the list follow the turns
  useEffect(() => {
    if (!synced) return
    api.session(id).then(setSession, () => undefined)
    onChanged()
  }, [id, synced, turns.length, last?.status, approvals.length])

  if (connection === 'gone')
    return (
      <div className="empty">
        <h1>There is no such session</h1>
        <p>
          It may have been deleted. <a href={START}>See all sessions</a>
        </p>
      </div>
    )
  const shown = turnId === undefined ? undefined : turns.find((one) => one.id === turnId)
  return (
    <>
      <SessionHead {...{ id, session, conversation, connection, onChanged }} timeline={turnId} />
      {turnId === undefined ? (
        <Chat {...{ id, turns, synced, approvals, reloadApprovals }} />
      ) : shown ? (
        <TimelineView turn={shown} sessionId={id} turns={turns} approvals={approvals} onAnswered={reloadApprovals} />
      ) : (
        synced && <p className="empty">This session has no such turn.</p>
      )}
      {turnId === undefined && <Composer key={id} sessionId={id} running={running} waiting={approvals.length > 0} />}
    </>
  )
}

type ChatProps = Pick<ReturnType<typeof useSession>, 'synced' | 'approvals' | 'reloadApprovals'> & {
  readonly id: string
  readonly turns: readonly Turn[]
}

function Chat({ id, turns, synced, approvals, reloadApprovals }: ChatProps) {
  const box = useRef<HTMLDivElement>(null)
  const atEnd = useRef(true)
  const [away, setAway] = useState(false)
  const onScroll = (): void => {
    const element = box.current
    if (!element) return
    atEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < 60
    setAway(!atEnd.current)
  }
  const toEnd = (): void => {
    box.current?.scrollTo({ top: box.current.scrollHeight })
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: follows what is added
  useLayoutEffect(() => {
    if (atEnd.current) toEnd()
  }, [turns, approvals])

  // Also when the window changes, or an answer gets taller without an event.
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls by refs only
  useEffect(() => {
    const { current } = box
    if (!current) return
    const sized = new ResizeObserver(() => {
      if (atEnd.current) toEnd()
    })
    sized.observe(current)
    if (current.firstElementChild) sized.observe(current.firstElementChild)
    return () => sized.disconnect()
  }, [])

  const calls = new Set(
    turns.flatMap(({ items }) => items.flatMap((item) => (item.kind === 'call' && pendingApproval(item) ? [item.id] : []))),
  )
  const elsewhere = approvals.filter(({ callId }) => !calls.has(callId))
  return (
    <div className="chat" ref={box} onScroll={onScroll}>
      <div className="column">
        {!synced && turns.length === 0 && <p className="soft empty">Loading…</p>}
        {synced && turns.length === 0 && <p className="soft empty">Nothing here yet. Write the first message.</p>}
        {turns.map((turn, at) => (
          <TurnView
            key={turn.id}
            turn={turn}
            number={at + 1}
            sessionId={id}
            next={turns[at + 1]?.id}
            // Only the turn with the questions is drawn again when they change.
            approvals={isOpen(turn) ? approvals : NONE}
            onAnswered={reloadApprovals}
          />
        ))}
        {elsewhere.map((approval) => (
          <ApprovalCard key={approval.id} approval={approval} onAnswered={reloadApprovals} />
        ))}
      </div>
      {away && (
        <button type="button" className="to-end" onClick={toEnd}>
          ↓ Latest
        </button>
      )}
    </div>
  )
}

const NONE: ChatProps['approvals'] = []

/** Says what a person who cannot see the page has to know. */
function useAnnouncements(turn: Turn | undefined, synced: boolean): void {
  const { say } = useNotices()
  const question = turn?.items.findLast((item) => item.kind === 'call' && pendingApproval(item))
  const text =
    question?.kind === 'call'
      ? `Approval needed: ${question.tool} ${oneLine(question.target ?? '', 100)}`
      : turn && !isOpen(turn)
        ? `Turn ${turn.status.replace('_', ' ')}.`
        : ''
  const before = useRef<string>(undefined)
  useEffect(() => {
    if (!synced) return
    // What was so before the page was opened is no news.
    if (before.current !== undefined && before.current !== text && text !== '') say(text)
    before.current = text
  }, [text, synced, say])
}
