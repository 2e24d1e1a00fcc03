import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readJson } from './json.ts'

type Row = [what: string, raw: string, expected: unknown]
const REFUSED = 'refused'
const CUT_OFF = 'cut off'

const REPAIRED: Row[] = [
  ['a code fence', '```json\n{"a":1}\n```', { a: 1 }],
  ['a code fence without a language', '```\n{"a":1}```\n', { a: 1 }],
  ['a fence that is not closed', '```json\n{"a":1}', { a: 1 }],
  ['a fence that is only closed', '{"a":1}\n```', { a: 1 }],
  ['prose around a fence', 'I will call "it":\n```json\n{"a":1}\n```\nThat is "all".', { a: 1 }],
  ['prose before', 'Here is the call: {"a":1}', { a: 1 }],
  ['prose behind', '{"a":1}\nThis should do.', { a: 1 }],
  ['single quotes', "{'a': 'b c'}", { a: 'b c' }],
  ['an apostrophe in single quotes', "{'a': 'it's', 'b': 'don't'}", { a: "it's", b: "don't" }],
  ['double quotes in single quotes', `{'a': 'say "x", ok'}`, { a: 'say "x", ok' }],
  ['an escaped apostrophe', "{'a': 'it\\'s'}", { a: "it's" }],
  ['both kinds of quotes', `{'a': "it's"}`, { a: "it's" }],
  ['Python constants', '{"a": True, "b": [False, None]}', { a: true, b: [false, null] }],
  ['a trailing comma', '{"a":[1,2,],}', { a: [1, 2] }],
  ['a line comment', '{"a":1, // one\n"b":2}', { a: 1, b: 2 }],
  ['a block comment', '{/* x } */"a":1}', { a: 1 }],
  ['a hash comment', '{\n  # a note\n"a":1}', { a: 1 }],
  ['a comment in front', '// {x}\n{"a":1}', { a: 1 }],
  ['an unfinished comment behind', '{} /* foo ', {}],
  ['special white space', '{\u00a0"a":\u30001}', { a: 1 }],
  ['a raw newline', '{"a":"x\ny\tz"}', { a: 'x\ny\tz' }],
  ['escapes of a pattern', '{"re":"\\d+\\.ts"}', { re: '\\d+\\.ts' }],
  ['a word boundary beside another escape', '{"re":"\\bfoo\\w"}', { re: '\\bfoo\\w' }],
  ['a Windows path', '{"p":"C:\\Users\\me"}', { p: 'C:\\Users\\me' }],
  ['a Windows path with what JSON knows', '{"p":"C:\\Users\\new\\table"}', { p: 'C:\\Users\\new\\table' }],
  ['a network path', '{"p":"\\\\srv\\share\\new"}', { p: '\\\\srv\\share\\new' }],
  ['no Unicode escape', '{"p":"\\user"}', { p: '\\user' }],
  ['an escaped apostrophe in double quotes', '{"p":"it\\\'s"}', { p: "it's" }],
  ['unquoted keys', '{a: 1, b_c: {$d: 2}}', { a: 1, b_c: { $d: 2 } }],
  ['numbers as keys', "{1: 'a'}", { 1: 'a' }],
  [
    'unquoted texts',
    '{a: value, id: 57eeeeb1-450b-482c, v: 1.1.1, range: 10-20, re: /x.css/ }',
    { a: 'value', id: '57eeeeb1-450b-482c', v: '1.1.1', range: '10-20', re: '/x.css/' },
  ],
  ['an unquoted address', '{url: https://x.org/a?b=c, l: [src/a.ts, b]}', { url: 'https://x.org/a?b=c', l: ['src/a.ts', 'b'] }],
  ['unquoted words in lines', '{\n a: one two\n b: three // c\n}', { a: 'one two', b: 'three' }],
  ['typographic quotes', '{“a”: “b "c" d”}', { a: 'b "c" d' }],
  ['markup', '{"h": "<h3 id="aaa">About "Passie"?</h3>", "b": 1}', { h: '<h3 id="aaa">About "Passie"?</h3>', b: 1 }],
  ['one quote inside', '{"v": "v"alue"}', { v: 'v"alue' }],
  ['a quoted word at the end', '{"v": "say "hi"", "b": "c"}', { v: 'say "hi"', b: 'c' }],
  ['a quoted word at the start', '{"v": ""hi" he said", "b": "c"}', { v: '"hi" he said', b: 'c' }],
  ['a quoted word before a comma', '{"v": "if "x", then y", "b": "c"}', { v: 'if "x", then y', b: 'c' }],
  ['a quoted brace', '{"v": "use "{x}" here"}', { v: 'use "{x}" here' }],
  ['a quoted comma', '{"v": "split by ", " first"}', { v: 'split by ", " first' }],
  ['quotes in the only text of a list', '["a "b" c", 4]', ['a "b" c', 4]],
  ['an object as text', '{"v": "{"name": "x"}"}', { v: '{"name": "x"}' }],
  ['a missing comma', '{"a":1 "b":2}', { a: 1, b: 2 }],
  ['a missing comma between lines', '{"a":"x"\n"b":"y"}', { a: 'x', b: 'y' }],
  ['a missing comma before an unquoted key', '{a: "x"\nb: "y"}', { a: 'x', b: 'y' }],
  ['missing commas between items', '{"a":["x" "y"\n{"z":1} {"z":2} 3\n4]}', { a: ['x', 'y', { z: 1 }, { z: 2 }, 3, 4] }],
  ['a missing colon', '{"a" "x", "b" 1}', { a: 'x', b: 1 }],
  ['a missing bracket of a list', '{"values":[1,2,3}', { values: [1, 2, 3] }],
  ['a missing bracket of an object', '{"array":[{"key":"v"], "k2":1}', { array: [{ key: 'v' }], k2: 1 }],
  ['a wrong bracket around texts', '["Mrs."}', ['Mrs.']],
  ['a wrong bracket', '{"a":2]', { a: 2 }],
  ['a wrong bracket around nothing', '{]', {}],
  ['a bracket too many', '{"a":1}}', { a: 1 }],
  ['a list closed as an object', '{"a":[1,2}}', { a: [1, 2] }],
  ['a missing quote before the end', '{"key": ["value]}', { key: ['value'] }],
  ['a missing quote before the end of an object', '{"path": "src/a.ts}', { path: 'src/a.ts' }],
  ['junk behind', '{"a":1},', { a: 1 }],
  ['empty brackets behind', '{"a":1}, []', { a: 1 }],
  ['a point without a digit', '{"a":.5, "b":1., "c":+5}', { a: 0.5, b: 1, c: 5 }],
  ['zeros in front', '{"a":007}', { a: '007' }],
  ['a telephone number', '{"a":+4915112345}', { a: '+4915112345' }],
  ['a key that is there twice', '{"a":[1],"a":[1],}', { a: [1] }],
  ['several faults', '```json\n{"a": True, // x\n b: [1,2,],\n}\n```', { a: true, b: [1, 2] }],
]

