/** A turn: everything between a message of the user and the answer, except for the requests themselves. */
import { hash, type ReplyCall } from '@mulligan/repair'
import type { ReadReply, SentCall, SentPart } from '../api/api.ts'
import type { CallRecord } from '../call/prepared-call.ts'
import type { ParsedCall } from '../call/resolve-call.ts'
import { createExecutor } from '../create-executor.ts'
import { systemClock } from '../run/run-tool.ts'
import { DEFAULT_LIMITS, type Limits } from '../turn/limits.ts'
import { type Concluding, closingWords, conclusion, reasonToConclude, refused } from './conclude.ts'
import type { ReplyListener, Step, Turn, TurnOptions } from './options.ts'
import { createTextReader, type SaidPart, type TextReader } from './read-calls.ts'
import { asking, runCalls } from './run-calls.ts'
import { sentCall } from './sent-calls.ts'

/** How many empty replies in a row are requested again. */
const MAX_EMPTY = 2

/**
 * Starts a turn. You make the requests and keep the messages; the turn reads the replies, runs the calls, and says when it is done.
 * State is not shared: two turns have no counters, closed tools or denials in common.
 * @throws TypeError when two tools have the same name, `api` is not a format, or the state is of another version
 * @example
 * const turn = startTurn({ api: openaiChat, tools, approve: ({ tool, target }) => confirm(`${tool} ${target}?`) })
 * for (;;) {
 *   const reply = await client.chat.completions.create({ model, messages, ...turn.request() })
 *   const step = await turn.reply(reply)
 *   messages.push(...step.messages)
 *   if (step.done) return step.text
 * }
 */
