import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { redact } from './secrets.ts'

const secret = 'sk-a/b+c"d\\eé?f'

describe('a secret is not shown', () => {
  it.each([
    ['as it is', secret],
    ['as JSON', JSON.stringify(secret).slice(1, -1)],
    ['as JSON with escaped slashes', JSON.stringify(secret).slice(1, -1).replaceAll('/', '\\/')],
    ['in a URL', encodeURIComponent(secret)],
    ['in a URL, in small letters', encodeURIComponent(secret).replace(/%../g, (byte) => byte.toLowerCase())],
    ['as base64', Buffer.from(secret).toString('base64')],
  ])('%s', (_, form) => {
    expect(redact(`key ${form}, ${form}.`, [secret])).toBe('key [secret], [secret].')
  })

  it('within a longer text in base64, of either alphabet, wherever it stands', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ minLength: 4 }), fc.string(), (before, key, after) => {
        for (const alphabet of ['base64', 'base64url'] as const) {
          const text = Buffer.from(before + key.toWellFormed() + after).toString(alphabet)
          expect(redact(text, [key.toWellFormed()])).not.toBe(text)
        }
      }),
    )
  })

  it('text without one stays as it is, and what is too short is none', () => {
    expect(redact('an abc of words', [secret, 'abc', ''])).toBe('an abc of words')
  })
})
