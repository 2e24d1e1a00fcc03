/** Calls of a reply whose turn is taken up again, where something of them is missing. */
import { createExecutor, defineTool, type ToolEvent } from '@mulligan/core'
import { expect, it } from 'vitest'
import { z } from 'zod'
import type { AssistantMessage } from '../history/message.ts'
import { pastCalls, runCalls } from './calls.ts'
import { memoryJournal } from './journal.ts'

const usage = { inputTokens: 0, outputTokens: 0 }
const message = (...inputs: readonly { to: string; text: string }[]): AssistantMessage => ({
  role: 'assistant',
  id: 's/1/1',
  turnId: 's/1',
  step: 1,
  parts: inputs.map((input, at) => ({ type: 'call', callId: `s/1/1/${at}`, wireId: `w${at}`, name: 'mail', input: JSON.stringify(input) })),
  model: '',
  finishReason: 'tool-calls',
  usage,
})

/** The first call is done, says the journal; its record is gone. `events`: what is left of it. */
async function lostFirst(events: readonly ToolEvent[], ...inputs: readonly { to: string; text: string }[]) {
  const sent: string[] = []
  const mail = defineTool<{ to: string; text: string }, unknown>({
    name: 'send_mail',
    description: 'Sends.',
    aliases: ['mail'],
    input: z.object({ to: z.string(), text: z.string() }),
    target: ({ to }) => to,
    execute: ({ to, text }) => void sent.push(`${to} ${text}`),
  })
  const saved: string[] = []
  const executor = createExecutor({ tools: [mail], events, policy: () => ({ decision: 'allow', reason: '' }) })
  const records = await runCalls(message(...inputs), {
    executor,
    journal: memoryJournal(new Map([['call 1/0', 's/1/1/0']])),
    approve: async () => ({ answer: 'nobody' }),
    signal: new AbortController().signal,
    save: async ({ id }) => void saved.push(id),
    recorded: () => undefined,
    ...pastCalls(events),
  })
  return { records: records.map(({ tool, target, result }) => [tool, target, result.ok ? 'ok' : result.status]), sent, saved }
}

const asked = (to: string): ToolEvent => ({
  type: 'tool.call',
  callId: 's/1/1/0',
  step: 1,
  ordinal: 0,
  tool: 'send_mail',
  input: { to, text: 'hi' },
  effect: 'external',
  target: to,
})

it('a call whose record is lost is indeterminate: another on its target asks, one on another target runs', async () => {
  const { records, sent, saved } = await lostFirst(
    [asked('ann')],
    { to: 'ann', text: 'hi' },
    { to: 'ann', text: 'hello' },
    { to: 'bob', text: 'hello' },
  )
  expect(records).toEqual([
    ['send_mail', 'ann', 'indeterminate'],
    ['send_mail', 'ann', 'denied'],
    ['send_mail', 'bob', 'ok'],
  ])
  expect([sent, saved]).toEqual([['bob hello'], ['s/1/1/0', 's/1/1/1', 's/1/1/2']])
})

it('where its target is lost too, any call of the tool asks, under whatever name it was called', async () => {
  const { records, sent } = await lostFirst([], { to: 'ann', text: 'hi' }, { to: 'bob', text: 'hello' })
  expect(records).toEqual([
    ['send_mail', '', 'indeterminate'],
    ['send_mail', 'bob', 'denied'],
  ])
  expect(sent).toEqual([])
})
