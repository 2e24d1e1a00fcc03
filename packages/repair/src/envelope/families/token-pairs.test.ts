import { describe, expect, it } from 'vitest'
import type { Family } from '../family.ts'
import { indexTools, sourceOf } from '../source.ts'
import { type Row, readingOf, readThrough, tool } from '../syntax/reading.fixture.ts'
import { kimiK3, minimaxM3, solarOpen2, step3 } from './index.ts'

const SPECS = [tool('route', { from: 'string', to: 'string', stops: 'integer', via: 'array', map: 'object' }), tool('clock', {})]
const NO_END = 'the closing tag of a value was missing'
const NO_CLOSE = 'the closing tag of the call was missing'
const HELD = 'a value held a closing tag'

const open = (name: string): string => `<|open|>${name}<|sep|>`
const close = (name: string): string => `<|close|>${name}<|sep|>`
const K = (name: string, ...inside: string[]): string => `${open(`call tool="${name}" index="1"`)}${inside.join('')}${close('call')}`
const A = (key: string, type: string, value: string): string =>
  `${open(`argument key="${key}" type="${type}"`)}${value}${close('argument')}`
const tools = (...calls: string[]): string => open('tools') + calls.join('') + close('tools')

const S = (name: string, ...inside: string[]): string => `<|tool_call:start|>${name}\n${inside.join('')}<|tool_call:end|>`
const P = (key: string, value: string): string => `<|tool_arg:start|>${key}<|tool_arg:value|>${value}<|tool_arg:end|>\n`

const I = (name: string, ...inside: string[]): string => `<steptml:invoke name="${name}">${inside.join('')}</steptml:invoke>`
const Q = (key: string, value: string): string => `<steptml:parameter name="${key}">${value}</steptml:parameter>`
const T = (...calls: string[]): string =>
  `<｜tool_calls_begin｜>${calls.map((call) => `<｜tool_call_begin｜>${call}<｜tool_call_end｜>`).join('<｜tool_sep｜>')}<｜tool_calls_end｜>`

/** Converts plain tags to MiniMax M3's. */
const M = (text: string): string => text.replaceAll('<', ']<]minimax[>[<')

const TABLES: readonly (readonly [Family, [string, string, ...Row[]][]])[] = [
  [
    kimiK3,
    [
      [
        'a text and JSON',
        tools(K('route', A('to', 'string', ' Köln '), A('stops', 'number', '3'))),
        ['route', { to: 'text:  Köln ', stops: 'json: 3' }],
      ],
      ['two, and the end of the message', tools(K('clock'), K('route')) + close('message'), ['clock', {}], ['route', {}]],
      ['without the tag around', K('clock'), ['clock', {}]],
      [
        'all arguments as one object',
        tools(K('route', `${open('json type="object"')}{"to": "Ulm"}${close('json')}`)),
        ['route', '{"to": "Ulm"}'],
      ],
      ['a name that is escaped', tools(K('a&amp;b')), ['a&b', {}]],
      [
        'with spaces around names',
        tools(K('route', A('to', 'string', 'Ulm'))).replace(/(<\|(?:open|close)\|>)([^<]*)(<\|sep\|>)/g, '$1 $2 $3'),
        ['route', { to: 'text: Ulm' }],
      ],
      [
        'the end of a value in it',
        tools(K('route', A('to', 'string', `a ${close('argument')} b`))),
        ['route', { to: `text: a ${close('argument')} b` }, HELD],
      ],
      ['a value not closed', tools(K('route', `${open('argument key="to" type="string"')}Ulm`)), ['route', { to: 'text: Ulm' }, NO_END]],
    ],
  ],
  [
    solarOpen2,
    [
      ['values as they stand', S('route', P('to', ' Köln\n'), P('stops', '3')), ['route', { to: ' Köln\n', stops: '3' }]],
      ['two', `${S('clock')}\n${S('route', P('to', 'Ulm'))}`, ['clock', {}], ['route', { to: 'Ulm' }]],
      ['half a token in a value', S('route', P('to', 'a <|tool_call: b')), ['route', { to: 'a <|tool_call: b' }]],
      [
        'a value not closed',
        `${S('route', '<|tool_arg:start|>to<|tool_arg:value|>Ulm')}${S('clock')}`,
        ['route', { to: 'Ulm' }, NO_END],
        ['clock', {}],
      ],
      ['a call not closed', `<|tool_call:start|>route\n${P('to', 'Ulm')}${S('clock')}`, ['route', { to: 'Ulm' }, NO_CLOSE], ['clock', {}]],
    ],
  ],
  [
    step3,
    [
      ['one', T(I('route', Q('to', ' Köln\n'), Q('stops', ' 3 '))), ['route', { to: ' Köln\n', stops: ' 3 ' }]],
      ['two', T(I('clock'), I('route', Q('to', 'Ulm'))), ['clock', {}], ['route', { to: 'Ulm' }]],
      ['the name twice', T(`function<｜tool_sep｜>clock\n${I('clock')}`), ['clock', {}]],
      ['without tokens', I('clock'), ['clock', {}]],
    ],
  ],
  [
    minimaxM3,
    [
      [
        'texts',
        M('<tool_call>\n<invoke name="route"><to>a\nb</to><stops>3</stops></invoke>\n</tool_call>'),
        ['route', { to: 'a\nb', stops: '3' }],
      ],
      ['two', M('<tool_call><invoke name="clock"></invoke>\n<invoke name="clock"></invoke></tool_call>'), ['clock', {}], ['clock', {}]],
      [
        'a list, an object, and a name that comes twice',
        M(
          '<tool_call><invoke name="route"><via><item>Ulm</item><item><x>1</x></item></via><map><a>1</a><b>2</b><b>3</b></map></invoke></tool_call>',
        ),
        ['route', { via: 'json: ["Ulm",{"x":"1"}]', map: 'json: {"a":"1","b":["2","3"]}' }],
      ],
      [
        'tags of others in a value',
        M('<tool_call><invoke name="route"><to>@</to></invoke></tool_call>').replace('@', '<b>x</b>'),
        ['route', { to: '<b>x</b>' }],
      ],
    ],
  ],
]

