import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { indexTools, sourceOf } from '../source.ts'
import { type Row, readingOf, readThrough, tool } from '../syntax/reading.fixture.ts'
import { dsml, invoke } from './index.ts'

const SPECS = [tool('shell', { command: 'string', note: 'string', limit: 'integer' }), tool('clock', {})]
const readAll = readingOf(invoke, SPECS)
const P = (key: string, value: string): string => `<parameter name="${key}">${value}</parameter>\n`
const I = (name: string, ...parameters: string[]): string => `<invoke name="${name}">\n${parameters.join('')}</invoke>`
const W = (...calls: string[]): string => `<function_calls>\n${calls.join('\n')}\n</function_calls>`
const prefixed = (text: string, prefix: string): string => text.replace(/<(\/?)(function_calls|invoke|parameter)/g, `<$1${prefix}$2`)
const NO_END = 'the closing tag of a value was missing'
const NO_CLOSE = 'the closing tag of the call was missing'
const BARE = 'the tag around the call was missing'

describe('calls as invoke elements', () => {
  const rows: [string, string, ...Row[]][] = [
    ['as Claude writes it', W(I('shell', P('command', 'ls'), P('limit', '3'))), ['shell', { command: 'ls', limit: '3' }]],
    ['with a prefix', prefixed(W(I('shell', P('command', 'ls'))), 'antml:'), ['shell', { command: 'ls' }]],
    ['with another prefix', prefixed(W(I('clock')), 'atem:'), ['clock', {}]],
    ['as MiniMax writes it', `<minimax:tool_call>\n${I('shell', P('command', 'ls'))}\n</minimax:tool_call>`, ['shell', { command: 'ls' }]],
    ['in the tag of Hermes', `<tool_call>\n${I('clock')}\n</tool_call>`, ['clock', {}]],
    ['two in one', W(I('clock'), I('shell', P('command', 'a'))), ['clock', {}], ['shell', { command: 'a' }]],
    ['no arguments', W('<invoke name="clock"></invoke>'), ['clock', {}]],
    [
      'empty elements',
      W('<invoke name="clock"/>', '<invoke name="shell"><parameter name="note"/></invoke>'),
      ['clock', {}],
      ['shell', { note: '' }],
    ],
    ['a value byte for byte', W(I('shell', P('command', '\n  a &lt; b\r\n\n'))), ['shell', { command: '\n  a &lt; b\r\n\n' }]],
    [
      'a closing tag in a value',
      W(I('shell', P('command', 'put </parameter> last'))),
      ['shell', { command: 'put </parameter> last' }, 'a value held a closing tag'],
    ],
    [
      'the end of a call in a value',
      W(I('shell', P('command', 'it ends </parameter></invoke> so'))),
      ['shell', { command: 'it ends </parameter></invoke> so' }, 'a value held a closing tag'],
    ],
    [
      'a call in a value',
      W(I('shell', P('note', `e.g. ${I('shell', P('command', 'x'))} !`))),
      ['shell', { note: `e.g. ${I('shell', P('command', 'x'))} !` }],
    ],
    ['single quotes', W("<invoke name='shell'><parameter name='command'>ls</parameter></invoke>"), ['shell', { command: 'ls' }]],
    ['all arguments as one object', W(I('shell', P('arguments', '{"command": "ls"}'))), ['shell', '{"command": "ls"}']],
    ['no tag around', I('shell', P('command', 'ls')), ['shell', { command: 'ls' }, BARE]],
    ['no tag before', `${I('shell', P('command', 'ls'))}\n</function_calls>`, ['shell', { command: 'ls' }, BARE]],
    [
      'keys as tags',
      '<invoke name="shell"><command>ls <b>x</b></command>\n<limit>3</limit></invoke>',
      ['shell', { command: 'ls <b>x</b>', limit: '3' }, BARE],
    ],
    ['a key as a tag that its value has', W('<invoke name="shell"><note>a </note> b</note></invoke>'), ['shell', { note: 'a </note> b' }]],
    [
      'a value not closed',
      W('<invoke name="shell">\n<parameter name="note">a\n  <parameter name="command">ls\n</invoke>'),
      ['shell', { note: 'a', command: 'ls' }, NO_END],
    ],
    ['the call not closed', W(`<invoke name="shell">\n${P('command', 'ls')}`), ['shell', { command: 'ls' }, NO_CLOSE]],
    ['a closing tag twice', W(I('shell', `${P('command', 'ls')}</parameter>`)), ['shell', { command: 'ls' }, 'a closing tag stood twice']],
  ]
  it.each(rows)('%s', (_, text, ...calls) => {
    expect(readAll(text)).toEqual({ calls, rest: '', complete: true })
  })

  it.each([
    ['nothing at the end', `<function_calls>${I('clock')}`, ['clock', {}]],
    ['the last closing tags', `<function_calls><invoke name="shell">${P('command', 'ls')}`, ['shell', { command: 'ls' }, NO_CLOSE]],
    ['the end of a value', '<invoke name="shell"><parameter name="command">rm -r', ['shell', {}, 'cut off', BARE]],
    ['the end of a tagged value', '<invoke name="shell"><command>rm -r', ['shell', {}, 'cut off', BARE]],
    ['the end of a tag', '<invoke name="shell"><param', ['shell', {}, 'cut off', BARE]],
  ] as [string, string, Row][])('without its end, missing %s', (_, text, call) => {
    expect(readAll(text)).toEqual({ calls: [call], rest: '', complete: false })
  })

  it.each([
    '<function_calls>',
    '<function_calls> are',
    '<invoke name="clock"> is how',
    '<invoke name="',
    '<tool_call>{"name": "clock"}',
    '<tool_call>clock</tool_call>',
  ])('is not of this family: %s', (text) => expect(invoke.read(sourceOf(text, indexTools(SPECS)), 0)).toBeUndefined())

  it('a parameter without a name is nothing to call with', () => {
    const [call] = invoke.read(sourceOf(W('<invoke name="shell"><parameter>ls</parameter></invoke>'), indexTools(SPECS)), 0)?.calls ?? []
    expect(call).toMatchObject({ name: 'shell', arguments: { kind: 'unread' } })
  })

  it('gives every value back as it was written', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('<', '</', '<b>', '</div>', '\n', '\r\n', ' ', '{', '"/>', '&lt;'),
    )
    const value = fc
      .array(piece, { maxLength: 12 })
      .map((pieces) => pieces.join(''))
      .filter((text) => !/<\/?(?:\w+:)?(?:function_calls|tool_call|invoke|param)/.test(text))
    fc.assert(
      fc.property(value, value, (command, note) => {
        const text = W(I('shell', P('command', command), P('note', note)))
        expect(readAll(text)).toEqual({ calls: [['shell', { command, note }]], rest: '', complete: true })
      }),
    )
  })

  it.each([
    '<function_calls>',
    '<invoke name="clock">',
    '<invoke name="shell"><note>',
    '<invoke name="shell"><note>v</note>x',
    '<parameter name="note">',
  ])('reads nothing but %s to the end: what were not linear would run out of time', (unit) => {
    for (const start of ['', '<invoke name="shell"><parameter name="note">']) {
      const text = (length: number): string => start + unit.repeat(length / unit.length)
      expect(readThrough(invoke, text(500_000), SPECS)).toBeGreaterThan(499_000)
    }
  })
})

