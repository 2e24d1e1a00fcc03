/** The unchanged example, in a separate process, with the built packages. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { call, say, scriptedModel } from '@mulligan/testing'
import { expect, it } from 'vitest'

const FILE = fileURLToPath(new URL('../../../examples/mastra-agent.ts', import.meta.url))

it('runs a call that had to be repaired, and prints the answer', async () => {
  await using server = await scriptedModel([call('Weather', { city: 'Lisbon', days: '2' }), say('Take one.')])
  const { stdout } = await promisify(execFile)(process.execPath, [FILE], { env: { BASE_URL: server.url } })
  server.assertDone()
  expect(stdout).toBe('Lisbon: rain, then sun; rain, then sun\nTake one.\n')
})
