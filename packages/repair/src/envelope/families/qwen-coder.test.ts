import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { indexTools, sourceOf } from '../source.ts'
import { type Row, readingOf, readThrough, tool } from '../syntax/reading.fixture.ts'
import { qwenCoder } from './index.ts'

const SPECS = [tool('Save', { file: 'string', text: 'string', force: 'boolean' }), tool('clock', {})]
const readAll = readingOf(qwenCoder, SPECS)
const P = (key: string, value: string): string => `<parameter=${key}>\n${value}\n</parameter>\n`
const F = (name: string, ...parameters: string[]): string => `<function=${name}>\n${parameters.join('')}</function>`
const T = (...calls: string[]): string => `<tool_call>\n${calls.join('\n')}\n</tool_call>`
const NO_END = 'the closing tag of a value was missing'
const NO_CLOSE = 'the closing tag of the call was missing'
const BARE = 'the tag around the call was missing'

describe('calls as functions with parameters', () => {
  const rows: [string, string, ...Row[]][] = [
    ['as the template has it', T(F('Save', P('file', 'a.ts'), P('force', 'True'))), ['Save', { file: 'a.ts', force: 'True' }]],
    [
      'without line breaks',
      '<tool_call><function=Save><parameter=file>a.ts</parameter></function></tool_call>',
      ['Save', { file: 'a.ts' }],
    ],
    ['without arguments', T(F('clock')), ['clock', {}]],
    ['the tag of Seed-OSS', `<seed:tool_call>\n${F('Save', P('file', 'a.ts'))}\n</seed:tool_call>`, ['Save', { file: 'a.ts' }]],
    ['two in one', T(F('clock'), F('Save', P('file', 'b'))), ['clock', {}], ['Save', { file: 'b' }]],
    ['indentation and blank lines in a value', T(F('Save', P('text', '\n    a\n\n  b  \n'))), ['Save', { text: '\n    a\n\n  b  \n' }]],
    ['CRLF', T(F('Save', P('text', 'a\nb'))).replaceAll('\n', '\r\n'), ['Save', { text: 'a\r\nb' }]],
    ['an empty value', T(F('Save', P('text', ''))), ['Save', { text: '' }]],
    ['a Python literal', T(F('Save', P('text', "{'a': 1}"))), ['Save', { text: "{'a': 1}" }]],
    [
      'a closing tag in a value',
      T(F('Save', P('text', 'put </parameter> last'))),
      ['Save', { text: 'put </parameter> last' }, 'a value held a closing tag'],
    ],
    [
      'a call in a value',
      T(F('Save', P('text', `like\n${T(F('Save', P('file', 'x')))}\n!`))),
      ['Save', { text: `like\n${T(F('Save', P('file', 'x')))}\n!` }],
    ],
    ['names in quotes', '<tool_call><function="Save"><parameter="file">a</parameter></function></tool_call>', ['Save', { file: 'a' }]],
    [
      'names as attributes',
      '<tool_call><function name="Save"><parameter name="file">a</parameter></function></tool_call>',
      ['Save', { file: 'a' }],
    ],
    ['all arguments as one object', T(F('Save', P('arguments', '{"file": "a"}'))), ['Save', '{"file": "a"}']],
    [
      'in a short spelling, with sections',
      '<tool_call><function name="Save"><param name="file">a</param><param name="text"><![CDATA[ x\n]]></param></function></tool_call>',
      ['Save', { file: 'a', text: ' x\n' }],
    ],
    ['spaces lost', '<functionname="Save"><paramname="file">a</param></function></tool_call>', ['Save', { file: 'a' }, BARE]],
    [
      'spaces as a vocabulary has them',
      '<tool_call><functionĠname="Save"><paramĠname="file">a</param></function></tool_call>',
      ['Save', { file: 'a' }],
    ],
    [
      'a parameter that the tool has not, in a value',
      T(F('Save', P('file', 'a'), P('text', 'x\n</parameter>\n<parameter=other>\ny\n</parameter>\nz'))),
      ['Save', { file: 'a', text: 'x\n</parameter>\n<parameter=other>\ny\n</parameter>\nz' }, 'a value held a closing tag'],
    ],
    ['a parameter that the tool has not', T(F('Save', P('file', 'a'), P('other', 'b'))), ['Save', { file: 'a', other: 'b' }]],
    [
      'the tag of Seed-OSS, a value that ends with its line',
      '<seed:tool_call><function=Save><parameter=text>a\n  b\n</parameter></function></seed:tool_call>',
      ['Save', { text: 'a\n  b\n' }],
    ],
    ['no tag around', F('Save', P('file', 'a')), ['Save', { file: 'a' }, BARE]],
    ['no tag before', `${F('Save', P('file', 'a'))}\n</tool_call>`, ['Save', { file: 'a' }, BARE]],
    ['the last value not closed', T('<function=Save>\n<parameter=file>\na\n</function>'), ['Save', { file: 'a' }, NO_END]],
    ['the first value not closed', T(F('Save', '<parameter=file>\na\n', P('text', 'b'))), ['Save', { file: 'a', text: 'b' }, NO_END]],
    ['the call not closed', T(`<function=Save>\n${P('file', 'a')}`), ['Save', { file: 'a' }, NO_CLOSE]],
    [
      'a closing tag twice',
      T(F('Save', '<parameter=file>\na\n</parameter>\n</parameter>\n')),
      ['Save', { file: 'a' }, 'a closing tag stood twice'],
    ],
  ]
  it.each(rows)('%s', (_, text, ...calls) => {
    expect(readAll(text)).toEqual({ calls, rest: '', complete: true })
  })

  it.each([
    ['nothing at the end', `<tool_call>\n${F('Save', P('file', 'a'))}`, ['Save', { file: 'a' }]],
    ['the last closing tags', `<tool_call>\n<function=Save>\n${P('file', 'a')}</func`, ['Save', { file: 'a' }, NO_CLOSE]],
    ['the end of a value', '<tool_call>\n<function=Save>\n<parameter=file>\na.t', ['Save', {}, 'cut off']],
    [
      'the end of the second value',
      `<tool_call>\n<function=Save>\n${P('file', 'a')}<parameter=text>\nput </parameter> la`,
      ['Save', { file: 'a' }, 'cut off'],
    ],
    ['all after the name', '<tool_call>\n<function=Save>\n', ['Save', {}, 'cut off']],
  ] as [string, string, Row][])('without its end, missing %s', (_, text, call) => {
    expect(readAll(text)).toEqual({ calls: [call], rest: '', complete: false })
  })

  it.each([
    '<tool_call>{"name": "clock"}',
    '<tool_call>clock</tool_call>',
    '<function=clock> is how',
    '<function=Save>{"file": "a"}</function>',
    '<tool_call>\n',
  ])('is not of this family: %s', (text) => expect(qwenCoder.read(sourceOf(text, indexTools(SPECS)), 0)).toBeUndefined())

  it('a value without a key is nothing to call with', () => {
    const [call] = qwenCoder.read(sourceOf(T(F('Save', 'a.ts\n</parameter>\n')), indexTools(SPECS)), 0)?.calls ?? []
    expect(call).toMatchObject({ name: 'Save', arguments: { kind: 'unread' }, damage: 'a parameter had no key or no value' })
  })

  it('gives every value back as it was written', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('<', '</', '<b>', '</div>', '\n', '\r', '\r\n', ' ', '{', '<param>x'),
    )
    const value = fc
      .array(piece, { maxLength: 12 })
      .map((pieces) => pieces.join(''))
      .filter((text) => !/<\/?(?:seed:|tool_call|function|param)/.test(text))
    fc.assert(
      fc.property(value, value, fc.constantFrom('\n', '\r\n'), (file, text, line) => {
        const P = (key: string, value: string): string => `<parameter=${key}>${line}${value}${line}</parameter>${line}`
        const call = `<tool_call>${line}<function=Save>${line}${P('file', file)}${P('text', text)}</function>${line}</tool_call>`
        expect(readAll(call)).toEqual({ calls: [['Save', { file, text }]], rest: '', complete: true })
      }),
    )
  })

  it.each([
    '<tool_call>',
    '<function=clock>',
    '<function=Save><parameter=file>',
    '<function=Save><parameter=file>v</function>x',
    '<parameter=file>',
  ])('reads nothing but %s to the end: what were not linear would run out of time', (unit) => {
    for (const start of ['', '<function=Save><parameter=text>']) {
      const text = (length: number): string => start + unit.repeat(length / unit.length)
      expect(readThrough(qwenCoder, text(500_000), SPECS)).toBeGreaterThan(499_000)
    }
  })
})
