/**
 * Follows the events of a session: replays what is stored, then stays live. After a break it continues behind the last stored event that
 * arrived. A hidden tab lets go of its connection, because browsers allow six per server.
 */
import { createSseReader } from '@mulligan/server/client'
import { authorized, refuse } from './client.ts'
import type { AgentEvent } from './types.ts'

export type Connection = 'connecting' | 'live' | 'lost' | 'gone'

export interface StreamHandlers {
  /** @param synced the replay has ended */
  readonly onEvents: (events: readonly AgentEvent[], synced: boolean) => void
  /** A new connection begins: deltas of unfinished messages come again from their start. */
  readonly onConnect: () => void
  /** The server no longer knows the position: everything comes again. */
  readonly onReset: () => void
  readonly onConnection: (state: Connection) => void
}

/** The server sends heartbeats more often than this. */
const SILENCE = 60_000
const HIDDEN = 30_000
const LONGEST_PAUSE = 10_000

/** @returns a function that ends it */
export function followSession(sessionId: string, handlers: StreamHandlers): () => void {
  let last = 0
  let ended = false
  let fails = 0
  let current: AbortController | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let hiding: ReturnType<typeof setTimeout> | undefined

  async function connect(): Promise<void> {
    const controller = new AbortController()
    current = controller
    let silence: ReturnType<typeof setTimeout> | undefined
    const heard = (): void => {
      clearTimeout(silence)
      silence = setTimeout(() => controller.abort(), SILENCE)
    }
    try {
      heard()
      const response = await fetch(`api/sessions/${encodeURIComponent(sessionId)}/events?after=${last}`, {
        headers: authorized({ accept: 'text/event-stream' }),
        signal: controller.signal,
      })
      if (response.status === 401) return refuse()
      if (response.status === 404) {
        ended = true
        return handlers.onConnection('gone')
      }
      if (!response.ok || !response.body) throw new Error(`HTTP ${response.status}`)
      handlers.onConnect()
      const reader = createSseReader()
      for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
        heard()
        take(reader.push(piece))
      }
    } catch {
      // Broken, silent or let go: it is tried again below.
    } finally {
      clearTimeout(silence)
    }
    if (ended || current !== controller) return
    fails += 1
    handlers.onConnection('lost')
    timer = setTimeout(() => void connect(), Math.min(LONGEST_PAUSE, 250 * 2 ** fails))
  }

  function take(messages: ReturnType<ReturnType<typeof createSseReader>['push']>): void {
    const events: AgentEvent[] = []
    let synced = false
    for (const { event, data, id } of messages) {
      if (event === 'synced') synced = true
      else if (event === 'reset') {
        last = 0
        events.length = 0
        handlers.onReset()
      } else {
        const parsed = JSON.parse(data) as AgentEvent
        const position = id === undefined ? parsed.id : Number(id)
        // What comes twice is taken once.
        if (position !== undefined && position <= last) continue
        if (position !== undefined) last = position
        events.push(parsed)
      }
    }
    if (synced) {
      fails = 0
      handlers.onConnection('live')
    }
    if (events.length > 0 || synced) handlers.onEvents(events, synced)
  }

  function letGo(): void {
    clearTimeout(timer)
    const controller = current
    current = undefined
    controller?.abort()
  }

  function onVisibility(): void {
    clearTimeout(hiding)
    if (document.visibilityState === 'hidden') hiding = setTimeout(letGo, HIDDEN)
    else if (current === undefined && !ended) void connect()
  }

  document.addEventListener('visibilitychange', onVisibility)
  handlers.onConnection('connecting')
  void connect()
  return () => {
    ended = true
    clearTimeout(hiding)
    document.removeEventListener('visibilitychange', onVisibility)
    letGo()
  }
}
