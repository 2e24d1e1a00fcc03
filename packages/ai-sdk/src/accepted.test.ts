/**
 * A turn that counts nothing, reports nothing and asks nobody neither reads a healthy reply part by part nor admits its calls. It has to
 * come to the same as a turn with a listener, in which every reply and every call goes the whole way.
 */
import { type ScriptedTurn, say, scriptedModel, think } from '@mulligan/testing'
import { generateText, isStepCount, streamText, tool } from 'ai'
import { mockId } from 'ai/test'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { samples } from '../../../scripts/test-scope.fixture.ts'
import { glm, MODES, type Mode } from './agent.fixture.ts'
import { type MulliganOptions, mulligan } from './index.ts'
import { modelOf } from './mulligan.fixture.ts'

const circular = (): object => {
  const value: { self?: object } = {}
  value.self = value
  return value
}

/** What a tool comes to, by its input. */
const OUTCOMES: Readonly<Record<string, () => unknown>> = {
  text: () => 'fine',
  value: () => ({ found: [1, { deep: null }] }),
  nothing: () => undefined,
  later: async () => 'fine, later',
  bigint: () => ({ size: 10n }),
  circle: circular,
  noted: () => ({ ok: true, data: 1, notes: ['Only the first page.'] }),
  failed: () => ({ ok: false, error: 'no such thing' }),
  throws: () => {
    throw new RangeError('no such column nme')
  },
  secret: () => {
    throw new Error('password=hunter2')
  },
  rejects: async () => {
    throw new TypeError('not a number')
  },
}

const word = fc.constantFrom(
  'Let me look.',
  'look',
  'look\n',
  ' ',
  '\n\n',
  'Say: done.',
  'a <b> and `c`',
  '```\n',
  '<think>hm</think>',
  '{"a": 1}',
  '[look]',
  glm('look', { what: 'text' }),
  glm('look', { what: 'text' }).slice(0, 30),
  '{"name": "look", "arguments": {"what": "text"}}',
)
const text = fc.array(fc.oneof({ weight: 3, arbitrary: fc.constantFrom('It is fine.', ' Then more.') }, word), { maxLength: 3 })
const name = fc.oneof({ weight: 8, arbitrary: fc.constantFrom('look', 'send') }, fc.constantFrom('Look', 'functions.send', 'fly'))
const input = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...Object.keys(OUTCOMES)).map((what): unknown => ({ what })) },
  fc.constantFrom<unknown>(
    { what: 'text', more: 1 },
    { what: 1 },
    { what: 'refused' },
    {},
    '{"what": "text",}',
    '{"what": "te',
    'nonsense',
  ),
)
const id = fc.option(fc.constantFrom('call_1', 'call_2'), { nil: undefined })
const one = fc.record({ name, input, id }).map(({ id, ...rest }) => (id === undefined ? rest : { ...rest, id }))
const reply: fc.Arbitrary<ScriptedTurn> = fc
  .record({
    text: text.map((words) => words.join('')),
    calls: fc.array(one, { maxLength: 3 }),
    finish: fc.constantFrom('tool_calls', 'stop', 'length'),
    thought: fc.constantFrom('', '', 'Hm.', glm('look', { what: 'text' })),
  })
  .map(({ thought, ...turn }) => (thought === '' ? (turn as never) : think(thought, turn as never)))

async function seen(mode: Mode, replies: readonly ScriptedTurn[], options: MulliganOptions): Promise<{ readonly ran: unknown }> {
  await using server = await scriptedModel((_, n) => replies[n - 1] ?? say('Done.'), { toolsRequired: false })
  const ran: unknown[] = []
  const made = (kind: string) =>
    tool({
      inputSchema: z.object({ what: z.string().refine((what) => what !== 'refused', 'is refused') }),
      execute: ({ what }, { toolCallId }) => {
        ran.push([kind, what, toolCallId])
        return OUTCOMES[what]?.()
      },
    })
  const tools = { look: made('look'), send: made('send') }
  const engine = mulligan(tools, { tools: { look: { effect: 'read' } }, log: () => undefined, ...options })
  const settings = engine.turn({
    model: modelOf(server),
    prompt: 'Go on.',
    stopWhen: isStepCount(replies.length + 1),
    maxRetries: 0,
    ...({ _internal: { generateId: mockId() } } as object),
  })
  const stepsOf = async () =>
    (mode === 'stream' ? streamText({ onError: () => undefined, ...settings }) : await generateText(settings)).steps
  // The SDK throws if a value can't be sent.
  const steps = await stepsOf().catch(String)
  const contents = typeof steps === 'string' ? steps : steps.map(({ content, finishReason }) => ({ content, finishReason }))
  const all = JSON.parse(named(JSON.stringify({ contents, ran, bodies: server.requests.map(({ body }) => body) }, plainly)))
  for (const { content } of typeof steps === 'string' ? [] : all.contents) sortResults(content, 'toolCallId')
  for (const { messages } of all.bodies) sortResults(messages, 'tool_call_id')
  return all
}

/** The results of parallel calls are in the order in which the calls ended, and a failure ends a few microtasks later. */
function sortResults(list: Record<string, unknown>[], id: string): void {
  const isResult = (one: Record<string, unknown>): boolean => /^tool(?:-result|-error)?$/.test(String(one['role'] ?? one['type']))
  const from = list.findIndex(isResult)
  for (let end = from; end >= 0 && end < list.length; ) {
    const start = end
    while (list[end] && isResult(list[end] as object as Record<string, unknown>)) end++
    const sorted = list.slice(start, end).sort((a, b) => String(a[id]).localeCompare(String(b[id])))
    list.splice(start, end - start, ...sorted)
    end = Math.max(end, start + 1)
  }
}

const plainly = (key: string, value: unknown): unknown => {
  if (value instanceof Error) return `${value.name}: ${value.message}`
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'object' && value !== null && 'self' in value) return '(circular)'
  return key === 'toolExecutionMs' ? undefined : value
}

/** Ids are random: each gets a number instead. */
function named(json: string): string {
  const known = new Map<string, number>()
  return json.replaceAll(/\b(?:call|reasoning)_[\w-]+|(?<=")[A-Za-z\d]{16}(?=\\?")/g, (id) => {
    if (!known.has(id)) known.set(id, known.size)
    return `id ${known.get(id)}`
  })
}

describe.each(MODES)('%s', (mode) => {
  it('comes to the same as a turn with a listener', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(reply, { minLength: 1, maxLength: 3 }), async (replies) => {
        const whole = await seen(mode, replies, { onEvent: () => undefined })
        expect(await seen(mode, replies, {})).toEqual(whole)
      }),
      { numRuns: samples(60, 2000) },
    )
  })

  it('a call of it runs once, however often its id comes', async () => {
    const sent = { name: 'send', input: { what: 'text' }, id: 'call_1' }
    const shown = await seen(mode, [{ calls: [sent] } as never, { calls: [sent] } as never], {})
    expect(shown.ran).toEqual([
      ['send', 'text', 'id 0'],
      ['send', 'text', 'id 1'],
    ])
  })
})
