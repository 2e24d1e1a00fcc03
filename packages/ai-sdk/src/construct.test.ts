/** What is refused when the engine is created. */
import { tool } from 'ai'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { mulligan } from './index.ts'
import { searchTool } from './mulligan.fixture.ts'

describe('mulligan()', () => {
  it.each([
    ['a tool that does not exist', { tools: { serch: {} } }, /has an entry for "serch"/],
    ['a timeout in milliseconds', { tools: { search: { timeout: 5000 } } }, /use 5$/],
    ['a field that there is none of', { tools: { search: { efect: 'read' } } }, /did you mean effect\?/],
  ])('refuses %s', (_, options, says) => {
    expect(() => mulligan(searchTool().tools, options as never)).toThrow(says)
  })

  it('takes a tool without a description, and with a name that not every provider takes', () => {
    expect(() => mulligan({ 'files.read': tool({ inputSchema: z.object({}), execute: () => '' }) })).not.toThrow()
  })

  describe('in another major of the AI SDK', () => {
    afterEach(() => {
      vi.doUnmock('ai')
      vi.resetModules()
    })

    it.each(['v2', 'v3', 'v5'])('whose models are %s: refuses to begin', async (specificationVersion) => {
      // The part of another major's package that is used here.
      vi.doMock('ai', async (original) => ({ ...(await original<object>()), wrapLanguageModel: () => ({ specificationVersion }) }))
      vi.resetModules()
      const other = await import('./index.ts')
      expect(() => other.mulligan({})).toThrow(
        `requires AI SDK 7, but another major version of "ai" is installed (its models use specification ${specificationVersion})`,
      )
    })
  })
})
