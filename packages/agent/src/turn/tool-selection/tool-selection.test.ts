import { estimateTokens } from '@mulligan/core/executor'
import { call, lastToolResults, type RecordedRequest, say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { agentModel, PROTOCOLS, save, search } from '../../agent.fixture.ts'
import { createAgent, memoryStore } from '../../index.ts'
import { promptBudget } from './choose.ts'
import { MANY, others } from './tool-selection.fixture.ts'

interface Body {
  readonly system?: unknown
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
  readonly tools: readonly { readonly name?: string; readonly function?: { readonly name: string } }[]
}
const bodyOf = (request: RecordedRequest | undefined) => request?.body as Body
const toolNames = (request: RecordedRequest | undefined) => bodyOf(request).tools.map((tool) => tool.function?.name ?? tool.name)
const systemOf = ({ system, messages }: Body) => system ?? messages[0]?.content
const tokensSent = (request: RecordedRequest | undefined) =>
  estimateTokens(JSON.stringify(systemOf(bodyOf(request))) + JSON.stringify(bodyOf(request).tools))

const AGENTS = { from: 'AGENTS.md', text: 'Use tabs.\n'.repeat(3000), path: 'AGENTS.md' }
const skills = Array.from({ length: 50 }, (_, at) => ({ name: `skill-${at}`, description: 'How a thing is done here.', path: `s/${at}` }))

describe.each(PROTOCOLS)('what is sent over %s', (protocol) => {
  it.each([
    [8000, 1500],
    [8192, 1500],
    [32_768, 4915],
    [128_000, 19_200],
  ])('of a context of %i tokens has at most %i for system prompt and tools', async (contextTokens, most) => {
    for (const guidance of [{}, { instructions: () => [AGENTS], skills: () => skills }]) {
      await using server = await scriptedModel([say('Hi.')])
      const model = { ...agentModel(server, protocol), contextTokens }
      await createAgent({ model, tools: [...MANY, ...others(60)], store: memoryStore(), cwd: '/home/ann/notes', ...guidance }).run({
        prompt: 'Hi',
      })
      expect(promptBudget(contextTokens)).toBe(most)
      expect(tokensSent(server.requests[0])).toBeLessThanOrEqual(most)
      expect(toolNames(server.requests[0])).toContain('read_file')
      expect(toolNames(server.requests[0]).includes('find_tools')).toBe(contextTokens < 128_000)
    }
  })

  it('grows only at its end: tools that are found are added, and stay for the next turn and process', async () => {
    await using model = await scriptedModel([
      call('find_tools', { query: 'commit my changes', limit: 1 }),
      call('git_commit', { message: 'm' }),
      call('send_mail', { to: 'ann' }),
      say('Done.'),
      say('Again.'),
    ])
    const store = memoryStore()
    const options = {
      model: { ...agentModel(model, protocol), contextTokens: 8192 },
      tools: MANY,
      lean: ['read_file', 'grep'],
      store,
      cwd: '/notes',
    }
    const first = await createAgent(options).run({ prompt: 'commit' })
    expect(first.calls.map(({ tool, result }) => [tool, result.ok])).toEqual([
      ['find_tools', true],
      ['git_commit', true],
      ['send_mail', true],
    ])
    await createAgent(options).run({ prompt: 'more', sessionId: first.sessionId })
    const sent = model.requests.map(toolNames)
    const always = sent[0] ?? []
    expect(always).not.toContain('git_commit')
    expect(sent.slice(1)).toEqual([
      [...always, 'git_commit'],
      [...always, 'git_commit'],
      [...always, 'git_commit', 'send_mail'],
      [...always, 'git_commit', 'send_mail'],
    ])
    for (const [at, request] of model.requests.entries()) {
      const next = bodyOf(model.requests[at + 1] ?? request)
      expect(systemOf(next)).toEqual(systemOf(bodyOf(request)))
      expect(startsWith(JSON.stringify(next.tools), JSON.stringify(bodyOf(request).tools))).toBe(true)
      if (protocol === 'openai') expect(startsWith(JSON.stringify(next.messages), JSON.stringify(bodyOf(request).messages))).toBe(true)
    }
    model.assertDone()
  })
})

describe('find_tools', () => {
  const ask = async (input: object, tools = [...MANY, ...others(40)]) => {
    await using server = await scriptedModel([call('find_tools', input), say('So.')])
    const model = { ...agentModel(server, 'openai'), contextTokens: 8192 }
    const { calls } = await createAgent({ model, tools, store: memoryStore(), cwd: '/notes' }).run({ prompt: 'go' })
    return { calls, text: lastToolResults(server.requests[1] as never)[0]?.text ?? '', sent: server.requests.map(toolNames) }
  }

  it('says what a tool does in a line', async () => {
    const { text } = await ask({ query: 'rename a file', limit: 1 })
    expect(text).toMatch(/^move_file: Moves a file or folder\.\nAlso: .*\.\nYou can call these now\.$/)
  })

  it('finds nothing: ok with count 0, and the names of all', async () => {
    const { calls, text, sent } = await ask({ query: 'xyzzy' })
    expect(calls[0]?.result).toMatchObject({ ok: true, count: 0 })
    for (const { name } of MANY) expect(text).toContain(name)
    expect(sent[1]).toEqual(sent[0])
  })

  it('is not there where all tools fit, nor beside a tool of that name', async () => {
    const few = await ask({ query: 'x' }, [search, save])
    expect(few.sent[0]).toEqual(['search', 'save'])
    expect(few.calls[0]?.result).toMatchObject({ ok: false, errorType: 'unknown_tool' })
    const taken = await ask({ query: 'x' }, [...MANY, ...others(15), { ...search, name: 'find_tools' }])
    expect(taken.sent[0]).toHaveLength(MANY.length + 16)
  })
})

it('a lean set of one’s own is all that is sent at first, in its order', async () => {
  await using server = await scriptedModel([say('Hi.')])
  const lean = ['web_fetch', 'none', 'grep']
  await createAgent({ model: agentModel(server, 'openai'), tools: MANY, lean, store: memoryStore(), cwd: '/notes' }).run({ prompt: 'go' })
  expect(toolNames(server.requests[0])).toEqual(['web_fetch', 'grep', 'find_tools'])
})

it('what a role withholds is neither sent nor found, and denied whoever would allow it', async () => {
  await using server = await scriptedModel([call('save', { path: 'a', text: 'b' }), call('search', { query: 'a' }), say('Denied.')])
  const role = {
    name: 'plan',
    prompt: 'Make a plan.',
    withholds: ({ effect }: { effect: string }) => (effect === 'read' ? undefined : 'The agent plan only reads.'),
  }
  const options = { model: agentModel(server, 'openai'), tools: [search, save], role, store: memoryStore(), cwd: '/notes' }
  const outcome = await createAgent({ ...options, policy: () => ({ decision: 'allow', reason: '' }) }).run({ prompt: 'go' })
  expect(toolNames(server.requests[0])).toEqual(['search'])
  expect(systemOf(bodyOf(server.requests[0]))).toContain('Make a plan.')
  expect(outcome.calls.map(({ result }) => result)).toMatchObject([{ ok: false, status: 'denied', errorType: 'permission' }, { ok: true }])
  expect(lastToolResults(server.requests[1] as never)[0]?.text).toContain('The agent plan only reads.')
})

/** Returns whether the longer of two JSON lists starts with the bytes of the other. */
const startsWith = (longer: string, list: string): boolean => longer.startsWith(list.slice(0, -1))
