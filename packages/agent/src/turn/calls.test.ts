/** Tests the calls of a reply: their order, and what happens to them when the turn is resumed. */
import { type CallRecord, defineTool, type Effect, type Tool, type ToolEvent } from '@mulligan/core'
import type { ExecutorOptions } from '@mulligan/core/executor'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { AssistantMessage } from '../history/message.ts'
import { type JournalRow, recordedJournal } from '../journal/journal.ts'
import { type LoggedStep, strictJournal } from '../journal/strict.ts'
import { type CallContext, MAX_SIDE_BY_SIDE, runCalls } from './calls.ts'
import { createRecordedCalls } from './recorded-calls.ts'

const usage = { inputTokens: 0, outputTokens: 0 }
const reply = (...calls: readonly (readonly [name: string, input: object])[]): AssistantMessage => ({
  role: 'assistant',
  id: 's/1/1',
  turnId: 's/1',
  step: 1,
  parts: calls.map(([name, input], at) => ({ type: 'call', callId: `s/1/1/${at}`, wireId: `w${at}`, name, input: JSON.stringify(input) })),
  model: '',
  finishReason: 'tool-calls',
  usage,
})

interface Circumstances extends Partial<Omit<CallContext, 'calls'>> {
  readonly options?: Partial<ExecutorOptions>
  readonly emitted?: ReadonlySet<string>
}

/** Runs the calls of a reply. `order`: what was saved and emitted, in order. */
async function run(message: AssistantMessage, tools: readonly Tool[], { options, emitted, ...context }: Circumstances = {}) {
  const events: ToolEvent[] = []
  const order: string[] = []
  const journal = context.journal ?? strictJournal()
  const calls = createRecordedCalls({
    executor: { tools, policy: () => ({ decision: 'allow', reason: '' }), ...options },
    journal,
    emit: async (event) => {
      events.push(event)
      order.push(`${event.type} ${event.callId}`)
    },
    onEvent: () => undefined,
    save: async ({ id }) => void order.push(`saved ${id}`),
    emitted: emitted ?? new Set(),
  })
  const records = await runCalls(message, {
    approve: async () => ({ answer: 'nobody' }),
    answerTo: () => undefined,
    signal: new AbortController().signal,
    begun: new Map(),
    waits: () => undefined,
    ...context,
    journal,
    calls,
  })
  return { records, events, order, executor: calls.executor }
}

const outcomes = (records: readonly CallRecord[]) =>
  records.map(({ tool, target, result }) => [tool, target, result.ok ? 'ok' : result.status])

function mailer() {
  const sent: string[] = []
  const mail = defineTool<{ to: string; text: string }, unknown>({
    name: 'send_mail',
    description: 'Sends.',
    aliases: ['mail'],
    input: z.object({ to: z.string(), text: z.string() }),
    target: ({ to }) => to,
    execute: ({ to, text }) => void sent.push(`${to} ${text}`),
  })
  return { sent, tools: [mail] }
}

