/** Tests the panels without a screen: their lines, and what keys do. */
import type { SessionRow } from '@mulligan/agent'
import { notOk, ok } from '@mulligan/core'
import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { plain } from '../../ui/colors.ts'
import { type CallDetail, createCardPager } from './card-pager.ts'
import { createFullScreen } from './full-screen.ts'
import { createListPicker } from './list-picker.ts'
import type { Panel, PanelKey } from './panel.ts'
import { createPanels } from './panels.ts'
import { createSessionPicker } from './session-picker.ts'

const SIZE = { columns: 60, rows: 12 }
const seen = (panel: Panel, size = SIZE): string => {
  const lines = panel.lines(size)
  expect(lines.length).toBeLessThanOrEqual(size.rows)
  for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(size.columns)
  return lines.join('\n')
}
const press = (panel: Panel, ...keys: readonly (PanelKey['name'] | PanelKey)[]): void => {
  for (const key of keys) panel.key(typeof key === 'string' ? ({ name: key } as PanelKey) : key)
}
const type = (text: string): readonly PanelKey[] => [...text].map((one) => ({ name: 'text', text: one }))
const control = (text: string): PanelKey => ({ name: 'control', text })

const row = (number: number, title = `session ${number}`): SessionRow => ({
  id: `s${number}`,
  cwd: '/w',
  title,
  createdAt: 0,
  updatedAt: 0,
  turns: 1,
})

function picker(count: number, current?: string) {
  let rows = Array.from({ length: count }, (_, at) => row(at))
  const asked: string[] = []
  const done: (string | undefined)[] = []
  const panel = createSessionPicker({
    actions: {
      found: ({ snippet = '' }) => snippet,
      find: async (words, limit) => {
        asked.push(`${words} ${limit}`)
        return rows.filter(({ title }) => title.includes(words)).slice(0, limit)
      },
      rename: async (id, title) => {
        rows = rows.map((one) => (one.id === id ? { ...one, title } : one))
      },
      export: async (id) => {
        if (id === 's1') throw new Error(`${id}.md exists already`)
        return `Session ${id} was written.`
      },
      delete: async (id) => {
        rows = rows.filter((one) => one.id !== id)
        return `Deleted session ${id}.`
      },
    },
    ...{ current, colors: plain, changed: () => undefined, done: (id?: string) => done.push(id) },
  })
  return { panel, asked, done, settled: () => new Promise(setImmediate) }
}

describe('a list to choose from', () => {
  const rows = Array.from({ length: 30 }, (_, at) => ({ value: `model-${at}`, description: at % 2 === 0 ? 'on here' : 'on there\x1b[2J' }))

  it('marks the one in force, narrows by typing, and gives the chosen one', async () => {
    const done: (string | undefined)[] = []
    const panel = createListPicker({
      ...{ title: 'Models', load: async () => rows, current: 'model-3', hint: 'type', colors: plain },
      ...{ changed: () => undefined, done: (value?: string) => done.push(value) },
    })
    expect(seen(panel)).toContain('Looking …')
    press(panel, 'enter')
    await new Promise(setImmediate)
    expect(seen(panel)).toMatch(/Models · 30\n\ntype\n[\s\S]*› model-3 +on there/)
    press(panel, 'page-down', 'up', 'page-up', 'down', 'down')
    expect(seen(panel)).toMatch(/\* model-3 [\s\S]*› model-4 /)
    press(panel, ...type('here L-2'))
    expect(seen(panel)).toMatch(/Models · \d+\n\nsearch: here L-2_\n\n› model-2 /)
    press(panel, ...type('x'), 'enter')
    expect(seen(panel)).toContain('Nothing in the list has these words.')
    press(panel, 'escape', 'end')
    expect([seen(panel), done]).toEqual([expect.stringMatching(/› model-29 /), []])
    press(panel, 'enter', control('c'), 'escape')
    expect(done).toEqual(['model-29', undefined, undefined])
  })
})

describe('the list of sessions', () => {
  it('moves, loads more near its end, and continues the chosen one', async () => {
    const { panel, asked, done, settled } = picker(5000)
    expect(seen(panel)).toContain('Enter continue')
    await settled()
    expect(seen(panel)).toMatch(/Sessions · 100 or more[\s\S]*› 1970-01-01 \d\d:00 {2}1 turn {4} session 0/)
    press(panel, 'end')
    await settled()
    press(panel, 'end', 'page-up', 'up')
    await settled()
    expect(seen(panel)).toMatch(/› .*session 392$/m)
    expect(asked).toEqual([' 100', ' 400', ' 1600'])
    press(panel, 'enter')
    expect(done).toEqual(['s392'])
  })

  it('searches as one types; Escape first clears the search', async () => {
    const { panel, done, settled } = picker(20)
    await settled()
    press(panel, ...type('n 12'))
    await settled()
    expect(seen(panel)).toMatch(/search: n 12_\n\n› .*session 12/)
    press(panel, 'backspace', ...type('x'))
    await settled()
    expect(seen(panel)).toContain('No session has these words')
    press(panel, 'enter', 'escape')
    await settled()
    expect([seen(panel), done]).toEqual([expect.stringContaining('session 0'), []])
    press(panel, 'escape')
    expect(done).toEqual([undefined])
  })

  it('renames, exports, and deletes after a confirmation, but not the one of the chat', async () => {
    const { panel, settled } = picker(4, 's2')
    await settled()
    press(panel, control('r'), control('u'), ...type('New name'))
    expect(seen(panel)).toMatch(/› .*New name_[\s\S]*Enter saves/)
    press(panel, 'enter')
    await settled()
    await settled()
    expect(seen(panel)).toMatch(/New name\n[\s\S]*Renamed s0\./)
    press(panel, control('r'), ...type('x'), 'escape', control('e'))
    await settled()
    await settled()
    expect(seen(panel)).toMatch(/New name\n[\s\S]*Session s0 was written\./)
    press(panel, 'down', control('e'))
    await settled()
    await settled()
    expect(seen(panel)).toContain('s1.md exists already')
    press(panel, control('d'), ...type('n'))
    await settled()
    expect(seen(panel)).toMatch(/session 1\n[\s\S]*Nothing was deleted/)
    press(panel, control('d'))
    expect(seen(panel)).toContain('y deletes s1 for good')
    press(panel, ...type('y'))
    await settled()
    await settled()
    expect(seen(panel)).toMatch(/^(?![\s\S]*session 1)[\s\S]*› .*session 2[\s\S]*Deleted session s1/)
    press(panel, control('d'))
    expect(seen(panel)).toContain('/clear starts another one')
  })
})

