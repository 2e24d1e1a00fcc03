/** What the adapters make of the scenarios of `npm run compare`. */
import { describe, expect, it } from 'vitest'
import type { Driver } from './driver.ts'
import { seen } from './frameworks.ts'
import { SCENARIOS } from './scenarios.ts'

const EXPECTED: Readonly<Record<string, RegExp>> = {
  'number-as-text': /^ran at once$/,
  json: /^ran at once$/,
  name: /^ran at once$/,
  leaked: /^ran at once$/,
  exception: /^the model does not read it$/,
  loop: /^ran 3 times, ended in words$/,
  large: /^(?:1[5-9]|2\d),000 characters are sent$/,
  hang: /^the turn continues$/,
  empty: /^asked again, ended in words$/,
  'cut-off': /^ran after 2 requests$/,
}

describe.each(['langchain', 'openai-agents', 'mastra'])('%s', (name) => {
  it.each(SCENARIOS.filter(({ id }) => id in EXPECTED).map((one) => [one.title, one] as const))('%s', async (_, scenario) => {
    const { run } = (await import(`./drivers/mulligan-${name}.ts`)) as { readonly run: Driver }
    expect(scenario.verdict(await seen(run, scenario)).says).toMatch(EXPECTED[scenario.id] as RegExp)
  })
})
