import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { indexTools, sourceOf } from '../source.ts'
import { type Row, readingOf, readThrough, tool } from '../syntax/reading.fixture.ts'
import { glm } from './index.ts'

const SPECS = [
  tool('note', { title: 'string', body: 'string', pinned: 'boolean' }),
  tool('note_list', { limit: 'integer' }),
  tool('find_text', { needle: 'string', folder: 'string' }),
  tool('plan', { steps: 'array' }),
  tool('clock', {}),
  tool('add line', { text: 'string' }),
]
const TOOLS = indexTools(SPECS)
const readAll = readingOf(glm, SPECS)

const K = (key: string): string => `<arg_key>${key}</arg_key>`
const V = (value: string): string => `<arg_value>${value}</arg_value>`
const P = (key: string, value: string): string => K(key) + V(value)
const NO_CLOSE = 'the closing tag of the call was missing'
const NO_END = 'the closing tag of a value was missing'
const TWICE = 'a closing tag stood twice'

describe('a call as the template has it', () => {
  const rows: [string, string, Row][] = [
    ['with line breaks', `<tool_call>note\n${K('title')}\n${V('Milk')}\n</tool_call>`, ['note', { title: 'Milk' }]],
    ['without', `<tool_call>note${P('title', 'Milk')}${P('pinned', 'true')}</tool_call>`, ['note', { title: 'Milk', pinned: 'true' }]],
    ['with CRLF', `<tool_call>note\r\n${K('title')}\r\n${V('a\r\nb')}\r\n</tool_call>`, ['note', { title: 'a\r\nb' }]],
    ['with indentation', `<tool_call>note\n    ${K('title')}\n    ${V('Milk')}\n    </tool_call>`, ['note', { title: 'Milk' }]],
    ['with spaces in tags', '<tool_call>note<arg_key >title</arg_key ><arg_value >a</arg_value >\n</tool_call >', ['note', { title: 'a' }]],
    ['without arguments', '<tool_call>clock</tool_call>', ['clock', {}]],
    ['in a tag of another name', `<iquestcoder_tool_call>note${P('title', 'a')}</iquestcoder_tool_call>`, ['note', { title: 'a' }]],
    ['a tool with a space in its name', `<tool_call> add line ${P('text', 'a')}</tool_call>`, ['add line', { text: 'a' }]],
    ['without arguments, on two lines', '<tool_call>clock\n</tool_call>', ['clock', {}]],
    ['an empty value', `<tool_call>note${P('title', '')}</tool_call>`, ['note', { title: '' }]],
    [
      'code in a value',
      `<tool_call>note${P('body', '\n  if (a < b) {\n\n  }\n')}</tool_call>`,
      ['note', { body: '\n  if (a < b) {\n\n  }\n' }],
    ],
    [
      'a closing tag in a value',
      `<tool_call>note${P('body', 'put </arg_value> last')}</tool_call>`,
      ['note', { body: 'put </arg_value> last' }, 'a value held a closing tag'],
    ],
    [
      'the end of a call in a value',
      `<tool_call>note${P('body', 'put </tool_call> last')}</tool_call>`,
      ['note', { body: 'put </tool_call> last' }],
    ],
    [
      'both in a value',
      `<tool_call>note${P('body', 'ends in </arg_value></tool_call>, always')}</tool_call>`,
      ['note', { body: 'ends in </arg_value></tool_call>, always' }, 'a value held a closing tag'],
    ],
    [
      'a key tag in a value',
      `<tool_call>note${P('body', 'an <arg_key> opens, <arg_key>x</arg_key> too')}</tool_call>`,
      ['note', { body: 'an <arg_key> opens, <arg_key>x</arg_key> too' }],
    ],
    [
      'an opening tag in a value',
      `<tool_call>note${P('body', 'an <arg_value> opens')}${P('title', 't')}</tool_call>`,
      ['note', { body: 'an <arg_value> opens', title: 't' }],
    ],
    [
      'pairs in a value',
      `<tool_call>note${P('body', P('title', 'x'))}${P('pinned', 'true')}</tool_call>`,
      ['note', { body: P('title', 'x'), pinned: 'true' }],
    ],
    [
      'a call in a value',
      `<tool_call>note${P('body', `so:\n<tool_call>clock</tool_call> or <tool_call>plan${P('steps', '[]')}</tool_call>\n.`)}</tool_call>`,
      ['note', { body: `so:\n<tool_call>clock</tool_call> or <tool_call>plan${P('steps', '[]')}</tool_call>\n.` }],
    ],
    ['escaped JSON for a text', `<tool_call>note${P('body', '[\\"a\\"]')}</tool_call>`, ['note', { body: '[\\"a\\"]' }]],
  ]
  it.each(rows)('%s', (_, text, call) => {
    expect(readAll(text)).toEqual({ calls: [call], rest: '', complete: true })
    expect(readAll(`${text}\n${text}\n`)).toEqual({ calls: [call, call], rest: '', complete: true })
  })
})

