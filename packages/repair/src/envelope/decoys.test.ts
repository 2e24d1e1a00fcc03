import { describe, expect, it } from 'vitest'
import { announcements } from '../announcement.ts'
import { parseToolCalls } from '../parse-tool-calls.ts'
import { DECOYS, MECHANISMS } from './decoys.fixture.ts'
import { NOTATIONS, PLAIN_DECOYS } from './plain-decoys.fixture.ts'
import { families } from './registry.ts'
import { TOOLS } from './rows.fixture.ts'
import { indexTools, sourceOf } from './source.ts'

/** Everything that can be read at any possible start. */
function naive(raw: string, tools: ReturnType<typeof indexTools>): number {
  const source = sourceOf(raw, tools)
  let calls = 0
  for (let at = 0; at < raw.length; at++)
    for (const family of families) {
      const begins = family.openers.some((opener) => raw.startsWith(opener, at))
      const named = family.afterName && tools.names.some((name) => raw.startsWith(name, at))
      if (begins || named) calls += family.read(source, at)?.calls.length ?? 0
    }
  return calls
}

describe('what is shown is not run', () => {
  it.each(Object.keys(MECHANISMS))('%s', (mechanism) => {
    const run = DECOYS.filter((decoy) => decoy.mechanism === mechanism && parseToolCalls(decoy.raw, decoy.tools).calls.length > 0)
    expect(run.map(({ id }) => id)).toEqual([])
  })

  it('covers every family, and takes judgement: without any, nine of ten would run', () => {
    expect(new Set(DECOYS.map(({ family }) => family))).toEqual(new Set(families.map(({ id }) => id)))
    const run = DECOYS.filter(({ raw, tools }) => naive(raw, indexTools(tools)) > 0)
    expect(run.length / DECOYS.length).toBeGreaterThan(0.9)
  })

  it('says what it saw, and keeps the text', () => {
    const [first] = DECOYS.filter(({ id }) => id === 'a file contains it: hermes')
    const { quoted, text } = parseToolCalls(first?.raw ?? '', first?.tools ?? [])
    expect(quoted).toEqual([{ raw: expect.stringContaining('<tool_call>'), why: 'shown as an example', open: false }])
    expect(text).toBe(first?.raw)
  })
})

describe('what is shown in plain notation is not run', () => {
  const run = (effect: 'read' | 'write' | 'external') =>
    PLAIN_DECOYS.filter(
      ({ raw }) =>
        parseToolCalls(
          raw,
          TOOLS.map((tool) => ({ ...tool, effect })),
          { announcements },
        ).calls.length > 0,
    ).map(({ id }) => id)

  it.each(['write', 'external'] as const)('as a tool that does %s, never', (effect) => {
    expect(PLAIN_DECOYS.length).toBeGreaterThan(300)
    expect(run(effect)).toEqual([])
  })

  it('as a read, one in a hundred at most', () => expect(run('read').length / PLAIN_DECOYS.length).toBeLessThanOrEqual(0.01))

  it('and is told: none goes by without a word', () => {
    const silent = PLAIN_DECOYS.filter(({ raw }) => parseToolCalls(raw, TOOLS).quoted.length === 0)
    expect(silent.map(({ id }) => id)).toEqual([])
  })

  it('though alone, as all of a reply, such a call is read', () => {
    const alone = Object.values(NOTATIONS).filter((call) => parseToolCalls(call, TOOLS).calls.length > 0)
    expect(alone.length).toBeGreaterThanOrEqual(2)
  })
})
