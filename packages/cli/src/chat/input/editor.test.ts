import fc from 'fast-check'
import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'
import { cellsOf, cutTo, isFolded, layoutOf, seenRows, shown, textOf } from './cells.ts'
import type { Completions } from './completion.ts'
import { press, withCompletions } from './editor.ts'
import type { EditorKey, KeyName } from './keys.ts'
import { type EditorState, type Effect, NEW_EDITOR } from './state.ts'

const NAMES = [
  ...[
    'enter',
    'newline',
    'tab',
    'backtab',
    'escape',
    'interrupt',
    'editor',
    'chord',
    'backspace',
    'delete',
    'delete-or-exit',
    'left',
    'right',
  ],
  ...['word-left', 'word-right', 'line-start', 'line-end', 'up', 'down', 'kill-line', 'kill-line-left', 'kill-word', 'kill-word-left'],
  ...['kill-blank-left', 'yank', 'yank-pop', 'undo', 'search', 'clear'],
] as readonly KeyName[]
const isName = (key: string): key is KeyName => (NAMES as readonly string[]).includes(key)

interface Ran {
  readonly state: EditorState
  readonly effects: readonly Effect[]
}

/** Presses keys by name, and types other text one character at a time. */
function run(keys: readonly (string | EditorKey)[], history: readonly string[] = [], columns = 20, from = NEW_EDITOR): Ran {
  let state = from
  const effects: Effect[] = []
  const all = keys.flatMap((key): EditorKey[] =>
    typeof key !== 'string' ? [key] : isName(key) ? [{ name: key }] : Array.from(key, (text) => ({ name: 'text', text })),
  )
  for (const key of all) {
    const pressed = press(state, key, { history, columns })
    state = pressed.state
    if (pressed.effect) effects.push(pressed.effect)
  }
  return { state, effects }
}

/** Returns the text with `|` at the cursor. */
const seen = ({ state }: Ran): string => textOf(state.cells.toSpliced(state.cursor, 0, '|'))
const paste = (text: string): EditorKey => ({ name: 'paste', text })
const lines = (count: number): string => Array.from({ length: count }, (_, at) => `line ${at}`).join('\n')
const sent = (ran: Ran): string[] => ran.effects.flatMap((effect) => (effect.type === 'submit' ? [effect.text] : []))

test.each<[string[], Effect[]]>([
  [['draft', 'editor'], [{ type: 'editor', text: 'draft' }]],
  [['draft', 'chord', 'line-end'], [{ type: 'editor', text: 'draft' }]],
  [['draft', 'chord', 'left', 'line-end'], []],
])("%j opens the user's own editor", (keys, effects) => {
  const ran = run(keys)
  expect([ran.effects, textOf(ran.state.cells)]).toEqual([effects, 'draft'])
})

describe('Escape twice', () => {
  test.each<[string[], Effect[], string]>([
    [['escape', 'escape'], [{ type: 'escape' }], '|'],
    [['escape'], [], '|'],
    [['a', 'escape', 'escape'], [], '|'],
    [['escape', 'a', 'backspace', 'escape'], [], '|'],
  ])('%j', (keys, effects, text) => {
    const ran = run(keys)
    expect([ran.effects, seen(ran)]).toEqual([effects, text])
  })
})

