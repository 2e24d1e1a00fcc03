import { expect, it } from 'vitest'
import { sessionTitle } from './session-id.ts'

it('a title is the beginning of the prompt, and shows that there is more of it', () => {
  expect(sessionTitle('  Why does\n npm test fail?  ')).toBe('Why does npm test fail?')
  expect(sessionTitle('a'.repeat(60))).toBe('a'.repeat(60))
  expect(sessionTitle(`${'word '.repeat(30)}`)).toBe(`${'word '.repeat(12).slice(0, 59).trimEnd()}…`)
})
