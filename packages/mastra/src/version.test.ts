import { afterEach, expect, it, vi } from 'vitest'

afterEach(() => {
  vi.doUnmock('@mastra/core/package.json')
  vi.resetModules()
})

it.each(['0.24.9', '1.70.3', '2.0.0'])('refuses to begin with @mastra/core %s', async (version) => {
  vi.doMock('@mastra/core/package.json', () => ({ default: { version } }))
  vi.resetModules()
  const { mulligan } = await import('./index.ts')
  expect(() => mulligan()).toThrow(`requires @mastra/core 1.71 or a later 1.x, but ${version} is installed`)
})

it.each(['1.71.0', '1.80.2'])('begins with @mastra/core %s', async (version) => {
  vi.doMock('@mastra/core/package.json', () => ({ default: { version } }))
  vi.resetModules()
  const { mulligan } = await import('./index.ts')
  expect(() => mulligan()).not.toThrow()
})