describe('keys', () => {
  test.each<[what: string, keys: (string | EditorKey)[], text: string]>([
    ['text and moves', ['abc', 'left', 'left', 'X', 'right', 'Y'], 'aXbY|c'],
    ['the ends of a line', ['one', 'newline', 'two', 'line-start', 'a', 'line-end', 'b'], 'one\natwob|'],
    ['moves over the end of a line', ['a', 'newline', 'b', 'left', 'left', 'X'], 'aX|\nb'],
    [
      'words',
      ['one two-three', 'word-left', '|', 'word-left', 'word-left', 'X'],
      'Xone| two-|three'.replace('e| ', 'e ').replace('X', 'X|'),
    ],
    ['word-right', ['one two', 'line-start', 'word-right', 'X'], 'oneX| two'],
    ['backspace and delete', ['abcd', 'left', 'left', 'backspace', 'delete'], 'a|d'],
    ['ctrl-d deletes', ['ab', 'left', 'delete-or-exit'], 'a|'],
    ['a grapheme goes as one', ['👨‍👩‍👧e\u0301🇩🇪', 'backspace', 'backspace', 'X'], '👨‍👩‍👧X|'],
    ['a mark joins its letter', ['e', 'left', paste('x'), 'right', '\u0301', 'left', '|'], 'x||e\u0301'],
    ['ctrl-k', ['one two', 'word-left', 'kill-line'], 'one |'],
    ['ctrl-k at the end of a line takes the end', ['a', 'newline', 'b', 'up', 'line-end', 'kill-line'], 'a|b'],
    ['ctrl-u', ['one two', 'word-left', 'kill-line-left'], '|two'],
    ['ctrl-u at the start of a line joins it', ['a', 'newline', 'b', 'left', 'kill-line-left'], 'a|b'],
    ['ctrl-w is by blanks', ['a /b/c.d', 'kill-blank-left'], 'a |'],
    ['alt-backspace is by words', ['a /b/c.d', 'kill-word-left'], 'a /b/c.|'],
    ['alt-d', ['one two', 'line-start', 'kill-word'], '| two'],
    ['kills in a row are one', ['one two three', 'kill-blank-left', 'kill-blank-left', 'X', 'yank'], 'one Xtwo three|'],
    ['kills with a key between are two', ['a b', 'kill-blank-left', 'left', 'kill-line-left', 'yank', 'yank'], 'aa| '],
    ['alt-y', ['a b', 'kill-blank-left', 'left', 'kill-line-left', 'yank', 'yank-pop'], 'b| '],
    ['alt-y goes round', ['a b', 'kill-blank-left', 'left', 'kill-line-left', 'yank', 'yank-pop', 'yank-pop'], 'a| '],
    ['alt-y alone does nothing', ['a', 'kill-blank-left', 'b', 'yank-pop'], 'b|'],
    ['undo is by words', ['one two', 'undo'], 'one|'],
    ['undo of a kill', ['one two', 'kill-line-left', 'undo'], 'one two|'],
    ['a backslash before enter', ['a\\', 'enter', 'b'], 'a\nb|'],
    ['up and down keep the column', ['abcdef', 'newline', 'a', 'newline', 'abcdef', 'left', 'up', 'up', 'X'], 'abcdeX|f\na\nabcdef'],
    ['up and down go by what is seen', ['abcdefghijklmnopqrstuvwxyz', 'up', 'X'], 'abcdefX|ghijklmnopqrstuvwxyz'],
    ['one escape', ['abc', 'escape'], 'abc|'],
    ['two escapes', ['abc', 'escape', 'escape'], '|'],
    ['two escapes are undone', ['abc', 'escape', 'escape', 'undo'], 'abc|'],
    ['escape, a key, escape', ['abc', 'escape', 'left', 'escape'], 'ab|c'],
    ['ctrl-c clears', ['abc', 'interrupt'], '|'],
    ['line ends of a paste', [paste('a\r\nb\rc\n')], 'a\nb\nc\n|'],
  ])('%s', (_, keys, text) => expect(seen(run(keys))).toBe(text))

  test('what comes of keys', () => {
    expect(run(['interrupt', 'delete-or-exit', 'clear', 'enter', ' ', 'enter']).effects).toEqual(
      ['interrupt', 'exit', 'clear'].map((type) => ({ type })),
    )
    const ran = run(['  two words ', 'enter'])
    expect([sent(ran), seen(ran)]).toEqual([['  two words'], '|'])
  })
})

