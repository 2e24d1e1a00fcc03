import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fixture, refused } from '../../workspace.fixture.ts'
import { patch } from '../apply_patch/patch.fixture.ts'
import { decode, type Encoding, encode } from './encoding.ts'

describe('half of a character', () => {
  const BROKEN = 'one\nx\ud800y'
  test.each([
    ['write_file', { path: 'b.txt', content: BROKEN }, 'content'],
    ['edit_file', { path: 'a.txt', edits: [{ old_text: 'a', new_text: BROKEN }] }, 'edits'],
    ['apply_patch', { patch: patch('*** Add File: b.txt', '+one', '+x\ud800y') }, 'patch'],
    ['apply_patch', { patch: patch('*** Update File: a.txt', '@@', '-a', '+one', '+x\ud800y') }, 'patch'],
  ])('%s is asked again, and writes nothing', async (name, input, parameter) => {
    const { root, tool } = fixture({ 'a.txt': 'a\n' })
    const error = await refused(tool(name), input)
    expect(error).toMatchObject({ status: 'retry', errorType: 'validation', details: { parameter, value: '\\ud800' } })
    expect(error.message).toMatch(/^Line 2 .*\\ud800, in column 2\. Nothing was written/)
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('a\n')
  })

  test('what is encoded comes back as it was, or is refused', () => {
    const encodings = fc.constantFrom<Encoding>('utf-8', 'utf-8-bom', 'utf-16le', 'utf-16be')
    const units = fc.constantFrom('a', '\n', '\ud83d', '\ude00', 'ä')
    fc.assert(
      fc.property(fc.string({ unit: units }), encodings, (text, encoding) => {
        if (text.isWellFormed()) expect(decode(encode(text, encoding), encoding)).toBe(text)
        else expect(() => encode(text, encoding)).toThrow('half a character')
      }),
    )
  })
})
