/** Tests texts that are written differently from the file: what is found, what replaces it, and what is refused. */
import { describe, expect, test } from 'vitest'
import { plan } from '../plan.ts'
import { occurrences, sourceOf, textOccurrences } from './find.ts'
import { STRATEGIES, spaced } from './strategies.ts'

const edit = (old_text: string, new_text: string, replace_all = false) => ({ old_text, new_text, replace_all })

type Row = readonly [what: string, strategy: string, file: string, old: string, next: string, after: string]

const APPLIED: readonly Row[] = [
  ['spaces at the end of a line', 'line-trimmed', 'a = 1  \nb = 2\n', 'a = 1\nb = 2', 'a = 1\nb = 3', 'a = 1  \nb = 3\n'],
  ['spaces that the old text has', 'line-trimmed', 'a\nb\n', 'a  \nb', 'a  \nc', 'a\nc\n'],

  [
    'no indentation',
    'indentation-shifted',
    '  if (x) {\n    y()\n  }\n',
    'if (x) {\n  y()\n}',
    'if (x) {\n  z()\n}',
    '  if (x) {\n    z()\n  }\n',
  ],
  [
    'indentation that is not uniform: each line keeps that of the file',
    'indentation-shifted',
    'a:\n    b\n      c\n    d\n',
    'a:\n  b\n  c\n  d',
    'a:\n  b\n  C\n  d',
    'a:\n    b\n      C\n    d\n',
  ],
  ['an escaped line break', 'escaped', 'f(a)\ng(b)\nh(c)\n', 'f(a)\\ng(b)', 'f(a)\\ng(x)', 'f(a)\ng(x)\nh(c)\n'],
  ['escaped quotes', 'escaped', 'print("a", \'b\')\n', 'print(\\"a\\", \'b\')', 'print(\\"c\\", \'b\')', 'print("c", \'b\')\n'],
  ['an escaped variable', 'escaped', 'x = `a $b`\n', 'x = \\`a \\$b\\`', 'x = \\`a \\$c\\`', 'x = `a $c`\n'],
  ['escaped backslashes', 'escaped', "s = 'a\\n'\n", "s = 'a\\\\n'", "s = 'b\\\\n'", "s = 'b\\n'\n"],
  [
    'escaped and indented otherwise',
    'escaped',
    '  if (x) {\n    y("a")\n  }\n',
    'if (x) {\n  y(\\"a\\")\n}',
    'if (x) {\n  z(\\"a\\")\n}',
    '  if (x) {\n    z("a")\n  }\n',
  ],
  ['full-width forms', 'typography', 'ｆ（１，２）；\nx\n', 'f(1,2);', 'f(1,3);', 'ｆ（１，3）；\nx\n'],
  ['ligatures', 'typography', 'the ﬁle is oﬃcial\nx\n', 'the file is official', 'the file is unofficial', 'the ﬁle is unoﬃcial\nx\n'],
  ['too much', 'indentation-shifted', 'if x:\n    y\n', '    if x:\n        y', '    if x:\n        z', 'if x:\n    z\n'],
  [
    'another width',
    'indentation-shifted',
    'a {\n    b {\n        c\n    }\n}\n',
    'a {\n  b {\n    c\n  }\n}',
    'a {\n  b {\n    d {\n      e\n    }\n  }\n}',
    'a {\n    b {\n        d {\n            e\n        }\n    }\n}\n',
  ],
  [
    'spaces for tabs, deeper',
    'indentation-shifted',
    '\tf() {\n\t\tg()\n\t}\n',
    '  f() {\n    g()\n  }',
    '  f() {\n    if (h) {\n      g()\n    }\n  }',
    '\tf() {\n\t\tif (h) {\n\t\t\tg()\n\t\t}\n\t}\n',
  ],
  [
    'spaces for one tab, the width is seen in the new text',
    'indentation-shifted',
    'x\n\tf()\n',
    'x\n    f()',
    'x\n    if (y) {\n        f()\n    }',
    'x\n\tif (y) {\n\t\tf()\n\t}\n',
  ],
  [
    'tabs for spaces',
    'indentation-shifted',
    'a:\n  b:\n    c\n',
    'a:\n\tb:\n\t\tc',
    'a:\n\tb:\n\t\tc\n\t\t\td',
    'a:\n  b:\n    c\n      d\n',
  ],
  [
    'the new text is indented as the file already',
    'indentation-shifted',
    '    a {\n      b\n    }\n',
    'a {\n  b\n}',
    '    a {\n      c\n    }',
    '    a {\n      c\n    }\n',
  ],
  ['and begins with a blank line', 'indentation-shifted', 'x\n\n  old()\n', '\nold()', '\n  fresh()', 'x\n\n  fresh()\n'],
  [
    'only the first line lacks it',
    'indentation-shifted',
    '    if x:  \n        y\n',
    'if x:\n        y',
    'if x:\n        z\n    else:\n        w',
    '    if x:  \n        z\n    else:\n        w\n',
  ],
  ['a line deeper than any', 'indentation-shifted', '  a\n  b\n', ' a\n b', ' a\n   c', '  a\n    c\n'],
  ['lines of several depths that only go', 'indentation-shifted', 'if x:\n    a\n        b\n', 'if x:\na\nb', 'if x:\na', 'if x:\n    a\n'],

  [
    'quotes',
    'typography',
    'He said “yes” to it – twice…\n',
    '"yes" to it - twice...',
    '"no" to it - twice...',
    'He said “no” to it – twice…\n',
  ],
  ['Unicode spaces', 'typography', 'price:\u00a010\u202f€ now\n', 'price: 10 € now', 'price: 12 € now', 'price:\u00a012\u202f€ now\n'],
  ['decomposed letters in the file', 'typography', 'cafe\u0301 ole\u0301\n', 'café olé', 'café con leche', 'cafe\u0301 con leche\n'],
  ['decomposed letters in the old text', 'typography', 'café olé\n', 'cafe\u0301 ole\u0301', 'the\u0301', 'thé\n'],
  ['typographic in the old text', 'typography', "it's – no, it is\n", 'it’s', 'it was', 'it was – no, it is\n'],
  ['with other indentation', 'typography', '    “a”\n    b\n', '"a"\nb', '"a"\nc', '    “a”\n    c\n'],
  ['jamo', 'typography', '\u1112\u1161\u11ab x\n', '한 x', '한 y', '\u1112\u1161\u11ab y\n'],

  ['single for double', 'quotes', 'log("a")\nlog("b")\n', "log('a')\nlog('b')", "log('a')\nlog('c')", 'log("a")\nlog(\'c\')\n'],
  ['in a part of a line', 'quotes', 'import x from "y"; // z\n', "import x from 'y'", "import x from 'w'", "import x from 'w'; // z\n"],
  ['backticks', 'quotes', '  f(`a`)\n  g\n', "f('a')\ng", "f('a')\nh", '  f(`a`)\n  h\n'],
  ['a line that moves', 'quotes', 'a("1")\nb("2")\n', "a('1')\nb('2')", "b('2')\na('1')", 'b("2")\na("1")\n'],

  [
    'spaces between signs',
    'spacing',
    '  function  f( a, b ) {\n    x\n',
    'function f(a, b) {',
    'const f = (a, b) => {',
    '  const f = (a, b) => {\n    x\n',
  ],
  ['a line that stays', 'spacing', 'f( a )\ng( b )\n', 'f(a)\ng(b)', 'f(a)\nh(b)', 'f( a )\nh(b)\n'],

  [
    'a comma',
    'punctuation',
    '  x = {\n    a: true,\n    b: 3\n  };',
    'x = {\n  a: true\n  b: 3\n};',
    'x = {\n  a: false,\n  b: 5\n};',
    '  x = {\n    a: false,\n    b: 5\n  };',
  ],
  ['a line that stays', 'punctuation', 'a();\nb();\nc();\n', 'a()\nb()\n', 'a()\nd();\n', 'a();\nd();\nc();\n'],
  ['a line that goes', 'punctuation', 'a();\nb();\nc();\n', 'a()\nb()\n', 'a()\n', 'a();\nc();\n'],
  ['a line more, with the sign', 'punctuation', 'a();\nb();\n', 'a()\nb()\n', 'a()\nx();\nb()\n', 'a();\nx();\nb();\n'],
]

