/** A tool of one's own, held to the contract by a test. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineTool, ModelRetry } from '@mulligan/core'
import { conformance } from '@mulligan/testing'
import { z } from 'zod'

const cityTime = defineTool({
  name: 'city_time',
  description: 'The time of day in a city.',
  effect: 'read',
  input: z.object({ city: z.string() }),
  examples: [
    { outcome: 'ok', input: { city: 'Osaka' } },
    { outcome: 'retry', input: { city: 'Osacka' } },
  ],
  execute: ({ city }) => {
    if (city === 'Osaka') return 'nine'
    throw new ModelRetry(`There is no city "${city}".`, { errorType: 'not_found', parameter: 'city', value: city, suggestion: 'Osaka' })
  },
})

test('city_time keeps the contract', async () => {
  const report = await conformance(() => [cityTime])
  assert.deepEqual(
    report.tools.flatMap(({ checks }) => checks.filter(({ outcome }) => outcome === 'fail')),
    [],
  )
})