const event = (over: Partial<CallDetail['event']>): CallDetail['event'] => ({
  ...{ type: 'tool.result', callId: 's/1/1/0', sessionId: 's', turnId: 's/1', at: 0, step: 1, tool: 'bash', effect: 'write', inputKey: '' },
  ...{ attempts: 1, durationMs: 12, result: ok('x'), ...over },
})

describe('calls in full', () => {
  const lines = Array.from({ length: 40 }, (_, at) => `line ${at} \x1b[31mred`).join('\n')
  const calls: CallDetail[] = [
    {
      head: 'read_file a.md',
      input: { path: 'a.md' },
      repairs: [{ kind: 'parameter', from: 'file', to: 'path', why: '' } as never],
      event: event({}),
    },
    {
      head: 'bash make',
      input: { command: 'make\nmake test', timeout: 5 },
      repairs: [],
      event: event({ result: notOk('execution', 'It failed.', { content: lines, display: `\`\`\`text\n${lines}\n\`\`\`` }) }),
    },
  ]

  it('begin with the latest, scroll, and go back to earlier ones', () => {
    let closed = 0
    const panel = createCardPager(
      () => calls,
      plain,
      () => undefined,
      () => closed++,
    )
    expect(seen(panel)).toMatch(
      /^Call 2 of 2 · bash make[\s\S]*failed execution · 12 ms[\s\S]*command:\nmake\nmake test[\s\S]*lines 1–8 of \d+/,
    )
    expect(seen(panel)).not.toContain('\x1b')
    press(panel, 'end')
    expect(seen(panel)).toContain('line 39')
    press(panel, 'home', 'page-down', 'up', 'left')
    expect(seen(panel)).toMatch(/^Call 1 of 2 · read_file a\.md[\s\S]*path: a\.md[\s\S]*Repairs/)
    press(panel, 'left', 'down', 'down')
    expect(seen(panel)).toMatch(/file → path/)
    press(panel, ...type('l'))
    expect(seen(panel)).toMatch(/^Calls · 2\n\n› ✓ read_file a\.md\n {2}✗ bash make\n[\s\S]*Enter opens/)
    press(panel, 'down', 'down', 'enter')
    expect(seen(panel)).toMatch(/^Call 2 of 2 · bash make/)
    press(panel, ...type('l'), 'up', 'escape')
    expect(seen(panel)).toMatch(/^Call 1 of 2/)
    press(panel, ...type('n'), ...type('q'))
    expect(closed).toBe(1)
  })
})

it('one panel is open at a time; a stopped one closes with nothing', async () => {
  const panels = createPanels(() => undefined)
  const stop = new AbortController()
  const made: string[] = []
  const one = panels.open<string>((done) => {
    made.push('one')
    return { lines: () => [], key: () => done('chosen') }
  }, stop.signal)
  const two = panels.open<string>(() => {
    made.push('two')
    return { lines: () => [], key: () => undefined }
  }, stop.signal)
  await Promise.resolve()
  expect(made).toEqual(['one'])
  panels.current()?.key({ name: 'enter' })
  expect(await one).toBe('chosen')
  await new Promise(setImmediate)
  expect(made).toEqual(['one', 'two'])
  stop.abort()
  expect([await two, panels.current()]).toEqual([undefined, undefined])
})

it('what the renderer writes beneath a panel comes after it', () => {
  const written: string[] = []
  const { full, pass } = createFullScreen(
    (text) => written.push(text),
    (text) => written.push(`under ${text}`),
  )
  full.draw(['lost'])
  pass('1')
  full.enter()
  full.enter()
  pass('2')
  full.draw(['a', 'b'])
  full.draw(['a', 'b'])
  full.leave()
  full.leave()
  pass('3')
  expect(written).toEqual([
    'under 1',
    '\x1b[?1049h\x1b[?25l\x1b[2J',
    '\x1b[Ha\x1b[K\r\nb\x1b[K\x1b[J',
    '\x1b[?1049l\x1b[?25h',
    'under 2',
    'under 3',
  ])
})
