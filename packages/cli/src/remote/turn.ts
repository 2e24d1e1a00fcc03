/** Follows a turn that runs on a server until it ends or nobody here can answer its questions. */
import type { AgentEvent, ResultsMessage, TurnOutcome, Usage } from '@mulligan/agent'
import type { ApprovalQuestion, AskApproval } from '@mulligan/host/parts'
import { type Approval, type CallInput, ServerError } from '@mulligan/server/client'
import { type Remote, told } from './server.ts'

export interface RemoteTurnOptions {
  readonly remote: Remote
  readonly sessionId: string
  readonly turnId: string
  /** Only events after the one with this id are reported. */
  readonly after: number
  /** Whether it waits for answers already. */
  readonly isWaiting: boolean
  readonly onEvent: (event: AgentEvent) => void
  /** Absent if nobody can be asked: the turn is left waiting, and can be answered elsewhere. */
  readonly ask: AskApproval | undefined
  /** Allows everything that does not need a person's own word. */
  readonly yes: boolean
  /** Stops the turn on the server. */
  readonly signal: AbortSignal
  /** Called with what the person should know. */
  readonly tell: (text: string) => void
}

type Answer = Omit<CallInput<'POST /api/approvals/:id'>['body'], 'hash'>

/** Connections that may fail one after another: about 40 seconds. */
const TRIES = 10

/** @throws UsageError if the server fails or is gone */
export async function followTurn(options: RemoteTurnOptions): Promise<TurnOutcome> {
  const { remote, sessionId, turnId, signal, tell } = options
  const { client, url } = remote
  const over = new AbortController()
  let failure: unknown
  let isLeft = false
  /** Aborted when a question is answered elsewhere. */
  let asking: AbortController | undefined
  let ended: Omit<TurnOutcome, 'calls'> | undefined
  let usage: Usage = { inputTokens: 0, outputTokens: 0 }
  let requests = 0

  const stop = (): void => {
    client.call('POST /api/sessions/:id/abort', { params: { id: sessionId } }).catch(fail)
  }
  function fail(error: unknown): void {
    failure ??= error
    over.abort()
  }

  /** Answers what waits, in order. Leaves the turn if a question is for somebody else. */
  async function answerAll(withdrawn: AbortSignal): Promise<void> {
    const { approvals } = await client.call('GET /api/approvals', { query: { session: sessionId } })
    for (const approval of approvals) {
      const answer = await answerTo(approval, withdrawn)
      if (withdrawn.aborted || signal.aborted) return
      if (!answer) {
        isLeft = true
        return over.abort()
      }
      try {
        await client.call('POST /api/approvals/:id', { params: { id: approval.id }, body: { ...answer, hash: approval.hash } })
      } catch (error) {
        if (!(error instanceof ServerError) || error.status !== 409) throw error
        tell('This was answered elsewhere.')
      }
    }
  }

  async function answerTo(approval: Approval, withdrawn: AbortSignal): Promise<Answer | undefined> {
    if (options.yes && !approval.forced) return { answer: 'once' } as const
    if (!options.ask) return undefined
    const given = await options.ask(questionOf(approval), withdrawn)
    const { answer } = given
    return answer === 'timeout' ? undefined : { ...given, answer }
  }

  function question(): void {
    asking = new AbortController()
    answerAll(asking.signal).catch(fail)
  }

  function took(event: AgentEvent): void {
    if (event.type === 'usage') usage = sum(usage, event.usage)
    if (event.type === 'message.created' && event.attempt === 1) requests += 1
    options.onEvent(event)
    if (event.turnId !== turnId) return
    if (event.type === 'turn.started' || event.type === 'turn.ended') asking?.abort()
    if (event.type === 'turn.waiting') question()
    if (event.type !== 'turn.ended') return
    ended = event.outcome
    over.abort()
  }

  if (signal.aborted) stop()
  signal.addEventListener('abort', stop)
  if (options.isWaiting) question()
  try {
    const unique = withoutRepeats()
    for await (const item of client.events(sessionId, { after: options.after, signal: over.signal, tries: TRIES })) {
      if (item.kind === 'connected') unique.connected()
      if (item.kind === 'event') for (const event of unique.pass(item.event)) took(event)
    }
  } catch (error) {
    failure ??= error
  } finally {
    signal.removeEventListener('abort', stop)
    asking?.abort()
  }
  if (ended) return { ...ended, calls: await callsOf(remote, sessionId, turnId) }
  if (failure !== undefined) return told(url, Promise.reject(failure))
  if (!isLeft) throw new Error('the stream of the turn ended before it did')
  return {
    ...{ sessionId, turnId, status: 'waiting', answer: 'I am waiting for approval.', stoppedBy: 'approval' },
    ...{ ledger: { changed: [], failed: [], unknown: [] }, usage, requests },
    calls: await callsOf(remote, sessionId, turnId),
  }
}

const sum = (a: Usage, b: Usage): Usage => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
})

/** Returns the records of a turn's calls, which its events have in parts only. */
async function callsOf({ client, url }: Remote, sessionId: string, turnId: string): Promise<TurnOutcome['calls']> {
  const { messages } = await told(url, client.call('GET /api/sessions/:id/messages', { params: { id: sessionId } }))
  return messages.flatMap((message) => {
    const { role, turnId: of, records } = message as unknown as ResultsMessage
    return role === 'results' && of === turnId ? records : []
  })
}

/** After a broken connection, what a message says so far comes again in one piece; only what is new of it is passed on. */
function withoutRepeats() {
  const said = { 'message.part.delta': '', 'reasoning.delta': '' }
  const isRepeat = { 'message.part.delta': false, 'reasoning.delta': false }
  return {
    connected: (): void => {
      for (const type of ['message.part.delta', 'reasoning.delta'] as const) isRepeat[type] = said[type] !== ''
    },
    pass: (event: AgentEvent): readonly AgentEvent[] => {
      const { type } = event
      if (type === 'message.created' || type === 'message.completed' || type === 'message.discarded')
        for (const kind of ['message.part.delta', 'reasoning.delta'] as const) {
          said[kind] = ''
          isRepeat[kind] = false
        }
      if (type !== 'message.part.delta' && type !== 'reasoning.delta') return [event]
      const text = isRepeat[type] && event.text.startsWith(said[type]) ? event.text.slice(said[type].length) : event.text
      isRepeat[type] = false
      said[type] += text
      return text === '' ? [] : [{ ...event, text }]
    },
  }
}

/** Builds the question that the terminal asks out of what the server sends. */
export function questionOf(approval: Approval): ApprovalQuestion {
  const { tool, effect, target, reason, forced, agent, input, callId, diff, summary, asks, offers, hash } = approval
  return {
    request: {
      ...{ callId, tool, effect, target, reason, forced, input, targets: asks.map((one) => one.target) },
      ...(agent !== undefined && { agent }),
      ...(summary !== undefined && { changes: { hash, summary, targets: [], ...(diff !== undefined && { diff }) } }),
    } as unknown as ApprovalQuestion['request'],
    asks,
    ...(diff !== undefined && summary === undefined && { diff }),
    ...(offers.session && { session: { covers: offers.session.text } as NonNullable<ApprovalQuestion['session']> }),
    ...(offers.always && {
      always: { file: offers.always.file, offers: offers.always.rules } as unknown as NonNullable<ApprovalQuestion['always']>,
    }),
  }
}
