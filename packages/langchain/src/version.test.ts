import { afterEach, expect, it, vi } from 'vitest'

afterEach(() => {
  vi.doUnmock('langchain/package.json')
  vi.resetModules()
})

it.each(['0.3.37', '1.4.9', '2.0.0'])('refuses to begin with langchain %s', async (version) => {
  vi.doMock('langchain/package.json', () => ({ default: { version } }))
  vi.resetModules()
  const { mulligan } = await import('./index.ts')
  expect(() => mulligan()).toThrow(`requires langchain 1.5 or a later 1.x, but ${version} is installed`)
})

it.each(['1.5.0', '1.12.3'])('begins with langchain %s', async (version) => {
  vi.doMock('langchain/package.json', () => ({ default: { version } }))
  vi.resetModules()
  const { mulligan } = await import('./index.ts')
  expect(() => mulligan()).not.toThrow()
})