const UNCLEAR: Row[] = [
  ['words that may be one text without quotes', '{"a": [5 true]}', REFUSED],
  ['a comment that may be text in single quotes', "{'a': '', //x: y'}", REFUSED],
  ['a quoted word where a string may end', '{"a": "he said "x", "y": "z" ok", "b": 1}', REFUSED],
  ['a missing quote in the middle', '{"a": "x, "b": "y"}', REFUSED],
  ['two missing quotes', '["a, "b, "c"]', REFUSED],
  ['a missing quote before a line', '{"a": "x,\n"b": y"}', REFUSED],
  ['quotes between items', '["he said "x", "y", "z"]', REFUSED],
  ['quotes in one of two items', '["a "b" c", "d"]', REFUSED],
  ['inches', '{"len": "5" pipe", "b": "c"}', REFUSED],
  ['a quote doubled or dropped', `{"cmd": "echo "\${x}"}`, REFUSED],
  ['a missing first quote', '{"a": x", "b": 1}', REFUSED],
  ['quotes and a missing comma', '{"a": "x "y" z" "b": 1}', REFUSED],
  ['a key that is there twice, otherwise', '{"a":1,"a":2,}', REFUSED],
  ['an ellipsis', '{"a":[1,2,...]}', REFUSED],
  ['no number', '{"a":NaN}', REFUSED],
  ['infinity', '{"a":-Infinity}', REFUSED],
  ['undefined', '{"a":undefined}', REFUSED],
  ['a constant in capitals', '{"a":TRUE}', REFUSED],
  ['a number that was cut off', '{"a":1e}', REFUSED],
  ['a number that was cut off, before another member', '{"a":1.5E+, "b":2}', REFUSED],
  ['a number in a base of its own', '{"a":0x1F}', REFUSED],
  ['a number with underscores', '{"a":1_000}', REFUSED],
  ['a big integer', '{"a":5n}', REFUSED],
  ['thousands', '{"a":[1,000]}', REFUSED],
  ['thousands in a member', '{"a":1,000}', REFUSED],
  ['no value', '{"a":, "b":1}', REFUSED],
  ['no item', '[1,,2]', REFUSED],
  ['an expression', '{"a":"x" + "y"}', REFUSED],
  ['a call', '{"a":now()}', REFUSED],
  ['two members in unquoted words', '{a: b c: d}', REFUSED],
  ['a member in a list', '{"a":[1,"b":3}', REFUSED],
  ['a bracket missing in one of two places', '{"a":[[1,2,[3]]}', REFUSED],
  ['two brackets missing', '[{"a":{"b":1]', REFUSED],
  ['a bracket missing and one too many', '{"x":{"a":[1,2}, "c":3}}', REFUSED],
  ['a wrong bracket in the middle', '{"a":{"b":1], "c":2}', REFUSED],
  ['an object that ends early', '{"a":1}, "b":2}', REFUSED],
  ['two objects', '{"a":1}\n{"b":2}', REFUSED],
  ['two fences', '```json\n{"a":1}\n```\n```json\n{"b":2}\n```', REFUSED],
  ['one member without its braces', 'options: {"a":1}', REFUSED],
  ['the end of an object', '"b", "x": {"a":1}', REFUSED],
  ['prose on the same line', '{"a":1} and more', REFUSED],
  ['nothing', '', REFUSED],
  ['prose', 'I can not do that.', REFUSED],
  ['nested too deep', `${'['.repeat(201)}1${']'.repeat(201)}`, REFUSED],
]