test.each(APPLIED)('%s (%s)', (_, strategy, file, old, next, after) => {
  const result = plan(file, [edit(old, next)])
  expect(result).toMatchObject({ ok: true, text: after, applied: [{ strategy: { name: strategy } }] })
  // None of the earlier strategies matches, so this one is needed.
  const before = STRATEGIES.slice(
    0,
    STRATEGIES.findIndex(({ name }) => name === strategy),
  )
  const without = plan(file, [edit(old, next)], before)
  expect(without.ok && without.text).not.toBe(after)
})

test.each([
  ['an inserted line where one depth stands for several', 'if x:\n    a\n        b\n', 'if x:\na\nb', 'if x:\na\nc\nb'],
  ['an escape that the old text lacks', 'print("a")\n', 'print(\\"a\\")', 'print(\\"a\\n\\")'],
  ['punctuation that was escaped', '"$"\n', '\\"\\$\\"', 'x'],
  ['a line of several depths, one of which goes', '  }\n    }\nx\n', '}\n}\nx', '}\nx'],
  ['a space between two words more', 'return x\n', 'returnx\n', 'y\n'],
  ['a space between two words less', 'go to\n', 'g o to\n', 'y\n'],
  ['a sign that becomes another', 'a + +b\n', 'a ++b\n', 'y\n'],
  ['spaces in a string', "f('a  b', 1)\n", "f('a b',1)\n", 'y\n'],
  ['spaces in a string with the other quote', 'f("it\'s  b", 1)\n', 'f("it\'s b",1)\n', 'y\n'],
  ['spaces across lines', 'f(\na)\n', 'f( a)', 'y'],
  ['a comma left out again', '  a: 1,\n  b: 2\n', 'a: 1\nb: 2', 'a: 3\nb: 2'],
  ['a comma left out of a line more', 'a: 1,\nb: 2,\nc: 3\n', 'a: 1\nb: 2\n', 'a: 1\nb: 2\nx: 9\n'],
  ['a comma left out where one line becomes two', 'a: 1,\nb: 2\n', 'a: 1\nb: 2', 'x: 1,\ny: 1,\nb: 2'],
  ['a line with a comma that moves', 'a: 1,\nb: 2\n', 'a: 1\nb: 2', 'b: 2\na: 1'],
  ['a sign that the file does not have', 'a\nb\n', 'a;\nb', 'c'],
  ['signs alone', '“”\n', '""', 'x'],
])('is no match: %s', (_, file, old, next) => expect(plan(file, [edit(old, next)])).toMatchObject({ ok: false, problem: { kind: 'none' } }))

