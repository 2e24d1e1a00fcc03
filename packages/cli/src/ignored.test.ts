import { describe, expect, it } from 'vitest'
import { endIgnored, ignoredLine } from './ignored.ts'

const told = async (changed: () => Promise<readonly string[]>, isKept: boolean) => {
  const lines: string[] = []
  const ignored = { changed, keep: async () => ['Kept: dist.'] }
  const { signal } = new AbortController()
  await endIgnored(ignored, isKept, { out: () => undefined, err: (text) => lines.push(text), closed: signal, flush: async () => undefined })
  return lines.join('')
}

describe('changes to ignored files, at the end', () => {
  it.each<[string, readonly string[], boolean, string]>([
    ['nothing is said where there are none', [], false, ''],
    ['what does not exist is named', ['dist'], false, 'Not in the workspace: dist (git ignores it). --yes keeps such changes.\n'],
    ['--yes keeps them', ['dist'], true, 'Kept: dist.\n'],
    ['nothing is kept where there are none', [], true, ''],
  ])('%s', async (_, paths, isKept, line) => expect(await told(async () => paths, isKept)).toBe(line))

  it('what can not be found out is not a failure', async () =>
    expect(await told(() => Promise.reject(new Error('gone')), false)).toMatch(/not copied to the workspace: gone\n$/))

  it('many are counted', () =>
    expect(ignoredLine(['a', 'b', 'c', 'd', 'e', 'f', 'g'])).toBe('Not in the workspace: a, b, c, d, e and 2 more (git ignores them).'))
})