const CUT: Row[] = [
  ['after a brace', '{', CUT_OFF],
  ['in a key', '{"a', CUT_OFF],
  ['after a key', '{"a"', CUT_OFF],
  ['after a colon', '{"a":', CUT_OFF],
  ['in a string', '{"a": "b', CUT_OFF],
  ['after a backslash', '{"a": "b\\', CUT_OFF],
  ['after a string', '{"a": "b"', CUT_OFF],
  ['after a comma', '{"a": 2,', CUT_OFF],
  ['in a number', '{"a": 2', CUT_OFF],
  ['in a constant', '{"a": tr', CUT_OFF],
  ['in unquoted words', '{a: some wor', CUT_OFF],
  ['after an inner object', '{"a": {"b": 1}', CUT_OFF],
  ['after an inner list', '{"a": [1, 2]', CUT_OFF],
  ['after a list without its bracket', '{"a":[1,{"b":[2}', CUT_OFF],
  ['in a comment', '{"a": 1 /* foo', CUT_OFF],
  ['in a fence', '```json\n{"a": "x', CUT_OFF],
  ['before the end of a fence', '```json\n{"a": [1,\n```', REFUSED],
  ['in a command with braces', `{"c": "echo \${x}`, CUT_OFF],
  ['in code', '{"c": "foo();\n}', CUT_OFF],
  ['in code with an escape', '{"c": "foo()\\n}', CUT_OFF],
  ['after an unescaped quote', '{"c": "say "hi', CUT_OFF],
]

const outcome = (raw: string) => {
  const read = readJson(raw)
  return read.ok ? read.value : read.cutOff ? CUT_OFF : REFUSED
}

