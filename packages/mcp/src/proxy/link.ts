/** Keeps a server running: starts it when it is needed, again after it ended, and tells a new process what the old one knew. */
import { backoff, type Clock } from '@mulligan/core/executor'
import { idKey, type Message, notification, type Params, request } from './messages.ts'
import type { OpenServer, ServerConnection, ServerEvents } from './server.ts'

export type Answer = Extract<Message, { kind: 'response' }>

export interface LinkOptions extends Omit<ServerEvents, 'closed'> {
  readonly open: OpenServer
  readonly clock: Clock
  /** How often the server is started again within ten minutes. */
  readonly restarts: number
  /** Milliseconds for an answer to a request of the proxy's own. */
  readonly timeout: number
  /** What a new process has to be told: the client's `initialize`, and its settings as lines. */
  readonly session: () => { readonly initialize: Params; readonly settings: Iterable<string> } | undefined
  readonly started: () => void
  /** The server ended. What was sent and not answered is lost; what was not sent yet waits. */
  readonly ended: (why: string) => void
  /** The server ends again and again. What waits is dropped. */
  readonly gaveUp: (why: string) => void
}

export interface Link {
  /** Sends a line as soon as the server runs. @param onSent called when it is on its way */
  readonly deliver: (line: string, onSent?: () => void) => void
  /** Sends a line if the server runs. */
  readonly notify: (line: string) => void
  /** Sends a request of the proxy's own. @returns undefined if there is no answer in time */
  readonly ask: (method: string, params: Params) => Promise<Answer | undefined>
  /** Takes the answer to a request of the proxy's own. @returns false for any other */
  readonly takes: (answer: Answer) => boolean
  readonly close: () => Promise<void>
}

const WINDOW = 600_000

export function createLink({ open, clock, restarts, timeout, session, started, ended, gaveUp, ...events }: LinkOptions): Link {
  const own = new Map<string, (answer: Answer | undefined) => void>()
  let connection: ServerConnection | undefined
  let isReady = false
  let isEnding = false
  let isStarting = false
  let queue: { readonly line: string; readonly onSent?: () => void }[] = []
  let ends: number[] = []
  let lastWhy = ''
  let count = 0

  function start(): void {
    if (isStarting) return
    isStarting = true
    void startServer().finally(() => {
      isStarting = false
      if (queue.length > 0 && !isReady) start()
    })
  }

  async function startServer(): Promise<void> {
    if (connection || isEnding) return
    ends = ends.filter((at) => clock.now() - at < WINDOW)
    if (ends.length > restarts) {
      queue = []
      gaveUp(`it ended ${ends.length} times in ten minutes, the last time with ${lastWhy}`)
      return
    }
    if (ends.length > 0) await clock.sleep(backoff(ends.length + 1, clock.random()))
    if (isEnding) return
    let isOpen = true
    const opened = open({
      line: (line) => isOpen && events.line(line),
      long: (line) => isOpen && events.long(line),
      lost: (id, why, unsent) => isOpen && events.lost(id, why, unsent),
      closed(why) {
        if (isOpen) onClosed(why)
        isOpen = false
      },
    })
    if (!isOpen) return
    connection = opened
    started()
    const known = session()
    if (known) {
      const answer = await ask('initialize', known.initialize)
      if (connection !== opened) return
      if (!answer) return void opened.close()
      opened.send(notification('notifications/initialized'))
      for (const line of known.settings) opened.send(line)
    }
    isReady = true
    for (const { line, onSent } of queue.splice(0)) {
      onSent?.()
      opened.send(line)
    }
  }

  function onClosed(why: string): void {
    connection = undefined
    isReady = false
    lastWhy = why
    ends.push(clock.now())
    for (const settle of [...own.values()]) settle(undefined)
    if (!isEnding) ended(why)
    if (queue.length > 0) start()
  }

  function deliver(line: string, onSent?: () => void): void {
    if (isEnding) return
    if (isReady && connection) {
      onSent?.()
      connection.send(line)
    } else {
      queue.push({ line, ...(onSent && { onSent }) })
      start()
    }
  }

  async function ask(method: string, params: Params): Promise<Answer | undefined> {
    const id = `mulligan-${++count}`
    const timer = new AbortController()
    const answered = Promise.withResolvers<Answer | undefined>()
    own.set(idKey(id), answered.resolve)
    void clock.sleep(timeout, timer.signal).then(() => answered.resolve(undefined))
    const line = request(id, method, params)
    if (method === 'initialize') connection?.send(line)
    else deliver(line)
    const answer = await answered.promise
    own.delete(idKey(id))
    timer.abort()
    return answer
  }

  return {
    deliver,
    ask,
    notify: (line) => void (isReady && connection?.send(line)),
    takes(answer) {
      const settle = own.get(idKey(answer.id))
      settle?.(answer)
      return settle !== undefined
    },
    async close() {
      isEnding = true
      queue = []
      await connection?.close()
    },
  }
}
