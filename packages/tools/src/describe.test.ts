import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { describe } from './describe.ts'
import { put, temporary } from './workspace.fixture.ts'

const dir = temporary()
put(dir, { 'description.md': 'At most {{LINES}} lines of {{WHAT}}.\n' })
const here = pathToFileURL(`${dir}/tool.js`).href

test('the limits are in the text', () => {
  expect(describe(here, { LINES: 2000, WHAT: 'text' })).toBe('At most 2,000 lines of text.')
})

test('a limit that is not given is noticed', () => {
  expect(() => describe(here, { LINES: 1 })).toThrow('{{WHAT}}')
})