/** Text as found in arguments: prose, code, markup and paths, including text that is hard to tell from the end of a string. */
const PIECES = [
  ...['plain', ' words ', 'it is', 'a, b', 'x: y', '5', ' ', ', ', ': ', '.', '\n', '\t', 'ü', '', '-'],
  ...['"hi"', '"a b"', '"', ' "x", ', '"k": "v"', '", "', '"}', '{"k": 1}', '["a", "b"]', '<p id="q">', '""', '("x")', '="y" ', '"x": '],
  ...['{', '}', '[', ']', '{}', '[1]', `\${x}`, '\\', '\\d+', 'C:\\new', "it's", "'s'", "'", '//', '/* c */', '# h', '```', 'true', 'null'],
]
const prose = fc.array(fc.constantFrom(...PIECES), { maxLength: 6 }).map((pieces) => pieces.join(''))
const name = fc.oneof(
  { weight: 5, arbitrary: fc.stringMatching(/^[a-z_]{1,6}$/) },
  { weight: 1, arbitrary: fc.constantFrom('x y', 'a-b', '$ref', 'k:') },
)
const { value: anyValue } = fc.letrec<{ value: unknown; list: unknown[]; object: Record<string, unknown> }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 6, arbitrary: prose },
    { weight: 2, arbitrary: fc.constantFrom(0, 1, -2.5, 1e21, true, false, null) },
    { weight: 2, arbitrary: tie('object') },
    { weight: 2, arbitrary: tie('list') },
  ),
  list: fc.array(tie('value'), { maxLength: 4 }),
  object: fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
}))
const input = fc.dictionary(name, anyValue, { minKeys: 1, maxKeys: 4, noNullPrototype: true })

type Kind = 'key' | 'text' | 'scalar' | 'open' | 'close' | 'comma' | 'colon' | 'space'
interface Token {
  readonly kind: Kind
  readonly raw: string
}

/** JSON as tokens, so that faults can be placed where models make them. */
function tokens(value: unknown, pretty: boolean, depth = 1): Token[] {
  if (typeof value !== 'object' || value === null)
    return [{ kind: typeof value === 'string' ? 'text' : 'scalar', raw: JSON.stringify(value) }]
  const space = (levels: number): Token => ({ kind: 'space', raw: pretty ? `\n${'  '.repeat(levels)}` : '' })
  const isList = Array.isArray(value)
  const members = Object.entries(value).map(([key, member]) => {
    const inner = tokens(member, pretty, depth + 1)
    const head: Token[] = [
      { kind: 'key', raw: JSON.stringify(key) },
      { kind: 'colon', raw: pretty ? ': ' : ':' },
    ]
    return [space(depth), ...(isList ? [] : head), ...inner]
  })
  const joined = members.flatMap((member, at) => (at === 0 ? member : [{ kind: 'comma' as const, raw: ',' }, ...member]))
  return [{ kind: 'open', raw: isList ? '[' : '{' }, ...joined, space(depth - 1), { kind: 'close', raw: isList ? ']' : '}' }]
}

const textOf = (list: readonly Token[]): string => list.map(({ raw }) => raw).join('')
/** Changes one of the tokens that a fault applies to. Returns undefined if there is none. */
const one =
  (applies: (token: Token, at: number, all: readonly Token[]) => boolean, change: (raw: string) => string) =>
  (all: readonly Token[], pick: number): string | undefined => {
    const places = all.flatMap((token, at) => (applies(token, at, all) ? [at] : []))
    const place = places[pick % places.length]
    return place === undefined ? undefined : textOf(all.map((token, at) => (at === place ? { ...token, raw: change(token.raw) } : token)))
  }
const all =
  (change: (token: Token) => string) =>
  (list: readonly Token[]): string =>
    list.map(change).join('')
const isText = ({ kind }: Token): boolean => kind === 'text'

