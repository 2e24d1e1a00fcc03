import { chownSync, lchownSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { place } from '../common/place.fixture.ts'
import { projectInstructions } from './instructions.ts'

const OTHER = 12_345

// Only root can create a file that belongs to another user.
describe.skipIf(process.getuid?.() !== 0)('what another user has put above the folder', () => {
  const tree = () => {
    const here = place({ '../AGENTS.md': 'Theirs.', '../.git/HEAD': '', '../mid/AGENTS.md': 'Between.', '../mid/own/AGENTS.md': 'Own.' })
    return { here, root: join(here.dir, '..'), cwd: join(here.dir, '../mid/own') }
  }
  const texts = (cwd: string) => projectInstructions(cwd).map(({ text }) => text)

  it('makes no repository: neither its .git nor its folder', () => {
    for (const foreign of ['.git', '.']) {
      const { here, root, cwd } = tree()
      using _ = here
      expect(texts(cwd)).toEqual(['Theirs.', 'Between.', 'Own.'])
      chownSync(join(root, foreign), OTHER, OTHER)
      expect(texts(cwd)).toEqual(['Own.'])
    }
  })

  it('nor does a link to a .git of one’s own', () => {
    const here = place({ 'own/.git/HEAD': '', 'shared/AGENTS.md': 'Theirs.', 'shared/work/AGENTS.md': 'Own.' })
    using _ = here
    symlinkSync(join(here.dir, 'own/.git'), join(here.dir, 'shared/.git'))
    expect(texts(join(here.dir, 'shared/work'))).toEqual(['Theirs.', 'Own.'])
    lchownSync(join(here.dir, 'shared/.git'), OTHER, OTHER)
    expect(texts(join(here.dir, 'shared/work'))).toEqual(['Own.'])
  })

  it('is passed over on the way to the root of the repository', () => {
    const { here, root, cwd } = tree()
    using _ = here
    chownSync(join(root, 'mid'), OTHER, OTHER)
    expect(texts(cwd)).toEqual(['Theirs.', 'Own.'])
  })

  it('counts where the folder that is worked in belongs to the same user', () => {
    const { here, root, cwd } = tree()
    using _ = here
    for (const path of [root, join(root, '.git'), join(root, 'mid'), cwd]) chownSync(path, OTHER, OTHER)
    expect(texts(cwd)).toEqual(['Theirs.', 'Between.', 'Own.'])
  })
})