describe('pastes', () => {
  test('several lines stay text; a long paste is one cell, sent whole', () => {
    expect(sent(run([paste('a\nb\n')]))).toEqual([])
    const ran = run(['see ', paste(lines(120)), ' there'])
    expect(ran.state.cells.map(shown).join('')).toBe('see [pasted 120 lines] there')
    expect(sent(run(['enter'], [], 20, ran.state))).toEqual([`see ${lines(120)} there`])
    expect(seen(run(['word-left', 'word-left', 'left', 'right', 'delete'], [], 20, ran.state))).toBe('see | there')
    expect(shown(cellsOf('x'.repeat(5000))[0] ?? '')).toBe('[pasted 5000 characters]')
    expect(cellsOf(lines(20))).not.toContain(lines(20))
  })

  test('nothing in a paste acts on the terminal or hides from the eye', () => {
    const hostile = 'a\x1b[31m\x07\x7f\x9b\u202eb\u200bc\u{e0041}\ufeff\u2066'
    expect(cellsOf(hostile).map(shown).join('')).toBe('a␛[31m␇␡<9b><202e>b<200b>c<e0041><feff><2066>')
    expect(textOf(cellsOf(hostile))).toBe(hostile)
    expect(['👨‍👩‍👧', '❤️', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', 'é', '한', 'می‌خواهم'].flatMap(cellsOf).map(shown).join(' ')).toBe(
      ['👨‍👩‍👧', '❤️', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', 'é', '한', ...cellsOf('می‌خواهم')].join(' '),
    )
  })
})

describe('history', () => {
  const history = ['oldest', 'two\nlines', 'newest']

  test.each<[what: string, keys: string[], text: string]>([
    ['up and up', ['draft', 'up', 'up'], 'two\nlines|'],
    ['through the lines of an entry', ['up', 'up', 'up', 'up'], 'oldest|'],
    ['no further than there is', ['up', 'up', 'up', 'up', 'up', 'up'], 'oldest|'],
    ['back to what was written', ['draft', 'up', 'up', 'down', 'down', 'down'], 'draft|'],
    ['what was found is a text like others', ['up', '!', 'up'], 'newest|'],
    ['undo leaves it', ['draft', 'up', 'undo'], 'draft|'],
    ['search', ['search', 'e'], 'n|ewest'],
    ['search again', ['search', 'e', 'search'], 'two\nlin|es'],
    ['search goes on as more is typed', ['search', 'line'], 'two\n|lines'],
    ['a letter less', ['search', 'ol', 'backspace', 'backspace', 'ne', 'escape'], '|newest'],
    ['search that finds nothing', ['draft', 'search', 'newestx'], '|newest'],
    ['search left as it was', ['draft', 'search', 'old', 'editor'], 'draft|'],
    ['ctrl-c leaves it too', ['draft', 'search', 'old', 'interrupt'], 'draft|'],
    ['search kept, and on from there', ['search', 'line', 'escape', 'line-start', 'up', 'up'], 'oldest|'],
    ['another key keeps it and does its own', ['search', 'old', 'line-end', '!'], 'oldest!|'],
    ['capitals count where there are some', ['search', 'OLD'], '|'],
  ])('%s', (_, keys, text) => expect(seen(run(keys, history))).toBe(text))

  test('enter in a search sends it', () => expect(sent(run(['search', 'old', 'enter'], history))).toEqual(['oldest']))
})

describe('menu', () => {
  const items = [
    { insert: '@src/', label: 'src/' },
    { insert: '@"a b" ', label: 'a b' },
    { insert: '/help ', label: '/help', submits: true },
  ]
  const found: Completions = { from: 4, to: 6, items }
  const open = withCompletions(run(['see @x']).state, found)
  const after = (...keys: string[]): Ran => run(keys, ['old'], 20, open)

  test.each<[what: string, keys: string[], text: string]>([
    ['tab takes the best', ['tab'], 'see @src/|'],
    ['enter takes it too', ['enter'], 'see @src/|'],
    ['down', ['down', 'tab'], 'see @"a b" |'],
    ['up goes round', ['up', 'up', 'tab'], 'see @"a b" |'],
    ['escape closes it and clears nothing', ['escape', 'escape', 'up'], 'old|'],
    ['undo takes a completion back', ['tab', 'undo'], 'see @x|'],
  ])('%s', (_, keys, text) => expect(seen(after(...keys))).toBe(text))

  test('what it does not do', () => {
    expect(after('escape').state.dismissed && !after('escape', ' ').state.dismissed).toBe(true)
    expect(after('y').state.menu?.stale).toBe(true)
    expect(sent(after('y', 'enter'))).toEqual(['see @xy'])
    expect(sent(after('down', 'down', 'enter'))).toEqual(['see /help'])
    expect(after('interrupt').state.menu).toBeUndefined()
    const full = withCompletions(run(['see @src/']).state, { ...found, to: 9 })
    expect(sent(run(['enter'], [], 20, full))).toEqual(['see @src/'])
    const [only] = items
    expect(textOf(withCompletions(open, { ...found, items: only ? [only] : [] }, 'only').cells)).toBe('see @src/')
  })

  test('a blank that is there already is not put twice', () => {
    const state = withCompletions({ ...run(['see @x now']).state, cursor: 6 }, { ...found, items: items.slice(1) })
    expect(seen(run(['tab'], [], 20, state))).toBe('see @"a b" |now')
  })
})

describe('layout', () => {
  const drawn = (text: string, columns: number): string[] => layoutOf(cellsOf(text), columns).rows.map((row) => row.text)

  test('wide characters, tabs and long pastes', () => {
    expect(drawn('日本語ab', 5)).toEqual(['日本', '語ab'])
    expect(drawn('a\tb\n\nc', 8)).toEqual(['a    b', '', 'c'])
    expect(drawn(lines(50), 12)).toEqual(['[pasted 50 …'])
    expect(drawn('日', 1)).toEqual(['…'])
    expect(['é', '👨‍👩‍👧', '🇩🇪', '1️⃣', 'ｱ', '☺', 'क्षि', 'a日'].map((text) => stringWidth(text))).toEqual([1, 2, 2, 2, 1, 1, 2, 3])
    expect([cutTo('日本語', 5), cutTo('abc', 3), cutTo('abc', 0)]).toEqual(['日本…', 'abc', ''])
  })

  test('more rows than there is room for', () => {
    const layout = layoutOf(cellsOf('a\nb\nc\nd\ne'), 10)
    const at = (row: number): string =>
      seenRows(layout, { row, column: 0 }, 3)
        .rows.map((one) => one.text)
        .join('')
    expect([at(0), at(2), at(4)]).toEqual(['abc', 'bcd', 'cde'])
  })
})

describe('any keys at all', () => {
  const text = fc.oneof(
    fc.constantFrom('a', ' ', '\\', '\n', '/', '@', '"', '日', '👍', '🏽', '\u200d', '\u0301', '🇩', '🇪', '\x1b', '\r', '\ud83d', '\udc4d'),
    fc.string({ unit: 'binary', maxLength: 6 }),
    fc.constant(lines(30)),
  )
  const key = fc.oneof(
    fc.constantFrom(...NAMES).map((name): EditorKey => ({ name })),
    text.map((typed): EditorKey => ({ name: 'text', text: typed })),
    text.map((pasted): EditorKey => ({ name: 'paste', text: pasted })),
  )
  const editing = key.filter(({ name }) => !['enter', 'up', 'down', 'search', 'tab'].includes(name))
  const history = fc.array(text, { maxLength: 4 })

  test('the cursor is between cells, and cells are what a person sees as one', () => {
    fc.assert(
      fc.property(fc.array(key, { maxLength: 60 }), history, fc.integer({ min: 1, max: 12 }), (keys, before, columns) => {
        let state = NEW_EDITOR
        for (const one of keys) {
          state = press(state, one, { history: before, columns }).state
          const { cells, cursor } = state
          expect(cursor >= 0 && cursor <= cells.length).toBe(true)
          expect(textOf(cells).isWellFormed()).toBe(true)
          expect(cells.every((cell) => cell !== '' && (isFolded(cell) || cellsOf(cell).length === 1))).toBe(true)
          const layout = layoutOf(cells, columns)
          const { row, column } = layout.placeOf(cursor)
          expect(row < layout.rows.length && column >= 0 && column <= columns).toBe(true)
          for (const one of layout.rows) expect(stringWidth(one.text)).toBeLessThanOrEqual(columns)
          expect(layout.cellAt(row, column)).toBe(cursor)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('undo comes back to where it began', () => {
    fc.assert(
      fc.property(fc.array(editing, { maxLength: 60 }), (keys) => {
        let { state } = run(keys)
        while (state.undo.length > 0) state = press(state, { name: 'undo' }, { history: [], columns: 9 }).state
        expect(state.cells).toEqual([])
      }),
      { numRuns: 200 },
    )
  })

  test('each undo is the text that was there', () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 20 }), (texts) => {
        let state = NEW_EDITOR
        const were: string[] = []
        for (const one of texts) {
          were.push(textOf(state.cells))
          state = press(state, paste(one), { history: [], columns: 9 }).state
        }
        for (const was of were.reverse()) {
          state = press(state, { name: 'undo' }, { history: [], columns: 9 }).state
          expect(textOf(state.cells)).toBe(was)
        }
      }),
      { numRuns: 100 },
    )
  })

  test('what is put in is what is sent', () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 20 }), fc.array(fc.nat({ max: 9 })), (texts, moves) => {
        let state = NEW_EDITOR
        let whole = ''
        for (const [at, one] of texts.entries()) {
          const clean = one.replace(/\r\n?/g, '\n').toWellFormed()
          const offset = textOf(state.cells.slice(0, state.cursor)).length
          whole = whole.slice(0, offset) + clean + whole.slice(offset)
          state = press(state, paste(one), { history: [], columns: 9 }).state
          state = run(Array<string>(moves[at] ?? 0).fill('left'), [], 9, state).state
        }
        expect(textOf(state.cells)).toBe(whole)
      }),
      { numRuns: 200 },
    )
  })
})
