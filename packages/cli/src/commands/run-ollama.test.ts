/** Tests what a user sees of Ollama, with the real command. */
import { say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { place } from '../../test/cli.fixture.ts'
import { hasTerminal, inTerminal } from '../../test/terminal.fixture.ts'

describe('on stderr', () => {
  it('that the context was full, while stdout has the answer alone', async () => {
    using here = place()
    await using model = await scriptedModel([say('Yes.', { usage: { input: 8191, output: 1 } })])
    const env = { OLLAMA_HOST: model.ollamaUrl, MULLIGAN_CONTEXT: '8192' }
    const { code, stdout, stderr } = await here.run(['Hi', '--model', 'ollama/x'], { env })
    expect([code, stdout]).toEqual([0, 'Yes.\n'])
    expect(stderr).toMatch(/^! Ollama has no room left: it read 8,191 tokens\. Its context is 8,192 tokens\..*MULLIGAN_CONTEXT/m)
  })

  it('a model that does not exist, before anything is sent', async () => {
    using here = place()
    await using model = await scriptedModel([], { ollama: { models: [{ name: 'glm-4.7-flash' }] } })
    const { code, stdout, stderr } = await here.run(['Hi', '--model', 'ollama/glm'], { env: { OLLAMA_HOST: model.ollamaUrl } })
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(/Ollama has no model glm\n.*ollama pull glm/)])
  })
})

// In CI, these tests fail if `script` is missing.
describe.skipIf(!hasTerminal)('in a terminal', () => {
  it('a model that is being loaded is waited for with a line that goes away', async () => {
    using here = place()
    const loading = Promise.withResolvers<void>()
    await using model = await scriptedModel([say('It is done.')], { ollama: { loading: loading.promise } })
    const flags = ['--model', 'ollama/x', '--base-url', model.ollamaUrl]
    const { code, stdout } = await inTerminal(here, model, [['(loading the model)', () => loading.resolve()]], flags)
    expect(code).toBe(0)
    expect(stdout).toMatch(/waiting for ollama\/x… \d+ s \(loading the model\)[^\n]*\r\x1b\[2KIt is done\.\n/)
  })
})