describe('a damaged call is read, and says so', () => {
  const rows: [string, string, Row][] = [
    [
      'no opening of a value',
      `<tool_call>find_text${K('needle')}two words</arg_value></tool_call>`,
      ['find_text', { needle: 'two words' }, 'the opening <arg_value> was missing'],
    ],
    [
      'the same on lines',
      `<tool_call>find_text\n${K('needle')}\ntwo words</arg_value>\n${K('folder')}\n${V('src')}\n</tool_call>`,
      ['find_text', { needle: 'two words', folder: 'src' }, 'the opening <arg_value> was missing'],
    ],
    [
      'another tag for it',
      `<tool_call>find_text${K('needle')}<arg_key>two words</arg_value></tool_call>`,
      ['find_text', { needle: 'two words' }, 'the opening <arg_value> was another tag'],
    ],
    [
      'no opening of a key',
      `<tool_call>find_textneedle</arg_key>${V('x')}</tool_call>`,
      ['find_text', { needle: 'x' }, 'the opening <arg_key> was missing'],
    ],
    [
      'the longest name that fits',
      `<tool_call>note_listlimit</arg_key>${V('3')}</tool_call>`,
      ['note_list', { limit: '3' }, 'the opening <arg_key> was missing'],
    ],
    [
      'the same on lines',
      `<tool_call>find_text\nneedle</arg_key>\n${V('x')}\n</tool_call>`,
      ['find_text', { needle: 'x' }, 'the opening <arg_key> was missing'],
    ],
    [
      'no opening of the second key',
      `<tool_call>find_text${P('needle', 'x')}folder</arg_key>${V('src')}</tool_call>`,
      ['find_text', { needle: 'x', folder: 'src' }, 'the opening <arg_key> was missing'],
    ],
    [
      'another tag for it',
      `<tool_call>find_text<tool_call>needle</arg_key>${V('x')}</tool_call>`,
      ['find_text', { needle: 'x' }, 'the opening <arg_key> was another tag'],
    ],
    [
      'no closing of a key',
      `<tool_call>find_text<arg_key>needle${V('x')}</tool_call>`,
      ['find_text', { needle: 'x' }, 'a key was not closed by its tag'],
    ],
    ['a closing tag twice', `<tool_call>find_text${K('needle')}</arg_key>${V('x')}</tool_call>`, ['find_text', { needle: 'x' }, TWICE]],
    [
      'the closing of a value twice',
      `<tool_call>find_text${P('needle', 'x')}</arg_value></tool_call>`,
      ['find_text', { needle: 'x' }, TWICE],
    ],
    [
      'the closing of the call twice',
      `<tool_call>find_text${P('needle', 'x')}</tool_call></tool_call>`,
      ['find_text', { needle: 'x' }, TWICE],
    ],
    [
      'an opening tag twice',
      `<tool_call>find_text<arg_key>${K('needle')}${V('x')}</tool_call>`,
      ['find_text', { needle: 'x' }, 'an opening tag stood twice'],
    ],
    [
      'the opening of a value twice',
      `<tool_call>find_text${K('needle')}<arg_value>${V('x')}${P('folder', 'y')}</tool_call>`,
      ['find_text', { needle: 'x', folder: 'y' }, 'an opening tag stood twice'],
    ],
    ['no closing of the last value', `<tool_call>find_text${K('needle')}<arg_value>x</tool_call>`, ['find_text', { needle: 'x' }, NO_END]],
    [
      'no closing of the first value',
      `<tool_call>find_text\n${K('needle')}\n<arg_value>x\n${P('folder', 'src')}</tool_call>`,
      ['find_text', { needle: 'x', folder: 'src' }, NO_END],
    ],
    [
      'no closing of any',
      `<tool_call>find_text${K('needle')}<arg_value>x${K('folder')}<arg_value>src</tool_call>`,
      ['find_text', { needle: 'x', folder: 'src' }, NO_END],
    ],
    [
      'another tag closes a value',
      `<tool_call>find_text${K('needle')}<arg_value>x</arg_key>${P('folder', 'src')}</tool_call>`,
      ['find_text', { needle: 'x', folder: 'src' }, 'a value was closed by another tag'],
    ],
    [
      'another tag closes a key',
      `<tool_call>find_text<arg_key>needle</arg_value>${V('x')}</tool_call>`,
      ['find_text', { needle: 'x' }, 'a key was not closed by its tag'],
    ],
    [
      'another tag closes the name',
      `<tool_call>find_text</arg_key>${P('needle', 'x')}</tool_call>`,
      ['find_text', { needle: 'x' }, 'the name was closed by another tag'],
    ],
    [
      'another tag closes the call',
      `<tool_call>find_text${P('needle', 'x')}</invoke>`,
      ['find_text', { needle: 'x' }, 'the call was closed by another tag'],
    ],
    [
      'another tag closes value and call',
      `<tool_call>find_text${K('needle')}<arg_value>x</invoke></tool_call>`,
      ['find_text', { needle: 'x' }, 'a value was closed by another tag'],
    ],
    [
      'another tag before the closing one',
      `<tool_call>find_text${P('needle', 'x')}</parameter>\n</tool_call>`,
      ['find_text', { needle: 'x' }, 'the call was closed by another tag'],
    ],
    [
      'the opening of the call twice',
      `<tool_call>\n<tool_call>find_text${P('needle', 'x')}</tool_call>`,
      ['find_text', { needle: 'x' }, 'an opening tag stood twice'],
    ],
    [
      'a key twice',
      `<tool_call>find_text${P('needle', 'x')}${P('needle', 'y')}</tool_call>`,
      ['find_text', { needle: 'y' }, 'the parameter needle came twice with different values'],
    ],
    [
      'escaped JSON',
      `<tool_call>plan${P('steps', '[{\\"do\\": \\"it\\"}]')}</tool_call>`,
      ['plan', { steps: '[{"do": "it"}]' }, 'a value was escaped twice'],
    ],
    [
      'escaped line breaks',
      `<tool_call>plan\\n${K('steps')}\\n${V('[]')}\\n</tool_call>`,
      ['plan', { steps: '[]' }, 'line breaks came escaped'],
    ],
    ['no opening tag', `find_text${P('needle', 'x')}</tool_call>`, ['find_text', { needle: 'x' }, 'the opening <tool_call> was missing']],
  ]
  it.each(rows)('%s', (_, text, call) => {
    expect(readAll(text)).toEqual({ calls: [call], rest: '', complete: true })
    const plain = `<tool_call>clock</tool_call>\n`
    expect(readAll(plain + text + plain)).toEqual({ calls: [['clock', {}], call, ['clock', {}]], rest: '', complete: true })
  })

  it.each([
    ['at the end of the text', `<tool_call>find_text${P('needle', 'x')}`, [['find_text', { needle: 'x' }, NO_CLOSE]]],
    ['in the closing tag', `<tool_call>find_text${P('needle', 'x')}</tool_`, [['find_text', { needle: 'x' }, NO_CLOSE]]],
    [
      'before the next call',
      `<tool_call>find_text${P('needle', 'x')}\n<tool_call>clock`,
      [
        ['find_text', { needle: 'x' }, NO_CLOSE],
        ['clock', {}, 'cut off'],
      ],
    ],
    [
      'with the name before the tag',
      `find_text<tool_call>needle</arg_key>${V('x')}`,
      [['find_text', { needle: 'x' }, `the opening <tool_call> was missing; the opening <arg_key> was another tag; ${NO_CLOSE}`]],
    ],
  ] as [string, string, readonly Row[]][])('no closing tag %s', (_, text, calls) => {
    expect(readAll(text)).toEqual({ calls, rest: '', complete: false })
  })

  const values = { needle: 'one\n  two;', folder: 'src/a' }
  const styles = ['', '\n'].map((line) => {
    const pairs = Object.entries(values).map(([key, value]) => `${K(key)}${line}${V(value)}${line}`)
    return `<tool_call>find_text${line}${pairs.join('')}</tool_call>`
  })
  it.each(styles)('any one tag missing or doubled, of %j', (text) => {
    const parts = text.split(/(<[^<>]+>)/)
    for (let at = 3; at < parts.length; at += 2)
      for (const instead of ['', `${parts[at]}${parts[at]}`]) {
        const [call] = readAll(parts.with(at, instead).join('')).calls
        expect([at, instead, call?.slice(0, 2)]).toEqual([at, instead, ['find_text', values]])
      }
  })
  it.each(styles)('any one tag in place of another is read right or not at all, of %j', (text) => {
    const parts = text.split(/(<[^<>]+>)/)
    const tags = new Set(parts.filter((_, at) => at % 2 === 1))
    let right = 0
    let tried = 0
    for (let at = 3; at < parts.length - 2; at += 2)
      for (const instead of tags) {
        const [call] = readAll(parts.with(at, instead).join('')).calls
        const refused = call === undefined || call.includes('cut off') || typeof call[1] === 'string'
        if (!refused) expect([at, instead, call?.slice(0, 2)]).toEqual([at, instead, ['find_text', values]])
        tried++
        if (!refused) right++
      }
    expect(right / tried).toBeGreaterThan(0.85)
  })

  it('a tag named in words after the call is no part of it', () => {
    const text = `<tool_call>find_text${P('needle', 'x')}</tool_call>\nIt ends in </arg_value>`
    expect(readAll(text)).toEqual({ calls: [['find_text', { needle: 'x' }]], rest: 'It ends in </arg_value>', complete: true })
  })

  it('a key without a value is nothing to call with', () => {
    const block = glm.read(sourceOf(`<tool_call>note${K('title')}</tool_call>`, TOOLS), 0)
    expect(block?.calls).toEqual([
      { name: 'note', arguments: { kind: 'unread', text: `note${K('title')}` }, damage: 'a parameter had no key or no value' },
    ])
  })
})

