import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { unexpected } from './stderr-list.ts'

const list = readFileSync(new URL('./npm-ci-stderr.txt', import.meta.url), 'utf8')

it('what is on the list passes, a new warning does not', () => {
  expect(unexpected(`npm warn EBADENGINE   package: 'vitest@5.1.1',\nnpm warn EBADENGINE }\n`, list)).toEqual([])
  const fresh = 'npm warn deprecated left-pad@1.0.0: use String.prototype.padStart()'
  expect(unexpected(`npm warn EBADENGINE }\n${fresh}\n`, list)).toEqual([fresh])
  expect(unexpected(`npm warn EBADENGINE   package: 'left-pad@1.0.0',\n`, list)).toHaveLength(1)
})
