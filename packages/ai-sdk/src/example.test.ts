/** The unchanged example, in a separate process, with the built packages. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { lastToolResults, say, scriptedModel } from '@mulligan/testing'
import { expect, it } from 'vitest'
import { glm } from './agent.fixture.ts'

const FILE = fileURLToPath(new URL('../../../examples/ai-sdk-middleware.ts', import.meta.url))

it('runs the call that a local GLM leaked, and prints the answer', async () => {
  const leak = say(`I look it up.\n${glm('weather', { city: 'Lisbon', days: '2' })}`)
  await using server = await scriptedModel([leak, say('Today yes.')])
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [FILE], { env: { BASE_URL: server.url } })
  server.assertDone()
  expect(stdout).toMatch(/^I look it up\.\s*Today yes\.$/)
  expect(stderr).toBe('repaired weather (envelope): a call written into the text as glm does\n')
  const [, second] = server.requests
  expect(second && lastToolResults(second).map(({ text }) => text)).toEqual(['Lisbon, 2 days: rain, then sun.'])
})

it('is short enough to be copied', () => {
  expect(readFileSync(FILE, 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(40)
})
