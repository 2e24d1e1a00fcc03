import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Repair } from '../repair.ts'
import { advance, type Call, NOTHING, step } from './calls.ts'
import { earlierIds, idFor, randomId } from './rules.ts'

interface Made {
  readonly name: string
  readonly input: string
}

/** Returns what a reader makes of the entries if it goes by index and takes the first id and name. */
function read(entries: readonly unknown[]): { readonly calls: Made[]; readonly ids: unknown[]; readonly repairs: readonly Repair[] } {
  let count = 0
  const held: Call[] = []
  const repairs: Repair[] = []
  const made = new Map<unknown, { id: unknown; name: string; input: string }>()
  for (const entry of entries) {
    const rules = {
      earlier: new Set<string>(),
      newId: () => `new${count++}`,
      cutOff: 'keep' as const,
      onRepair: (one: Repair) => repairs.push(one),
    }
    const next = step(held, entry as Record<string, unknown>, rules)
    if (next === undefined || next === 'dropped') continue
    const called = next['function'] as { name?: string; arguments?: string } | undefined
    const call = made.get(next['index']) ?? { id: next['id'], name: '', input: '' }
    made.set(next['index'], { ...call, name: call.name + (called?.name ?? ''), input: call.input + (called?.arguments ?? '') })
  }
  const all = [...made.values()]
  return { calls: all.map(({ name, input }) => ({ name, input })), ids: all.map((call) => call.id), repairs }
}

/** How a server writes its calls. Ambiguous combinations are left out: see below. */
const server = fc.record({
  index: fc.constantFrom('right', 'zero', 'missing', 'null', 'text'),
  id: fc.constantFrom('right', 'repeated', 'missing', 'blank', 'same', 'changing'),
  name: fc.constantFrom('first', 'every', 'null later', 'blank later', 'late'),
  size: fc.integer({ min: 1, max: 12 }),
  asObject: fc.boolean(),
})
type Server = typeof server extends fc.Arbitrary<infer T> ? T : never

const inputs = fc.array(
  fc.record({ name: fc.constantFrom('read', 'write'), value: fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 2 })) }),
  { minLength: 1, maxLength: 4 },
)

function write(calls: readonly Made[], how: Server): unknown[] {
  return calls.flatMap(({ name, input }, at) => {
    const pieces: unknown[] = how.asObject ? [JSON.parse(input)] : (input.match(new RegExp(`[^]{1,${how.size}}`, 'g')) ?? [])
    return pieces.map((piece, nth) => {
      const isFirst = nth === 0
      const index = { right: at, zero: 0, missing: undefined, null: null, text: String(at) }[how.index]
      const id = {
        right: isFirst ? `call${at}` : undefined,
        repeated: `call${at}`,
        missing: undefined,
        blank: '',
        same: isFirst ? 'call' : undefined,
        changing: `call${at}.${nth}`,
      }[how.id]
      const given = {
        first: isFirst ? name : undefined,
        every: name,
        'null later': isFirst ? name : null,
        'blank later': isFirst ? name : '',
        late: nth === Math.min(1, pieces.length - 1) ? name : null,
      }[how.name]
      return { ...(index !== undefined && { index }), ...(id !== undefined && { id }), function: { name: given, arguments: piece } }
    })
  })
}

/** With a new id and the name in every delta, each could be a call; with a late name and no earlier label, none could. */
const isPossible = ({ id, name, index }: Server): boolean =>
  !(id === 'changing' && name !== 'first' && name !== 'null later' && name !== 'blank later') &&
  !(name === 'late' && !(index === 'right' || index === 'text' || id === 'repeated' || id === 'right'))