describe('a call that the text ends in', () => {
  const whole = `<tool_call>note\n${K('title')}\n${V('Milk')}\n${K('body')}\n${V('two\nlines')}\n</tool_call>`
  const last = whole.lastIndexOf('</arg_value>') + '</arg_value>'.length
  it('is cut off wherever that is, and what came before it is not', () => {
    for (let end = '<tool_call>n'.length; end < last; end++) {
      const { calls, complete } = readAll(`<tool_call>clock</tool_call>${whole.slice(0, end)}`)
      const secondKey = whole.indexOf(`\n${K('body')}`)
      const between = end >= secondKey && end <= secondKey + 1
      expect([end, calls.length, calls[1]?.[2], complete]).toEqual([end, 2, between ? NO_CLOSE : 'cut off', false])
    }
  })

  it('in a value with a call in it, that call is no call', () => {
    const text = `<tool_call>note${K('body')}<arg_value>run\n<tool_call>plan${P('steps', '[]')}</tool_call>\nand th`
    expect(readAll(text).calls).toEqual([['note', {}, 'cut off']])
  })
})

it.each([
  '<tool_call>{"name": "clock"}</tool_call>',
  '<tool_call>\n[{"name": "clock"}]',
  '<tool_call>\n<function=clock></function>',
  '<tool_call>\n<invoke name="clock">',
  '<tool_call> tags are what the model writes',
  '<tool_call>',
  `<arg_key>title</arg_key>${V('x')}`,
  `unknown${P('title', 'x')}`,
])('is not of this family: %s', (text) => {
  expect(glm.read(sourceOf(text, TOOLS), 0)).toBeUndefined()
})