describe('DSML', () => {
  const read = readingOf(dsml, SPECS)
  const D = (text: string, bar = '｜'): string =>
    prefixed(text, `${bar}DSML${bar}`).replace(/<(\/?)tool_calls/g, `<$1${bar}DSML${bar}tool_calls`)
  const S = (key: string, value: string, string: boolean): string => `<parameter name="${key}" string="${string}">${value}</parameter>\n`
  const rows: [string, string, ...Row[]][] = [
    [
      'a text and JSON',
      D(W(I('shell', S('command', '12', true), S('limit', '3', false)))),
      ['shell', { command: 'text: 12', limit: 'json: 3' }],
    ],
    ['no word on the type', D(W(I('shell', P('command', 'ls')))), ['shell', { command: 'ls' }]],
    ['the tag of V4', D('<tool_calls>\n<invoke name="clock"/>\n</tool_calls>'), ['clock', {}]],
    ['bars of ASCII', D(W(I('shell', S('command', 'ls', true))), '|'), ['shell', { command: 'text: ls' }]],
    ['by another name', D(W(I('shell', S('limit', '3', false)))).replaceAll('DSML', 'GCML'), ['shell', { limit: 'json: 3' }]],
    ['two in one', D(W(I('clock'), I('clock'))), ['clock', {}], ['clock', {}]],
    ['all arguments as one object', D(W(I('shell', S('arguments', '{"limit": 3}', false)))), ['shell', '{"limit": 3}']],
    [
      'tags of others in a value',
      D(W(I('shell', S('note', '@', true)))).replace('@', W(I('x', P('k', 'v')))),
      ['shell', { note: `text: ${W(I('x', P('k', 'v')))}` }],
    ],
    [
      'a value not closed',
      D(W(`<invoke name="shell">\n<parameter name="command" string="true">ls\n</invoke>`)),
      ['shell', { command: 'text: ls' }, NO_END],
    ],
    ['no tag around', D(I('clock')), ['clock', {}, BARE]],
  ]
  it.each(rows)('%s', (_, text, ...calls) => {
    expect(read(text)).toEqual({ calls, rest: '', complete: true })
  })

  it('is cut off where the text ends in a value, and the call before it is not', () => {
    const text = D(`<function_calls>\n${I('clock')}\n<invoke name="shell">\n<parameter name="command" string="true">ls -`)
    expect(read(text)).toEqual({
      calls: [
        ['clock', {}],
        ['shell', {}, 'cut off'],
      ],
      rest: '',
      complete: false,
    })
  })
})