describe.each(TABLES.map(([family, rows]) => ({ family, rows })))('$family.id', ({ family, rows }) => {
  const readAll = readingOf(family, SPECS)

  it.each(rows)('%s', (_, text, ...calls) => {
    expect(readAll(text)).toEqual({ calls, rest: '', complete: true })
  })
})

describe('what is left over', () => {
  const cut: [Family, string, ...Row[]][] = [
    [
      kimiK3,
      `${open('tools')}${K('clock')}${open('call tool="route" index="2"')}${open('argument key="to" type="string"')}Kö`,
      ['clock', {}],
      ['route', {}, 'cut off'],
    ],
    [kimiK3, open('tools')],
    [
      solarOpen2,
      `<|tool_call:start|>route\n${P('to', 'Ulm')}<|tool_arg:start|>stops<|tool_arg:value|>1`,
      ['route', { to: 'Ulm' }, 'cut off'],
    ],
    [step3, T(I('route', Q('to', 'Ulm'))).slice(0, -70), ['route', {}, 'cut off']],
    [minimaxM3, M('<tool_call><invoke name="route"><to>Köl'), ['route', {}, 'cut off']],
    [minimaxM3, M('<tool_call><invoke name="route"><map><a>1'), ['route', {}, 'cut off']],
  ]
  it.each(cut)('cut off, $0.id: $1', (family, text, ...calls) => {
    expect(readingOf(family, SPECS)(text)).toEqual({ calls, rest: '', complete: false })
  })

  it.each<readonly [Family, string]>([
    [kimiK3, tools(K('route', 'Ulm'))],
    [solarOpen2, S('route', 'Ulm')],
    [minimaxM3, M('<tool_call><invoke name="route"><to>a</from></invoke></tool_call>')],
    [minimaxM3, M('<tool_call><invoke name="route"><map>a<b>1</b></map></invoke></tool_call>')],
  ])('nothing to call with, $0.id: $1', (family, text) => {
    const [call] = family.read(sourceOf(text, indexTools(SPECS)), 0)?.calls ?? []
    expect(call).toMatchObject({ name: 'route', arguments: { kind: 'unread' }, damage: 'a parameter had no key or no value' })
  })

  it.each<readonly [Family, string]>([
    [kimiK3, '<|open|>tools<|sep|> is how it begins'],
    [kimiK3, '<|open|>call index="1"<|sep|>'],
    [solarOpen2, '<|tool_call:start|> begins a call'.replace(' begins', '|begins')],
    [step3, '<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜>clock\n```json\n{}\n```'],
    [minimaxM3, M('<tool_call>\n</to>')],
  ])('none of its own, $0.id: $1', (family, text) => expect(family.read(sourceOf(text, indexTools(SPECS)), 0)).toBeUndefined())

  it.each<readonly [Family, string]>([
    [kimiK3, open('tools')],
    [kimiK3, open('call tool="route" index="1"') + open('argument key="to" type="string"')],
    [solarOpen2, '<|tool_call:start|>route\n<|tool_arg:start|>to<|tool_arg:value|>'],
    [solarOpen2, `<|tool_call:start|>route\n${P('to', 'x')}y`],
    [step3, '<｜tool_call_begin｜><steptml:invoke name="route"><steptml:parameter name="to">'],
    [minimaxM3, M('<tool_call><invoke name="route"><to>')],
    [minimaxM3, M('<invoke name="route"><map>')],
  ])('$0.id reads nothing but $1 to the end: what were not linear would run out of time', (family, unit) => {
    const text = unit.repeat(500_000 / unit.length)
    expect(readThrough(family, text, SPECS)).toBe(text.length)
  })
})
