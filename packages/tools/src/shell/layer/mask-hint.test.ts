import { expect, test } from 'vitest'
import { maskHint } from './secrets.ts'

const masks = ['.env', 'certs/server.key', ".npmrc's"]
const hint = (more: object) => maskHint({ script: 'npm test', output: '', failed: true, masks, readable: [], ...more })

test.each([
  [
    'the command names it',
    { script: 'cat ./.env', failed: false },
    /^\.env: commands see secret files empty.*sandbox\.readable '\["\.env"\]'\.$/,
  ],
  ['the output does', { output: 'Error: certs/server.key is empty' }, /certs\/server\.key/],
  ['a failed command may have read .env by itself', {}, /^\.env:/],
  ['what is readable stays so', { readable: ['a.pem'] }, /'\["a\.pem","\.env"\]'/],
  ['quotes', { script: "cat .npmrc's", failed: false, output: '' }, /'\["\.npmrc'\\''s"\]'/],
])('%s', (_, more, says) => expect(hint(more)).toMatch(says))

test.each([
  ['it worked, and nothing names it', { failed: false }],
  ['another file', { script: 'cat .env.example prod.env xserver.key', failed: false }],
  ['nothing is masked', { masks: [] }],
  ['only the output of one that worked', { failed: false, output: '.env' }],
  ['an .env further down, which nothing names', { masks: ['deploy/.env'] }],
])('nothing is said: %s', (_, more) => expect(hint(more)).toBeUndefined())