describe('the order of calls', () => {
  const toolsOf = (effects: readonly Effect[], execute: (at: number) => Promise<unknown>): Tool[] =>
    effects.map((effect, at) =>
      defineTool({ name: `tool_${at}`, description: 'Runs.', effect, input: z.object({}), execute: () => execute(at) }),
    )

  it('an effect waits for all before it and all after it wait for the effect, whatever the order; steps start in one order', async () => {
    const kinds = fc.array(fc.constantFrom<Effect>('read', 'write', 'external'), { minLength: 1, maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(kinds, fc.array(fc.nat(3), { minLength: 20, maxLength: 20 }), async (effects, pauses) => {
        const running = new Set<number>()
        const ended: number[] = []
        let most = 0
        const execute = (pause: (at: number) => number) => async (at: number) => {
          const alone = effects[at] !== 'read'
          if (alone) expect([...running]).toEqual([])
          for (const other of running) expect(effects[other]).toBe('read')
          running.add(at)
          most = Math.max(most, running.size)
          for (let n = 0; n < pause(at); n++) await Promise.resolve()
          running.delete(at)
          ended.push(at)
          if (alone) expect(ended.toSorted((a, b) => a - b)).toEqual(Array.from({ length: at + 1 }, (_, n) => n))
          return 'done'
        }
        const message = reply(...effects.map((_, at) => [`tool_${at}`, {}] as const))
        const [log, other]: LoggedStep[][] = [[], []]
        const first = await run(
          message,
          toolsOf(
            effects,
            execute((at) => pauses[at] ?? 0),
          ),
          { journal: strictJournal(log) },
        )
        expect(first.records.map(({ result }) => result.ok)).toEqual(effects.map(() => true))
        expect(most).toBeLessThanOrEqual(MAX_SIDE_BY_SIDE)
        expect(ended).toHaveLength(effects.length)
        ended.length = 0
        await run(
          message,
          toolsOf(
            effects,
            execute((at) => 3 - (pauses[at] ?? 0)),
          ),
          { journal: strictJournal(other) },
        )
        expect(other?.map(({ name }) => name)).toEqual(log?.map(({ name }) => name))
      }),
      { numRuns: 50 },
    )
  })

  it('reads that wait for an answer hold up no other read', async () => {
    const ended: string[] = []
    const answer = Promise.withResolvers<void>()
    const read = (name: string) =>
      defineTool({
        name,
        description: 'Reads.',
        effect: 'read',
        input: z.object({}),
        execute: () => {
          ended.push(name)
          if (name === 'b') answer.resolve()
          return name
        },
      })
    const { records } = await run(reply(['a', {}], ['b', {}], ['c', {}]), [read('a'), read('b'), read('c')], {
      options: { policy: ({ tool }) => ({ decision: tool === 'a' ? 'ask' : 'allow', reason: '' }) },
      approve: async () => {
        await answer.promise
        return { answer: 'once' }
      },
    })
    expect(records.map(({ result }) => result.ok)).toEqual([true, true, true])
    expect(ended).toEqual(['b', 'c', 'a'])
  })

  it('the outcome of a call is emitted once it is saved', async () => {
    const { order } = await run(reply(['send_mail', { to: 'ann', text: 'hi' }]), mailer().tools)
    expect(order).toEqual(['tool.call s/1/1/0', 'tool.started s/1/1/0', 'saved s/1/1/0', 'tool.result s/1/1/0'])
  })
})

describe('replayed', () => {
  const message = reply(['mail', { to: 'ann', text: 'hi' }], ['mail', { to: 'ann', text: 'hello' }], ['mail', { to: 'bob', text: 'hello' }])

  it('no finished step runs again, and the counters are as they were', async () => {
    const log: LoggedStep[] = []
    const wrong = reply(['mail', { to: 'ann' }], ['nope', {}], ['mail', { to: 'ann', text: 'hi' }])
    const first = await run(wrong, mailer().tools, { journal: strictJournal(log) })
    const { tools, sent } = mailer()
    const again = await run(wrong, tools, { journal: strictJournal(log), emitted: new Set(first.records.map(({ id }) => id)) })
    expect(again.records).toEqual(first.records)
    expect(again.executor.state()).toEqual(first.executor.state())
    expect([sent, again.events]).toEqual([[], []])
  })

  it('an outcome that was saved and not emitted is emitted', async () => {
    const log: LoggedStep[] = []
    await run(message, mailer().tools, { journal: strictJournal(log) })
    const emitted = new Set(['s/1/1/0', 's/1/1/2'])
    expect((await run(message, mailer().tools, { journal: strictJournal(log), emitted })).order).toContain('tool.result s/1/1/1')
  })

  /** The steps of the first call are recorded; `record` returns what the store has of its outcome. */
  async function begun(record: (done: CallRecord) => CallRecord | undefined) {
    const rows: JournalRow[] = []
    const first = await run(message, mailer().tools, {
      journal: recordedJournal([], [], (name, value) => void rows.push({ name, value: JSON.stringify(value) })),
    })
    const { tools, sent } = mailer()
    const kept = rows.filter(({ name }) => name === 'calls 1' || name === 'prepare 1/0')
    const { records } = await run(message, tools, {
      journal: recordedJournal(kept, [], async () => undefined),
      begun: new Map([['s/1/1/0', { effect: 'external', record: record(first.records[0] as CallRecord) }]]),
    })
    return { outcomes: outcomes(records), sent }
  }

  it('an effect that began and has no outcome is indeterminate: another on its target asks, one on another target runs', async () => {
    expect(await begun(() => undefined)).toEqual({
      outcomes: [
        ['send_mail', 'ann', 'indeterminate'],
        ['send_mail', 'ann', 'denied'],
        ['send_mail', 'bob', 'ok'],
      ],
      sent: ['bob hello'],
    })
  })

  it('one whose outcome is on record has that, though its step is not', async () => {
    const { outcomes, sent } = await begun((done) => done)
    expect(outcomes.map(([, , status]) => status)).toEqual(['ok', 'ok', 'ok'])
    expect(sent).toEqual(['ann hello', 'bob hello'])
  })
})