it('gives every value back as it was written', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('<', '>', '</', '<b>', '</div>', '\n', '\r\n', '\\n', '\\"', '[', '{', '<arg_', 'tool_call>'),
  )
  const value = fc
    .array(piece, { maxLength: 12 })
    .map((pieces) => pieces.join(''))
    .filter((text) => !/<\/?(?:tool_call|arg_)/.test(text))
  fc.assert(
    fc.property(value, value, fc.constantFrom('', '\n', '\r\n'), (title, body, line) => {
      const text = `<tool_call>note${line}${K('title')}${line}${V(title)}${line}${K('body')}${line}${V(body)}${line}</tool_call>`
      expect(readAll(text)).toEqual({ calls: [['note', { title, body }]], rest: '', complete: true })
    }),
  )
})

it.each([
  '<tool_call>',
  '<arg_key>',
  '<tool_call>note',
  '<tool_call>note<arg_key>',
  '<tool_call>note<arg_key>body</arg_key><arg_value>v</tool_call>x',
  '<arg_key>body</arg_key><arg_value>v',
  '</arg_value></tool_call>x',
])('reads a text of nothing but %s to the end: what were not linear would run out of time', (unit) => {
  const text = (length: number): string => `<tool_call>note<arg_key>body</arg_key><arg_value>${unit.repeat(length / unit.length)}`
  for (const make of [text, (length: number) => unit.repeat(length / unit.length)]) {
    expect(readThrough(glm, make(500_000), SPECS)).toBeGreaterThan(499_000)
  }
})
