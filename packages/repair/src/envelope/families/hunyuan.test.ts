import { describe, expect, it } from 'vitest'
import { indexTools, sourceOf } from '../source.ts'
import { type Reading, readingOf, readThrough, tool } from '../syntax/reading.fixture.ts'
import { hunyuan } from './index.ts'

const SPECS = [tool('route', { from: 'string', to: 'string', stops: 'integer' }), tool('clock', {})]
const readAll = readingOf(hunyuan, SPECS)
const P = (key: string, value: string): string => `<arg_key>${key}</arg_key><arg_value>${value}</arg_value>`
const NO_CLOSE = 'the closing tag of the call was missing'

describe('Hunyuan', () => {
  const rows: [string, string, Partial<Reading>][] = [
    [
      'one call',
      `<tool_calls><tool_call>route<tool_sep>${P('from', 'Ulm')}</tool_call></tool_calls>`,
      { calls: [['route', { from: 'Ulm' }]] },
    ],
    [
      'several on lines',
      `<tool_calls>\n<tool_call>route<tool_sep>\n${P('from', 'Ulm')}\n${P('stops', '2')}\n</tool_call>\n<tool_call>clock<tool_sep>\n</tool_call>\n</tool_calls>`,
      {
        calls: [
          ['route', { from: 'Ulm', stops: '2' }],
          ['clock', {}],
        ],
      },
    ],
    ['no arguments', '<tool_calls><tool_call>clock<tool_sep></tool_call></tool_calls>', { calls: [['clock', {}]] }],
    ['no separator', `<tool_calls><tool_call>route${P('to', 'Köln')}</tool_call></tool_calls>`, { calls: [['route', { to: 'Köln' }]] }],
    [
      'a suffix in each tag',
      `<tool_calls><tool_call>route${P('to', 'Köln')}</tool_call></tool_calls>`.replace(/(<\/?\w+)>/g, '$1:opensource>'),
      { calls: [['route', { to: 'Köln' }]] },
    ],
    [
      'a prefix in each tag',
      `<tool_calls><tool_call>route${P('to', 'Köln')}</tool_call></tool_calls>`.replace(/<(\/?)/g, '<$1ifm|'),
      { calls: [['route', { to: 'Köln' }]] },
    ],
    [
      'the type of a value',
      '<ifm|tool_call>route<ifm|arg_key>stops</ifm|arg_key><ifm|arg_type>integer</ifm|arg_type><ifm|arg_value>2</ifm|arg_value></ifm|tool_call>',
      { calls: [['route', { stops: '2' }]] },
    ],
    ['words after it', '<tool_calls><tool_call>clock<tool_sep></tool_call></tool_calls>\nDone.', { calls: [['clock', {}]], rest: 'Done.' }],
    [
      'a tag in a value',
      `<tool_calls><tool_call>route<tool_sep>${P('to', 'a </tool_calls> b')}</tool_call></tool_calls>`,
      { calls: [['route', { to: 'a </tool_calls> b' }]] },
    ],
    [
      'the list not closed',
      `<tool_calls><tool_call>route<tool_sep>${P('to', 'Köln')}</tool_call>`,
      { calls: [['route', { to: 'Köln' }]], complete: false },
    ],
    [
      'a call not closed',
      `<tool_calls><tool_call>route<tool_sep>${P('to', 'Köln')}</tool_calls>`,
      { calls: [['route', { to: 'Köln' }, NO_CLOSE]] },
    ],
    [
      'the second cut off',
      `<tool_calls><tool_call>clock<tool_sep></tool_call><tool_call>route<tool_sep><arg_key>to</arg_key><arg_value>Kö`,
      {
        calls: [
          ['clock', {}],
          ['route', {}, 'cut off'],
        ],
        complete: false,
      },
    ],
    [
      'an opening tag missing',
      '<tool_calls><tool_call>route<tool_sep><arg_key>to</arg_key>Köln</arg_value></tool_call></tool_calls>',
      { calls: [['route', { to: 'Köln' }, 'the opening <arg_value> was missing']] },
    ],
  ]
  it.each(rows)('%s', (_, text, expected) => {
    expect(readAll(text)).toEqual({ rest: '', complete: true, ...expected })
  })

  it.each([
    '<tool_calls>\n{"name": "clock"}\n</tool_calls>',
    '<tool_calls></tool_calls>',
    '<tool_calls><tool_call>{"name": "clock"}',
    '<tool_calls> are',
  ])('is not of this family: %s', (text) => expect(hunyuan.read(sourceOf(text, indexTools(SPECS)), 0)).toBeUndefined())

  it.each([
    '<tool_calls>',
    '<tool_calls><tool_call>',
    '<tool_calls><tool_call>clock<tool_sep>',
  ])('reads nothing but %s to the end: what were not linear would run out of time', (unit) => {
    const text = (length: number): string => unit.repeat(length / unit.length)
    expect(readThrough(hunyuan, text(500_000), SPECS)).toBeGreaterThan(499_000)
  })
})
