import type { AgentEvent, TurnEvent, TurnOutcome } from '@mulligan/agent'
import { readSettings } from '@mulligan/host/parts'
import { describe, expect, it } from 'vitest'
import { plain } from './colors.ts'
import type { Output } from './output.ts'
import { textReporter } from './report.ts'

const at = (event: TurnEvent): AgentEvent => ({ ...event, sessionId: 's', turnId: 's/1', at: 0 })
const created = at({ type: 'message.created', messageId: 'm', step: 1, attempt: 1 })
const delta = (text: string): AgentEvent => at({ type: 'message.part.delta', messageId: 'm', text })
const discarded = at({ type: 'message.discarded', messageId: 'm', step: 1, why: 'it broke off' })
const outcome = (more: Partial<TurnOutcome>): TurnOutcome => ({
  sessionId: 's',
  turnId: 's/1',
  status: 'answered',
  answer: '',
  ledger: { changed: [], failed: [], unknown: [] },
  usage: { inputTokens: 1000, outputTokens: 234 },
  requests: 1,
  calls: [],
  ...more,
})

function watch(
  live: boolean,
  events: readonly AgentEvent[],
  end: TurnOutcome,
): { readonly out: string; readonly both: string; readonly err: string } {
  let out = ''
  let err = ''
  let both = ''
  const output: Output = {
    out: (text) => {
      out += text
      both += text
    },
    err: (text) => {
      err += text
      both += text
    },
    closed: new AbortController().signal,
    flush: async () => undefined,
  }
  const reporter = textReporter(output, {
    live,
    colors: plain,
    subject: () => '',
    model: { id: 'ollama/x', where: 'this machine' },
    agent: 'build',
    limits: readSettings('.', {}, {}).limits,
  })
  for (const event of events) reporter.event(event)
  reporter.end(end)
  return { out, both, err }
}

const STATUS = 'ollama/x · on this machine · 1 request · 1,234 tokens · session s\n'

describe('in a terminal', () => {
  it('the answer comes piece by piece, then what is under it', () => {
    const { both } = watch(true, [created, delta('Hel'), delta('lo.')], outcome({ answer: 'Hello.' }))
    expect(both).toBe(`Hello.\n\n${STATUS}`)
  })

  it('discarded text is named, and the answer begins again on a line of its own', () => {
    const { both } = watch(true, [created, delta('Hel'), discarded, created, delta('Hello.')], outcome({ answer: 'Hello.' }))
    expect(both).toBe(`Hel\nDiscarded: it broke off\nHello.\n\n${STATUS}`)
  })

  it('what the engine adds to an answer is shown too, and so is an answer that was not streamed', () => {
    expect(watch(true, [created, delta('Hel')], outcome({ answer: 'Hel\n\n[Cut off.]' })).out).toBe('Hel\n[Cut off.]\n')
    expect(watch(true, [created], outcome({ status: 'stopped', stoppedBy: 'requests', answer: 'I stopped.' })).out).toBe('I stopped.\n')
  })

  it('an escape sequence that is cut in two is left out', () => {
    expect(watch(true, [created, delta('a\u001b['), delta('31mb')], outcome({ answer: 'a\u001b[31mb' })).out).toBe('ab\n')
  })
})

describe('elsewhere', () => {
  it('stdout has the answer alone, once', () => {
    const { out, err } = watch(false, [created, delta('Hel'), discarded, created, delta('Hello.')], outcome({ answer: 'Hello.' }))
    expect(out).toBe('Hello.\n')
    expect(err).toBe(`Discarded: it broke off\n${STATUS}`)
  })

  it('the ledger says what was changed, what failed and what is unknown', () => {
    const entry = { callId: 'c', tool: 'write_file', effect: 'write', target: 'a.txt' } as const
    const ledger = {
      changed: [entry],
      failed: [
        { ...entry, target: 'b.txt', status: 'failed' as const, says: 'No room.' },
        { ...entry, target: 'd.txt', status: 'denied' as const, says: 'No.' },
      ],
      unknown: [{ ...entry, target: 'c.txt', status: 'indeterminate' as const, says: 'Cut off.' }],
    }
    const { err } = watch(false, [], outcome({ answer: 'Done.', ledger }))
    const failed = 'failed   write_file b.txt: No room.\ndenied   write_file d.txt: No.'
    expect(err).toBe(`changed  write_file a.txt\n${failed}\nunknown  write_file c.txt: Cut off.\n${STATUS}`)
  })
})

describe('thinking', () => {
  const thought = (text: string): AgentEvent => at({ type: 'reasoning.delta', messageId: 'm', text })

  it.each([true, false])('is one line before the answer, however long it was (live: %s)', (live) => {
    const { both } = watch(
      live,
      [created, thought('x'.repeat(3000)), thought('y'.repeat(500)), delta('Forty.')],
      outcome({ answer: 'Forty.' }),
    )
    expect(both).toBe(`Thought for about 1,000 tokens.\nForty.\n${live ? '\n' : ''}${STATUS}`)
  })

  it('that came to nothing is told before it is discarded', () => {
    const { err } = watch(true, [created, thought('x'.repeat(35)), discarded, created, delta('A.')], outcome({ answer: 'A.' }))
    expect(err).toMatch(/^Thought for about 10 tokens\.\nDiscarded: it broke off\n/)
  })
})