type Fault = [what: string, make: (list: readonly Token[], pick: number) => string | undefined]
const FAULTS: Fault[] = [
  [
    'a trailing comma',
    one(
      (token, at, list) => token.kind === 'close' && list[at - 2]?.kind !== 'open',
      (raw) => `,${raw}`,
    ),
  ],
  [
    'a missing comma',
    one(
      ({ kind }) => kind === 'comma',
      () => ' ',
    ),
  ],
  [
    'a missing colon',
    one(
      ({ kind }) => kind === 'colon',
      () => ' ',
    ),
  ],
  [
    'a raw line break',
    one(
      (token) => isText(token) && token.raw.includes('\\n'),
      (raw) => raw.replaceAll(/(?<!\\)((?:\\\\)*)\\n/g, '$1\n'),
    ),
  ],
  ['a code fence', (list) => `\`\`\`json\n${textOf(list)}\n\`\`\``],
  ['prose', (list) => `Sure, I'll do it:\n\n\`\`\`json\n${textOf(list)}\n\`\`\`\n\nThis is it.`],
  ['a bracket too many', (list) => `${textOf(list)}}`],
  [
    'single quotes',
    all(({ kind, raw }) =>
      kind === 'key' || kind === 'text' ? `'${raw.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'` : raw,
    ),
  ],
  ['Python constants', all(({ raw }) => (({ true: 'True', false: 'False', null: 'None' }) as Record<string, string>)[raw] ?? raw)],
  ['unquoted keys', all(({ kind, raw }) => (kind === 'key' && /^"[a-z_$]+"$/.test(raw) ? raw.slice(1, -1) : raw))],
  [
    'a comment',
    one(
      ({ kind }) => kind === 'comma',
      (raw) => `${raw} // it's "so", {x}\n`,
    ),
  ],
]
/** Faults that often have to be refused: the missing part could be in several places, or the text looks truncated. */
const RISKY: Fault[] = [
  [
    'a missing inner bracket',
    one(
      (token, at, list) => token.kind === 'close' && at < list.length - 1,
      () => '',
    ),
  ],
  ['unescaped quotes', one((token) => isText(token) && token.raw.includes('\\"'), unescapeQuotes)],
  ['no escaped quotes at all', all((token) => (isText(token) ? unescapeQuotes(token.raw) : token.raw))],
  ['single quotes, apostrophes as they are', all(({ kind, raw }) => (kind === 'key' || kind === 'text' ? `'${raw.slice(1, -1)}'` : raw))],
  ['a missing last quote', one(isText, (raw) => raw.slice(0, -1))],
  ['a missing first quote', one(isText, (raw) => raw.slice(1))],
  [
    'an unquoted text',
    one(
      (token) => isText(token) && /^"\w[\w ./-]*\w"$/.test(token.raw),
      (raw) => raw.slice(1, -1),
    ),
  ],
  [
    'a missing opening bracket',
    one(
      (token, at) => token.kind === 'open' && at > 0,
      () => '',
    ),
  ],
  [
    'a wrong bracket',
    one(
      ({ kind }) => kind === 'close',
      (raw) => (raw === '}' ? ']' : '}'),
    ),
  ],
]

function unescapeQuotes(raw: string): string {
  return raw.replaceAll(/\\(.)/g, (pair, char) => (char === '"' ? '"' : pair))
}

const isJson = (raw: string): boolean => {
  try {
    JSON.parse(raw)
    return true
  } catch {
    return false
  }
}

/** To use another seed and print rates: SEED=7 vitest run … */
const SEED = Number(process.env['SEED'] ?? 1)
const RUNS = process.env['SEED'] ? 4000 : 500
const SAMPLES = fc.sample(fc.tuple(input, fc.boolean(), fc.nat()), { numRuns: RUNS, seed: SEED })

