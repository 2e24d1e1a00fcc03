import { describe, expect, it } from 'vitest'
import type { AssistantMessage, Message } from '../history/message.ts'
import { type JournalRow, recordedJournal } from './journal.ts'
import { JournalMisuse, type LoggedStep, strictJournal } from './strict.ts'

describe('the strict journal', () => {
  it.each(['step', 'wait'] as const)('refuses a %s inside a step, also where it comes later', async (inner) => {
    const journal = strictJournal()
    const nested = journal.step('outer', async () => {
      await new Promise(setImmediate)
      return journal[inner]('inner', async () => 1)
    })
    await expect(nested).rejects.toThrow(new JournalMisuse('step "inner" was started inside step "outer"'))
    await expect(strictJournal().wait('outer', () => journal.step('other', async () => 1))).resolves.toBe(1)
  })

  it('refuses another order on replay, and a step that is started twice', async () => {
    const log: LoggedStep[] = []
    const journal = strictJournal(log)
    await Promise.all([journal.step('a', async () => 1), journal.step('b', async () => 2)])
    await expect(journal.step('a', async () => 3)).rejects.toThrow('started twice')
    const again = strictJournal(log)
    await expect(again.step('b', async () => 0)).rejects.toThrow('step "b" was started where "a" is recorded')
    const right = strictJournal(log)
    expect([await right.step('a', async () => 0), await right.step('b', async () => 0), await right.step('c', async () => 3)]).toEqual([
      1, 2, 3,
    ])
  })

  it.each([
    ['undefined', undefined, ''],
    ['undefined within', { a: [{ b: undefined }] }, '/a/0/b'],
    ['a function', { a: () => 1 }, '/a'],
    ['a Date', { at: new Date(0) }, '/at'],
    ['a Map', new Map(), ''],
    ['NaN', [Number.NaN], '/0'],
    ['Infinity', { a: Number.POSITIVE_INFINITY }, '/a'],
    ['a BigInt', 1n, ''],
  ])('refuses %s', async (_, value, at) => {
    await expect(strictJournal().step('a', async () => value)).rejects.toThrow(`the value of step "a" is not JSON at "${at}"`)
  })

  it('returns a copy, and runs a step that has not ended again', async () => {
    const log: LoggedStep[] = []
    const value = { a: [1] }
    expect(await strictJournal(log).step('a', async () => value)).not.toBe(value)
    await expect(strictJournal(log).step('a', async () => ({ a: [2] }))).resolves.toEqual({ a: [1] })
    const other: LoggedStep[] = []
    await expect(strictJournal(other).step('a', () => Promise.reject(new Error('cut off')))).rejects.toThrow('cut off')
    expect(await strictJournal(other).step('a', async () => 2)).toBe(2)
  })
})

describe('the journal of a store', () => {
  const message: AssistantMessage = {
    role: 'assistant',
    id: 's/1/1',
    turnId: 's/1',
    step: 1,
    parts: [],
    model: '',
    finishReason: 'stop',
    usage: { inputTokens: 0, outputTokens: 0 },
  }
  const record = { id: 's/1/1/0', tool: 'look', result: { ok: true, data: 'large' } }
  const kept = [message, { role: 'results', turnId: 's/1', step: 1, records: [record] }] as unknown as readonly Message[]
  const done = { kind: 'result', record, events: [] }

  async function rowsOf(): Promise<JournalRow[]> {
    const rows: JournalRow[] = []
    const journal = recordedJournal([], [], (name, value) => void rows.push({ name, value: JSON.stringify(value) }))
    await journal.step('request 1', async () => message)
    await journal.step('execute 1/0', async () => done)
    return rows
  }

  it('keeps messages and records once, and returns them whole', async () => {
    const rows = await rowsOf()
    expect(rows).toEqual([{ name: 'execute 1/0', value: '{"kind":"result","record":{"id":"s/1/1/0"},"events":[]}' }])
    const again = recordedJournal(rows, kept, async () => undefined)
    expect(await again.step('request 1', async () => 'another')).toEqual(message)
    expect(await again.step('execute 1/0', async () => 'another')).toEqual(done)
  })

  it('runs a step again whose record the store does not have, and all of a turn of which one value is damaged', async () => {
    const rows = [{ name: 'approval 1/0', value: '{"answer":"once"}' }, ...(await rowsOf())]
    const lost = recordedJournal(rows, [], async () => undefined)
    expect([await lost.step('execute 1/0', async () => 2), await lost.wait('approval 1/0', async () => 3)]).toEqual([2, { answer: 'once' }])
    const damaged = recordedJournal([...rows, { name: 'prepare 1/0', value: '{' }], kept, async () => undefined)
    expect(await damaged.wait('approval 1/0', async () => 3)).toBe(3)
    expect(await damaged.step('request 1', async () => 3)).toEqual(message)
  })
})