describe('step', () => {
  it('finds the calls whatever the server does to index, id and name, and in whatever pieces it sends them', () => {
    fc.assert(
      fc.property(inputs, server.filter(isPossible), (given, how) => {
        const calls = given.map(({ name, value }, at) => ({ name, input: JSON.stringify({ ...value, at }) }))
        const { calls: found, ids } = read(write(calls, how))
        expect(found).toEqual(calls)
        expect(new Set(ids).size).toBe(calls.length)
        expect(ids.every((id) => typeof id === 'string' && id !== '')).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  it('loses no arguments, and never gives a call without a name', () => {
    const entry = fc.record(
      {
        index: fc.constantFrom(0, 1, null),
        id: fc.constantFrom('a', 'b', '', null),
        function: fc.record({ name: fc.constantFrom('read', 'write', null), arguments: fc.constantFrom('', '{', '1', '}', '{}') }),
      },
      { requiredKeys: ['function'] },
    )
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 12 }), (entries) => {
        const { calls, repairs } = read(entries)
        expect(calls.every((call) => call.name === 'read' || call.name === 'write')).toBe(true)
        const again = repairs.some((repair) => repair.why.includes('twice'))
        const isNamed = entries.every((one) => one.function.name !== null)
        const all = entries.map((one) => one.function.arguments).join('')
        const sorted = (text: string) => [...text].sort().join('')
        if (isNamed && !again) expect(sorted(calls.map((call) => call.input).join(''))).toBe(sorted(all))
      }),
    )
  })

  it('notes a fault once for each call', () => {
    const { repairs } = read(
      write([{ name: 'read', input: '{"a":"0123456789"}' }], { ...quirks, name: 'every', index: 'missing', size: 1 }),
    )
    expect(repairs.map((repair) => repair.why)).toEqual([...new Set(repairs.map((repair) => repair.why))])
    expect(repairs).toHaveLength(2)
  })

  const called = (name: unknown, args: string) => ({ function: { name, arguments: args } })
  it.each<[string, unknown[], Made[]]>([
    [
      'an index only from the second delta on',
      [
        { id: 'a', ...called('read', '{"a"') },
        { index: 0, ...called(undefined, ':"') },
        { index: 0, ...called(undefined, '{"}') },
      ],
      [{ name: 'read', input: '{"a":"{"}' }],
    ],
    [
      'another index in the middle of an object',
      [
        { index: 0, id: 'a', ...called('read', '{"a"') },
        { index: 3, ...called(undefined, ':1}') },
      ],
      [{ name: 'read', input: '{"a":1}' }],
    ],
    [
      'no label on the rest of a call that another one came into',
      [{ id: 'a', ...called('read', '{"a"') }, { id: 'b', ...called('write', '{}') }, called(undefined, ':1}')],
      [
        { name: 'read', input: '{"a":1}' },
        { name: 'write', input: '{}' },
      ],
    ],
  ])('%s', (_, entries, calls) => expect(read(entries).calls).toEqual(calls))

  it('arguments after a whole call, without a name, stay with it: they are for the reader to refuse', () => {
    expect(
      read([
        { index: 0, id: 'a', function: { name: 'read', arguments: '{}' } },
        { index: 0, function: { arguments: '{}' } },
      ]),
    ).toEqual({
      calls: [{ name: 'read', input: '{}{}' }],
      ids: ['a'],
      repairs: [],
    })
  })
})

const quirks: Server = { index: 'right', id: 'right', name: 'first', size: 5, asObject: false }

describe('advance', () => {
  it.each<[string, string]>([
    ['', 'empty'],
    [' \n', 'empty'],
    ['{', 'open'],
    ['{"a":"}', 'open'],
    ['{"a":"\\"}', 'open'],
    ['{"a":[{}]', 'open'],
    ['{"a":[{}]} \n', 'whole'],
    ['"{\\"a\\":1}"', 'whole'],
    ['[1]', 'whole'],
    ['{}{', 'other'],
    ['}', 'other'],
    ['null', 'other'],
  ])('%j is %s, whole or in pieces', (text, state) => {
    expect(advance(NOTHING, text).state).toBe(state)
    expect([...text].reduce(advance, NOTHING).state).toBe(state)
  })

  it('any object is whole at its end and not before', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.double({ min: 0, max: 0.99, noNaN: true }), (value, part) => {
        const text = JSON.stringify(value)
        expect(advance(NOTHING, text).state).toBe('whole')
        expect(advance(NOTHING, text.slice(0, Math.floor(text.length * part))).state).not.toBe('whole')
      }),
    )
  })
})

describe('ids', () => {
  const ids = { earlier: new Set(['old', 'functions.read:3']), newId: () => 'new' }
  it.each<[string, string | undefined, string[], string]>([
    ['its own', 'a', ['b'], 'a'],
    ['none', undefined, [], 'new'],
    ['taken', 'a', ['a'], 'new'],
    ['of an earlier turn', 'old', [], 'new'],
    ['numbered, of an earlier turn', 'functions.read:3', [], 'functions.read:3'],
    ['numbered, taken', 'functions.read:3', ['functions.read:3'], 'functions.read:4'],
  ])('%s', (_, wanted, taken, id) => expect(idFor(wanted, taken, ids)).toBe(id))

  it('are read from the calls in the messages of a request, whatever else is in it', () => {
    const messages = [null, { role: 'user' }, { tool_calls: 7 }, { role: 'assistant', tool_calls: [{ id: 'a' }, {}, null, { id: 3 }] }]
    expect([...earlierIds({ messages })]).toEqual(['a'])
    for (const request of [undefined, null, [], {}, { messages: {} }]) expect(earlierIds(request).size).toBe(0)
  })

  it('made here are nine letters and digits', () => expect(randomId()).toMatch(/^[a-zA-Z0-9]{9}$/))
})