export function startTurn<Reply extends object, Chunk, Message, Request>(
  options: TurnOptions<Reply, Chunk, Message, Request>,
): Turn<Reply, Chunk, Message, Request> {
  const { api, tools, approve, leaks, signal, state: saved, limits: given, ...rest } = options
  if (typeof api?.read !== 'function') throw new TypeError('`api` must be a format, such as `openaiChat`')
  if (saved && saved.version !== 1) throw new TypeError(`the state is of version ${saved.version}, and this package continues version 1`)
  const limits: Limits = { ...DEFAULT_LIMITS, ...given }
  const clock = options.clock ?? systemClock
  const started = clock.now() - (saved?.elapsedMs ?? 0)
  const id = saved?.id ?? crypto.randomUUID()
  const used = new Set(saved?.ids)
  const executor = createExecutor({
    ...rest,
    tools,
    maxCalls: limits.calls,
    ...(signal && { signal }),
    ...(saved && { state: saved.executor }),
  })
  const specs = tools.map((tool) => ({ ...tool, parameters: tool.inputSchema }))
  let { requests, tokens, empty, asked } = saved ?? { requests: 0, tokens: 0, empty: 0, asked: false }
  let concluding = saved?.concluding
  let ended = saved?.done ?? false
  let isReading = false

  const elapsedMs = (): number => clock.now() - started
  const last = (): Concluding | undefined => {
    const spent = { requests, calls: executor.state().calls, tokens, cost: 0, seconds: elapsedMs() / 1000 }
    concluding ??= reasonToConclude(executor, spent, limits)
    return concluding
  }

  last()

  async function reply(given: Reply | AsyncIterable<Chunk>, listener: ReplyListener = {}): Promise<Step<Message>> {
    if (ended) throw new Error('This turn has ended. Start another one for the next message of the user.')
    if (isReading) throw new Error('This turn is still reading a reply. Wait for its step before the next request.')
    isReading = true
    try {
      const step = await stepOf(given, listener)
      ended = step.done
      return step
    } finally {
      isReading = false
    }
  }

  async function stepOf(given: Reply | AsyncIterable<Chunk>, { onText }: ReplyListener): Promise<Step<Message>> {
    const isStream = isIterable(given)
    const reader = createTextReader(specs, { leaks, asks: approve !== undefined, whole: !isStream }, isStream ? onText : undefined)
    const whole = isStream ? await streamed(given, reader) : given
    const read = api.read(whole)
    const { parts, text, asks } = reader.end(read)
    // Decided before the request: the model was told then.
    const by = concluding
    const results = await resultsOf(parts, by)
    requests++
    tokens += read.tokens
    if (results.length > 0) empty = 0
    asked &&= results.length === 0
    const step = { text, results, messages: api.write(sentParts(parts, results, read, by === undefined), whole) }
    return outcome(step, read.finish, by, asks)
  }

  async function streamed(chunks: AsyncIterable<Chunk>, reader: TextReader): Promise<Reply> {
    const stream = api.stream()
    for await (const chunk of chunks) {
      const delta = stream.push(chunk)
      if (delta) reader.push(delta)
    }
    return stream.end()
  }

  /** Runs the calls, or refuses them if the reply had to be the last one. */
  async function resultsOf(parts: readonly SaidPart[], by: Concluding | undefined): Promise<readonly CallRecord[]> {
    const step = requests + 1
    // If the request was repeated after an interruption, other calls may be in the places of those that have begun.
    const idOf = ({ name, input }: ReplyCall, ordinal: number): string => `${id}/${step}/${ordinal}/${hash(`${name} ${input}`)}`
    const calls = parts
      .filter((part) => part.type === 'call')
      .map(({ call }, ordinal): ParsedCall => ({ ...call, id: idOf(call, ordinal), wireId: call.id, step, ordinal }))
    if (by === undefined) return runCalls(calls, executor, asking(options))
    const records: CallRecord[] = []
    for (const call of calls) {
      const prepared = await executor.prepare(call)
      records.push(prepared.kind === 'result' ? prepared.record : await executor.settle(prepared.call, refused()))
    }
    return records
  }

  /** The last result also tells the model if its next reply has to be the last one. */
  function sentParts(parts: readonly SaidPart[], results: readonly CallRecord[], { signed }: ReadReply, goesOn: boolean): SentPart[] {
    const records = results[Symbol.iterator]()
    const all = parts.map((part): SentPart => {
      if (part.type !== 'call') return part
      const record = records.next().value as CallRecord
      return sentCall({ ...part, record }, { signed, used, ids: api.ids })
    })
    // Providers accept reasoning only before something else.
    const sent = all.slice(0, all.findLastIndex(({ type }) => type !== 'reasoning') + 1)
    const next = goesOn && results.length > 0 ? last() : undefined
    const at = sent.findLastIndex(({ type }) => type === 'call')
    if (next === undefined) return sent
    const call = sent[at] as SentCall
    return sent.with(at, { ...call, result: [...call.result, { type: 'text', text: conclusion(next) }] })
  }

  /** Decides whether the turn goes on after a reply. */
  function outcome(
    step: Omit<Step<Message>, 'done'>,
    finish: ReadReply['finish'],
    by: Concluding | undefined,
    asks: string | undefined,
  ): Step<Message> {
    const { text, results } = step
    const isEmpty = text.trim() === ''
    const isPaused = finish === 'paused' && results.length === 0
    // What the provider has not finished can only be sent to be continued.
    const messages = !isPaused || (by === undefined && !signal?.aborted) ? step.messages : isEmpty ? [] : [api.say('assistant', text)]
    if (signal?.aborted) return { ...step, messages, done: true, stoppedBy: 'aborted' }
    if (by === undefined) {
      if (results.length > 0 || finish === 'paused') return { ...step, done: false }
      if (asks !== undefined && !asked && last() === undefined) {
        asked = true
        // A message of the user follows a message of the model.
        const before = messages.length > 0 ? messages : [api.say('assistant', '[no answer]')]
        return { ...step, messages: [...before, api.say('user', asks)], done: false }
      }
      if (isEmpty && finish !== 'filtered' && ++empty <= MAX_EMPTY) return { ...step, messages: [], done: false }
      if (!isEmpty) return { ...step, done: true, ...(finish !== 'stop' && { stoppedBy: finish }) }
    }
    const stoppedBy = by ?? (finish === 'filtered' || finish === 'cut' ? finish : 'empty')
    if (!isEmpty && results.length === 0) return { ...step, messages, done: true, stoppedBy }
    const words = closingWords(stoppedBy, limits)
    return {
      results,
      messages: [...(isEmpty && results.length === 0 ? [] : messages), api.say('assistant', words)],
      text: isEmpty ? words : text,
      done: true,
      stoppedBy,
    }
  }

  return {
    request: () => (tools.length > 0 ? api.request(tools, last() !== undefined) : {}),
    reply,
    state: () => ({
      version: 1,
      id,
      requests,
      tokens,
      elapsedMs: elapsedMs(),
      empty,
      asked,
      done: ended,
      ...(concluding && { concluding }),
      ids: [...used],
      executor: executor.state(),
    }),
  }
}

const isIterable = <Chunk>(given: object): given is AsyncIterable<Chunk> => Symbol.asyncIterator in Object(given)
