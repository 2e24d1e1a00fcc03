/** The live state of a session: its conversation, open questions, and the connection. */
import { useCallback, useEffect, useRef, useState } from 'react'
import { api } from '../api/client.ts'
import { type Connection, followSession } from '../api/stream.ts'
import type { AgentEvent, Approval } from '../api/types.ts'
import { applyEvents, type Conversation, EMPTY, withoutPartials } from '../conversation/conversation.ts'

export interface LiveSession {
  readonly conversation: Conversation
  readonly connection: Connection
  /** The stored events have arrived. */
  readonly synced: boolean
  readonly approvals: readonly Approval[]
  readonly reloadApprovals: () => void
}

const QUESTIONS = new Set<string>(['tool.approval.required', 'tool.approval.resolved', 'turn.waiting', 'turn.ended', 'task.event'])

export function useSession(sessionId: string): LiveSession {
  const [conversation, setConversation] = useState<Conversation>(EMPTY)
  const [connection, setConnection] = useState<Connection>('connecting')
  const [synced, setSynced] = useState(false)
  const [approvals, setApprovals] = useState<readonly Approval[]>([])
  const loading = useRef(0)

  const reloadApprovals = useCallback(() => {
    loading.current += 1
    const mine = loading.current
    api.approvals(sessionId).then(
      ({ approvals: found }) => {
        if (mine === loading.current) setApprovals(found.filter(({ status }) => status === 'pending'))
      },
      () => undefined,
    )
  }, [sessionId])

  useEffect(() => {
    let held: AgentEvent[] = []
    let frame: number | undefined
    let timer: ReturnType<typeof setTimeout> | undefined
    let live = false
    const flush = (): void => {
      if (frame !== undefined) cancelAnimationFrame(frame)
      clearTimeout(timer)
      frame = undefined
      timer = undefined
      const events = held
      held = []
      if (events.length > 0) setConversation((before) => applyEvents(before, events))
    }
    const end = followSession(sessionId, {
      onEvents(events, isSynced) {
        held.push(...events)
        if (isSynced) {
          live = true
          flush()
          setSynced(true)
        }
        if (isSynced || (live && events.some((event) => QUESTIONS.has(event.type)))) reloadApprovals()
        // The replay is shown at once; after it, at most once a frame. Hidden tabs have no frames.
        if (!live || timer !== undefined) return
        frame = requestAnimationFrame(flush)
        timer = setTimeout(flush, 200)
      },
      onConnect: () => {
        flush()
        setConversation(withoutPartials)
      },
      onReset: () => {
        held = []
        setConversation(EMPTY)
      },
      onConnection: setConnection,
    })
    return () => {
      end()
      if (frame !== undefined) cancelAnimationFrame(frame)
      clearTimeout(timer)
    }
  }, [sessionId, reloadApprovals])

  return { conversation, connection, synced, approvals, reloadApprovals }
}
