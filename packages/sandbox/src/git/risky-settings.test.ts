import { expect, test } from 'vitest'
import type { ConfigSetting } from './harmless-config.ts'
import { riskySettings } from './risky-settings.ts'

const BEFORE: readonly ConfigSetting[] = [
  ['core.bare', 'false'],
  ['core.hookspath', '.husky/_'],
  ['remote.origin.url', 'https://example.org/a.git'],
  ['remote.origin.fetch', '+refs/heads/*:refs/remotes/origin/*'],
  ['branch.main.remote', 'origin'],
]
const set = (key: string, value = 'x'): readonly ConfigSetting[] => [...BEFORE.filter(([one]) => one !== key), [key, value]]

test.each([
  ['nothing', BEFORE],
  ['less', BEFORE.slice(0, 1)],
  ['a name', set('user.name')],
  ['a new remote', [...BEFORE, ['remote.up.url', '../up.git'], ['remote.up.fetch', '+a:b']]],
  ['a branch that follows one', [...BEFORE, ['branch.topic.remote', 'origin'], ['branch.topic.merge', 'refs/heads/topic']]],
  ['what is fetched of a remote', set('remote.origin.fetch', '+refs/*:refs/*')],
] as const)('harmless: %s', (_, after) => expect(riskySettings(BEFORE, after as readonly ConfigSetting[])).toEqual([]))

test.each([
  ...['core.hookspath', 'core.fsmonitor', 'core.sshcommand', 'core.editor', 'core.pager', 'core.worktree'],
  ...['alias.st', 'filter.x.clean', 'filter.x.smudge', 'diff.x.command', 'diff.x.textconv', 'merge.x.driver', 'credential.helper'],
  ...['include.path', 'includeif.gitdir:/.path', 'gpg.program', 'gpg.ssh.program', 'sequence.editor', 'remote.origin.uploadpack'],
  ...['remote.origin.url', 'remote.origin.pushurl', 'remote.pushdefault', 'branch.main.remote', 'branch.main.pushremote'],
  ...[
    'url.https://evil/.insteadof',
    'url.https://evil/.pushinsteadof',
    'submodule.x.update',
    'uploadpack.packobjectshook',
    'core.gitproxy',
  ],
  ...['protocol.ext.allow', 'safe.directory', 'http.proxy', 'trailer.x.command', 'interactive.difffilter', 'mergetool.x.cmd', 'pager.log'],
])('risky: %s', (key) => expect(riskySettings(BEFORE, set(key))).toEqual([key]))

test.each(['ext::sh -c evil', '--upload-pack=evil', 'fd::3'])('risky: a new remote at %s', (url) =>
  expect(riskySettings(BEFORE, set('remote.up.url', url))).toEqual(['remote.up.url']))