function rateOf(
  make: Fault[1],
  runs: number,
): { readonly repaired: number; readonly wrong: readonly (readonly [string, string, string])[] } {
  let repaired = 0
  let made = 0
  const wrong: [string, string, string][] = []
  for (const [value, pretty, pick] of SAMPLES.slice(0, runs)) {
    const raw = make(tokens(value, pretty), pick)
    if (raw === undefined || isJson(raw)) continue
    made++
    const read = readJson(raw)
    if (!read.ok) continue
    if (JSON.stringify(read.value) === JSON.stringify(value)) repaired++
    else wrong.push([JSON.stringify(value), raw, JSON.stringify(read.value)])
  }
  return { repaired: repaired / made, wrong }
}
describe('readJson', () => {
  it.each([...REPAIRED, ...UNCLEAR, ...CUT])('%s: %s', (_, raw, expected) => expect(outcome(raw)).toEqual(expected))

  it.each(REPAIRED)('%s is noted', (_, raw) =>
    expect(readJson(raw)).toMatchObject({ ok: true, fixes: expect.arrayContaining([expect.any(Object)]) }))

  it.each([...FAULTS, ...RISKY])('%s is repaired or refused, and never becomes something else', (what, make) => {
    const { repaired, wrong } = rateOf(make, RUNS)
    if (process.env['SEED']) process.stdout.write(`${what}: ${(repaired * 100).toFixed(1)} % repaired, ${wrong.length} wrong\n`)
    expect(wrong.slice(0, 3)).toEqual([])
  })

  it.each(FAULTS)('%s is repaired nearly always', (_, make) => expect(rateOf(make, 500).repaired).toBeGreaterThan(0.85))

  it('valid JSON is as it is, and nothing is noted', () => {
    const json = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue()), input)
    fc.assert(
      fc.property(json, fc.constantFrom(0, 2), (value, indent) => {
        const raw = JSON.stringify(value, null, indent)
        expect(readJson(raw)).toEqual({ ok: true, value: JSON.parse(raw), fixes: [] })
      }),
      { numRuns: 500 },
    )
  })

  it('no change of one character makes it throw', () => {
    const change = fc.record({ at: fc.nat(), remove: fc.nat({ max: 1 }), insert: fc.constantFrom('', ...'"\'\\{}[](),:/*#\n x0`“') })
    fc.assert(
      fc.property(input, change, (value, { at, remove, insert }) => {
        const raw = JSON.stringify(value)
        const place = at % raw.length
        const read = readJson(raw.slice(0, place) + insert + raw.slice(place + remove))
        expect(typeof read.ok).toBe('boolean')
      }),
      { numRuns: 3000 },
    )
  })

  it('what is cut off is never read, unless plain words and all brackets are there', () => {
    fc.assert(
      fc.property(input, fc.nat(), fc.boolean(), (value, pick, pretty) => {
        const whole = textOf(tokens(value, pretty))
        const raw = whole.slice(0, pick % whole.length)
        const read = readJson(raw)
        expect(read.ok && !read.fixes.some(({ what }) => what === 'a missing quote')).toBe(false)
        if (!read.ok && raw !== '') expect(read).toMatchObject({ cutOff: true, position: raw.length })
      }),
      { numRuns: 3000 },
    )
  })

  it.each([
    ...['{"a":', '"', '\\', '[', '/*', '{"a":"', "'", '{', '}', '" /*', '"//', '", "a', '"}', ']', '{"a":[', ' ', '\n#', '`', '```{', '“'],
    ...['"a" ', '1 ', 'a: ', ',', '{"a":"}', '"a":1,', '{}', '[],', '/**/', '\u00a0', 'a '],
  ])('a long text of %j is done with: what were not linear would run out of time', (piece) => {
    for (const head of ['{"a":"', '{"a":', '["', '[']) {
      const raw = head + piece.repeat(100_000 / piece.length)
      expect(typeof readJson(raw).ok).toBe('boolean')
    }
  })

  it.each([
    ['{a: b}', true],
    ['{"a": "b "c" d"}', true],
    ['{"a": "C:\\Users\\new"}', true],
    ['{"a": ["value]}', true],
    ['{"re": "\\d\\n"}', true],
    ['{"re": "\\d"}', false],
    ["{'a': 1,}", false],
    ['{"a": "b\nc"}', false],
    ['{"a":[1}', false],
  ])('tells if the fixes of %j decided about text: %j', (raw, changes) => {
    const read = readJson(raw)
    expect(read.ok && read.fixes.some(({ changesText }) => changesText)).toBe(changes)
  })

  it('a key is never the prototype', () => {
    const read = readJson('{"__proto__": {"x": 1}, "a": {__proto__: {y: 2}},}')
    expect(read.ok && Object.keys(read.value as object)).toEqual(['__proto__', 'a'])
    expect(read.ok && (read.value as { x?: number }).x).toBeUndefined()
  })

  it('says where the fault is', () => {
    expect(readJson('{"a": 1, "b": NaN}')).toMatchObject({ ok: false, position: 14, cutOff: false })
    expect(readJson('{"a": [1,2,], b: 2}')).toMatchObject({
      ok: true,
      fixes: [
        { what: 'a trailing comma', position: 11, changesText: false },
        { what: 'an unquoted key', position: 14, changesText: false },
      ],
    })
  })
})
