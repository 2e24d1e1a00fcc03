/** Tasks for other agents, with the real command: one record, one undo, and the limits of the agent that gives them. */
import { call, calls, type RecordedRequest, type ScriptedTurn, say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { place, using } from '../../test/cli.fixture.ts'
import { ASKS, hasTerminal, inTerminal } from '../../test/terminal.fixture.ts'

/** Each agent has a script of its own, found by a word of its first message. */
const byWord =
  (scripts: Readonly<Record<string, readonly ScriptedTurn[]>>) =>
  ({ body }: RecordedRequest): ScriptedTurn | undefined => {
    const { messages } = body as { readonly messages: readonly { readonly role: string; readonly content: unknown }[] }
    const first = JSON.stringify(messages.find(({ role }) => role === 'user')?.content)
    const word = Object.keys(scripts).find((one) => first.includes(one)) ?? ''
    return scripts[word]?.[messages.filter(({ role }) => role === 'assistant').length]
  }

const model = () =>
  scriptedModel(
    byWord({
      FIND: [call('grep', { pattern: 'needle' }), say('It is in a.txt, line 1.')],
      WRITE: [call('write_file', { path: 'b.txt', content: 'b\n' }), say('b.txt is written.')],
      'Do it': [
        calls(['task', { agent: 'explore', task: 'FIND the needle' }], ['task', { agent: 'general', task: 'WRITE b.txt' }]),
        call('write_file', { path: 'c.txt', content: 'c\n' }),
        say('Done.'),
      ],
    }),
  )

it('what tasks have changed is in the record of the turn, and one undo takes it all back', async () => {
  using here = place({ 'a.txt': 'needle\n' })
  await using server = await model()
  const { code, stdout } = await here.run(['Do it.', '--yes', '--json', ...using(server)])
  const outcome = JSON.parse(stdout) as { requests: number; ledger: { changed: { target: string }[] } }
  expect([code, outcome.requests]).toEqual([0, 7])
  expect(outcome.ledger.changed.map(({ target }) => target)).toEqual(['b.txt', 'c.txt'])
  expect([here.has('b.txt'), here.has('c.txt')]).toEqual([true, true])
  expect((await here.run(['undo'])).code).toBe(0)
  expect([here.has('b.txt'), here.has('c.txt')]).toEqual([false, false])
})

it('an agent that may not change anything can not have it done by another', async () => {
  using here = place({ 'a.txt': 'needle\n' })
  await using server = await model()
  const { stdout } = await here.run(['Do it.', '--agent', 'plan', '--yes', '--json', ...using(server)])
  expect((JSON.parse(stdout) as { ledger: { changed: unknown[] } }).ledger.changed).toEqual([])
  expect(here.has('b.txt')).toBe(false)
})

it('the person’s own agents take tasks; tools.off switches them off', async () => {
  using here = place({ '.mulligan/agents/review.md': '---\ndescription: Reviews.\ntools: [read_file]\n---\nReview it.\n' })
  await using server = await scriptedModel([say('Done.'), say('Done.')])
  const toolNames = (at: number): string[] =>
    (server.requests[at]?.body as { tools: { function: { name: string } }[] }).tools.map((tool) => tool.function.name)
  await here.run(['Do it.', ...using(server)])
  expect(JSON.stringify(server.requests[0]?.body)).toContain('review: Reviews.')
  here.write('mulligan.json', '{ "tools": { "off": ["task"] } }')
  await here.run(['Do it.', ...using(server)])
  expect([toolNames(0).includes('task'), toolNames(1).includes('task')]).toEqual([true, false])
})

describe.skipIf(!hasTerminal)('in a terminal', () => {
  it('a question says which agent asks', async () => {
    using here = place({ 'a.txt': 'needle\n' })
    await using server = await scriptedModel(
      byWord({
        WRITE: [call('write_file', { path: 'b.txt', content: 'b\n' }), say('b.txt is written.')],
        'Do it': [call('task', { agent: 'general', task: 'WRITE b.txt' }), say('Done.')],
      }),
    )
    const { stdout } = await inTerminal(here, server, [[ASKS, 'y\r']])
    expect(stdout).toContain('? general: write_file (write) b.txt')
    expect(stdout).toContain('✓ task general: WRITE b.txt')
    expect(here.has('b.txt')).toBe(true)
  })
})
