import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJsonc } from './jsonc.ts'
import { setIn, unsetIn } from './jsonc-edit.ts'
import { valueAt, withoutValue, withValue } from './value-at.ts'

const FILE = `{
  // the model
  "model": "a", // mine
  "limits": {
    "requests": 5 // few
  }, /* more */
  "tools": { "off": ["x"] }
}
`

describe('a key is set', () => {
  it.each<[string, string, string[], unknown, string]>([
    ['in an empty file', '', ['limits', 'calls'], 5, '{\n  "limits": {\n    "calls": 5\n  }\n}\n'],
    ['in comments alone', '// mine', ['model'], 'x', '// mine\n{\n  "model": "x"\n}\n'],
    ['where it was', FILE, ['model'], 'b', FILE.replace('"a"', '"b"')],
    ['further in', FILE, ['limits', 'requests'], 9, FILE.replace('5', '9')],
    ['beside others', FILE, ['limits', 'calls'], 9, FILE.replace('5 // few', '5, // few\n    "calls": 9')],
    ['in an object on one line', FILE, ['tools', 'lean'], ['y', 'z'], FILE.replace('["x"] }', '["x"],\n    "lean": ["y", "z"] \n  }')],
    [
      'with its object',
      '{\n  "model": "a",\n}',
      ['web', 'search'],
      { a: 1 },
      '{\n  "model": "a",\n  "web": {\n    "search": { "a": 1 }\n  }\n}',
    ],
    ['with Windows lines', '\ufeff{\r\n\t"a": 1\r\n}\r\n', ['b'], 2, '\ufeff{\r\n\t"a": 1,\r\n\t"b": 2\r\n}\r\n'],
    ['in place of another value', '{ "limits": null }', ['limits', 'calls'], 1, '{ "limits": {\n  "calls": 1\n} }'],
    ['where it stands twice', '{ "a": 1, "a": 2 }', ['a'], 3, '{ "a": 1, "a": 3 }'],
  ])('%s', (_, before, path, value, after) => expect(setIn(before, path, value)).toBe(after))

  it.each([['[]'], ['"x"'], ['{ "a": '], ['null']])('%s is left alone', (text) => expect(setIn(text, ['a'], 1)).toBeUndefined())
})

describe('a key is taken out', () => {
  it.each<[string, string, string[], string]>([
    ['the first', '{\n  "a": 1,\n  "b": 2\n}\n', ['a'], '{\n  "b": 2\n}\n'],
    ['the last', '{\n  "a": 1,\n  "b": 2\n}\n', ['b'], '{\n  "a": 1\n}\n'],
    ['the last, with a comma', '{\n  "a": 1,\n  "b": 2,\n}\n', ['b'], '{\n  "a": 1,\n}\n'],
    ['the only one', '{ "a": 1 }', ['a'], '{ }'],
    ['with comments around it', FILE, ['limits'], FILE.replace(/ {2}"limits"[^}]*\}, /, '  ')],
    ['further in', FILE, ['limits', 'requests'], FILE.replace('"requests": 5 ', '')],
    ['that stands twice', '{ "a": 1, "b": 0, "a": 2 }', ['a'], '{ "b": 0 }'],
    ['that does not exist', FILE, ['mode'], FILE],
  ])('%s', (_, before, path, after) => expect(unsetIn(before, path)).toBe(after))
})

it('any object: the rest is as it was', () => {
  const value = fc.dictionary(fc.constantFrom('a', 'b', 'c', '"', 'd.e'), fc.jsonValue({ maxDepth: 3 }))
  const path = fc.array(fc.constantFrom('a', 'b', 'c', '"', 'd.e'), { minLength: 1, maxLength: 3 })
  const comment = fc.constantFrom('', ' // c, "a": {', ' /* ] } */ ')
  fc.assert(
    fc.property(value, path, fc.jsonValue(), fc.nat(3), comment, (object, at, inner, indent, said) => {
      const plain = JSON.parse(JSON.stringify(object)) as unknown
      const text = `${said && '/* { */\n'}${JSON.stringify(plain, undefined, indent).replace(/\{/, `{${said}\n`)}${said}\n`
      const next = JSON.parse(JSON.stringify(inner)) as unknown
      const set = setIn(text, at, next)
      expect(parseJsonc(set ?? '')).toEqual({ ok: true, value: withValue(plain, at, next) })
      expect(valueAt(parseJsonc(set ?? '').ok ? (parseJsonc(set ?? '') as { value: unknown }).value : undefined, at)).toEqual(next)
      expect(parseJsonc(unsetIn(text, at) ?? '')).toEqual({ ok: true, value: withoutValue(plain, at) })
    }),
  )
})
