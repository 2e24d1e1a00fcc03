import { chmodSync, existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { refused, run, temporary } from '../../workspace.fixture.ts'
import { canary, freshHome, repository } from '../git.fixture.ts'
import { pathsIn, programsIn } from './refusals.ts'

beforeAll(() => void freshHome())

describe('a program that the model could have written is not run by a commit', () => {
  const changed = (options = {}) => {
    const r = repository({ 'a.txt': 'a\n', 'tools/keep': '' }, options)
    const { script, sign } = canary(temporary())
    r.put({ 'tools/clean.sh': `#!/bin/sh\nexec '${script}'\n`, '.gitattributes': '*.txt filter=f\n', 'a.txt': 'A\n' })
    chmodSync(join(r.root, 'tools/clean.sh'), 0o755)
    return { r, sign }
  }

  test.each([
    ['filter.f.clean', './tools/clean.sh'],
    ['filter.f.clean', 'sh "tools/clean.sh" %f'],
    ['filter.f.clean', 'FILE=tools/clean.sh; sh $FILE'],
    ['filter.f.clean', '.git/link.sh'],
    ['filter.f.process', 'sh -e tools/clean.sh'],
    ['gpg.program', 'tools/clean.sh'],
    ['gpg.ssh.program', './tools/clean.sh'],
    ['gpg.ssh.defaultKeyCommand', 'sh tools/clean.sh'],
  ])('%s = %s', async (key, command) => {
    const { r, sign } = changed()
    symlinkSync('../tools/clean.sh', join(r.root, '.git/link.sh'))
    r.git('config', key, command)
    if (key.startsWith('gpg')) {
      r.git('config', 'commit.gpgSign', 'true')
      if (key === 'gpg.ssh.program') r.git('config', 'user.signingKey', 'key::none')
      r.git('config', 'gpg.format', key.includes('ssh') ? 'ssh' : 'openpgp')
    }
    const error = await refused(r.tool('git_commit'), { message: 'A message', paths: ['a.txt'] })
    expect(error).toMatchObject({ status: 'failed', errorType: 'config', message: expect.stringContaining('tools/clean.sh') })
    expect(error.message).not.toContain(r.root)
    expect(existsSync(sign)).toBe(false)
    // Control: plain git does run it.
    try {
      r.git('commit', '--quiet', '-m', 'plain', 'a.txt')
    } catch {
      // Its output is not a valid signature.
    }
    expect(existsSync(sign)).toBe(true)
  })

  test('but where that is set', async () => {
    const { r, sign } = changed({ hooks: 'all' })
    r.git('config', 'filter.f.clean', './tools/clean.sh')
    await run(r.tool('git_commit'), { message: 'A message', paths: ['a.txt'] })
    expect(existsSync(sign)).toBe(true)
  })
})

test('words that may be paths', () => {
  expect(pathsIn('git-lfs clean -- %f')).not.toContain('git-lfs')
  expect(pathsIn("node 'a.js' --rc=b/c.json; ./d")).toEqual(expect.arrayContaining(['a.js', 'b/c.json', './d']))
  const entries = ['filter.x.clean', 'filter.x.required', 'gpg.program', 'diff.x.command'].map((key) => ({
    scope: 'local',
    file: '',
    key,
    value: '',
  }))
  expect(programsIn(entries).map(({ key }) => key)).toEqual(['filter.x.clean', 'gpg.program'])
})