test.each([
  ['line-trimmed', 'a \nb\na \nb\n', 'a\nb\n'],
  ['indentation-shifted', '  a\n  b\n    a\n    b\n', 'a\nb'],
  ['typography', '“a” “a”\n', '"a"'],
  ['quotes', 'f("a")\nf(`a`)\n', "f('a')"],
  ['spacing', 'f( a )\nf(a )\n', 'f(a)\n'],
  ['punctuation', 'a,\nb,\na;\nb\n', 'a\nb'],
])('two places are refused: %s; and both are changed with replace_all', (strategy, file, old) => {
  expect(plan(file, [edit(old, 'new')])).toMatchObject({ ok: false, problem: { kind: 'several', strategy: { name: strategy } } })
  expect(plan(file, [edit(old, '', true)])).toMatchObject({ ok: true, applied: [{ strategy: { name: strategy }, lines: { length: 2 } }] })
})

test('what the edit comes to is in the file already', () => {
  expect(plan('a,\nb\n', [edit('a\nb', 'a,\nb')])).toMatchObject({ ok: false, problem: { kind: 'unchanged' } })
})

test('line ends in a file with both: of lines that stay, and of lines that are added', () => {
  const result = plan('a\r\nb\nc\r\nd\n', [edit('a\nb\nc\nd', 'a\nb\nx\ny\nd')])
  expect(result).toMatchObject({ ok: true, text: 'a\r\nb\nx\r\ny\r\nd\n' })
})

test.each([
  ['a  b', 'a b'],
  [' f( a , b ) ', 'f(a,b)'],
  ["x = 'a  \\'  b'  + 1", "x='a  \\'  b'+1"],
  ["don't  touch", "don't  touch"],
  ['a + + b', 'a+ +b'],
])('%j is spaced as %j', (line, key) => expect(spaced(line)).toBe(key))

describe('occurrences', () => {
  test.each([
    ['aaaa', 'aa', [0, 1, 2]],
    ['abcabcabd', 'abcabd', [3]],
    ['ab', 'abc', []],
    ['abab', 'abab', [0]],
  ])('of %j: %j', (text, wanted, at) => {
    const units = (value: string): Int32Array => Int32Array.from(value, (char) => char.charCodeAt(0))
    expect(occurrences(units(text), units(wanted), 9)).toEqual(at)
    expect(textOccurrences(sourceOf(text), wanted, 9)).toEqual(at)
  })

  test('a long text is found as a short one is, and no more than asked for', () => {
    const wanted = 'äb'.repeat(200)
    expect(textOccurrences(sourceOf(`x${wanted}äb`), wanted, 9)).toEqual([1, 3])
    expect(textOccurrences(sourceOf(`x${wanted}äb`), wanted, 1)).toEqual([1])
  })
})
