import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJsonc } from './jsonc.ts'
import { insertInto } from './jsonc-edit.ts'

const RULE = { decision: 'allow', tool: 'bash' }
const LINE = '{ "decision": "allow", "tool": "bash" }'

describe('a rule goes into a file', () => {
  it.each([
    ['an empty one', '', `{\n  "policy": [\n    ${LINE}\n  ]\n}\n`],
    ['one with comments alone', '// mine', `// mine\n{\n  "policy": [\n    ${LINE}\n  ]\n}\n`],
    ['an empty object', '{}', `{\n  "policy": [\n    ${LINE}\n  ]\n}`],
    [
      'one without rules',
      '{\n\t// the model\n\t"model": "x" // mine\n}\n',
      `{\n\t// the model\n\t"model": "x", // mine\n\t"policy": [\n\t\t${LINE}\n\t]\n}\n`,
    ],
    ['a comma at the end', '{\n  "model": "x",\n}\n', `{\n  "model": "x",\n  "policy": [\n    ${LINE}\n  ]\n}\n`],
    ['an empty list', '{ "policy": [] }', `{ "policy": [\n  ${LINE}\n] }`],
    [
      'a list with comments',
      '{\n  "policy": [\n    { "decision": "deny" }, // never\n    // and\n    { "decision": "ask" } // last\n  ],\n  "model": "x"\n}\n',
      `{\n  "policy": [\n    { "decision": "deny" }, // never\n    // and\n    { "decision": "ask" }, // last\n    ${LINE}\n  ],\n  "model": "x"\n}\n`,
    ],
    ['Windows lines', '{\r\n  "model": "x"\r\n}\r\n', `{\r\n  "model": "x",\r\n  "policy": [\r\n    ${LINE}\r\n  ]\r\n}\r\n`],
    ['a byte order mark', '\ufeff{ }', `\ufeff{\n  "policy": [\n    ${LINE}\n  ] \n}`],
    [
      'a key of the same name further in',
      '{ "agents": { "policy": { "prompt": "[" } } }',
      `{ "agents": { "policy": { "prompt": "[" } },\n  "policy": [\n    ${LINE}\n  ] \n}`,
    ],
  ])('%s', (_, before, after) => expect(insertInto(before, 'policy', RULE)).toBe(after))

  it.each([
    [0, `{\n  "policy": [\n    // first\n    ${LINE},\n    { "a": [1, 2] },\n    { "b": 2 },\n  ],\n}`],
    [1, `{\n  "policy": [\n    // first\n    { "a": [1, 2] },\n    ${LINE},\n    { "b": 2 },\n  ],\n}`],
    [2, `{\n  "policy": [\n    // first\n    { "a": [1, 2] },\n    { "b": 2 },\n    ${LINE}\n  ],\n}`],
  ])('before entry %i', (index, after) =>
    expect(insertInto('{\n  "policy": [\n    // first\n    { "a": [1, 2] },\n    { "b": 2 },\n  ],\n}', 'policy', RULE, index)).toBe(after))

  it.each([['{ "policy": {} }'], ['[]'], ['{ "policy": ['], ['"x"'], ['null']])('%s is left alone', (text) =>
    expect(insertInto(text, 'policy', RULE)).toBeUndefined())

  it('any object: the rest is as it was', () => {
    const entries = fc.dictionary(fc.string(), fc.jsonValue())
    const comma = fc.constantFrom('', ' // c, "policy": [', ' /* ] } */ ')
    fc.assert(
      fc.property(
        entries,
        fc.option(fc.array(fc.jsonValue(), { maxLength: 4 }), { nil: undefined }),
        fc.nat(4),
        fc.nat(3),
        comma,
        (rest, list, at, indent, comment) => {
          const { policy: _, ...others } = rest
          const value = JSON.parse(JSON.stringify(list ? { ...others, policy: list } : others))
          const text = `${comment && '/* [ */\n'}${JSON.stringify(value, undefined, indent)}${comment}\n`
          const index = Math.min(at, list?.length ?? 0)
          const changed = insertInto(text, 'policy', RULE, index)
          expect(parseJsonc(changed ?? '')).toEqual({
            ok: true,
            value: { ...value, policy: (value.policy ?? []).toSpliced(index, 0, RULE) },
          })
        },
      ),
    )
  })
})
