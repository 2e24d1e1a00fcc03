/** Repositories that name programs: each row is one way to do so, with the git command that runs the program. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface Trap {
  readonly what: string
  /** Sets the trap. `git` runs in the repository's folder. */
  readonly set: (to: Repository) => void
  /** Shell commands, run in the repository's folder. */
  readonly spring: string
  /** A legitimate part of a commit: `git_commit` runs it in the workspace's own repository. */
  readonly byCommit?: true
  /** Only the repository defines the name, so in a sandbox it applies to the workspace's own repository only. */
  readonly named?: true
}

export interface Repository {
  readonly folder: string
  readonly git: (...args: string[]) => string
  readonly script: string
}

export const put = (folder: string, path: string, text: string, mode = 0o644): void => {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
  chmodSync(join(folder, path), mode)
}
const attributes = ({ folder }: Repository, text: string): void => put(folder, '.gitattributes', `*.txt ${text}\n`)
const config =
  (key: string, value?: string) =>
  ({ git, script }: Repository): void =>
    void git('config', key, value ?? script)
const hook =
  (path: string) =>
  ({ folder, script }: Repository): void =>
    put(folder, path, `#!/bin/sh\n'${script}' </dev/null\n`, 0o755)
const all =
  (...steps: readonly ((to: Repository) => void)[]) =>
  (to: Repository): void => {
    for (const step of steps) step(to)
  }

const COMMIT = 'git commit --quiet --allow-empty --message x'
const CREDENTIAL = "printf 'protocol=https\\nhost=example.org\\nusername=a\\n\\n' | git credential fill"

/** Traps for a repository with `a.txt` and `b.txt` committed and `a.txt` changed since. */
export const TRAPS: readonly Trap[] = [
  { what: 'core.fsmonitor', set: config('core.fsmonitor'), spring: 'git status' },
  { what: 'core.pager', set: config('core.pager'), spring: 'unset GIT_PAGER PAGER; git grep -O a' },
  { what: 'core.editor', set: config('core.editor'), spring: 'unset GIT_EDITOR VISUAL EDITOR; git commit --allow-empty', named: true },
  { what: 'core.askPass', set: config('core.askPass'), spring: CREDENTIAL },
  { what: 'credential.helper', set: config('credential.helper'), spring: CREDENTIAL },
  { what: 'core.sshCommand', set: config('core.sshCommand'), spring: 'timeout 2 git ls-remote ssh://127.0.0.1:1/x' },
  { what: 'core.gitProxy', set: config('core.gitProxy'), spring: 'timeout 2 git ls-remote git://127.0.0.1:1/x', named: true },
  {
    what: 'uploadpack',
    set: all(config('remote.o.url', '.'), config('remote.o.uploadpack')),
    spring: 'timeout 2 git ls-remote o',
    named: true,
  },
  {
    what: 'protocol.ext.allow',
    set: all(config('protocol.ext.allow', 'always'), ({ git, script }) => git('config', 'remote.o.url', `ext::${script}`)),
    spring: 'timeout 2 git ls-remote o',
  },
  { what: 'diff.external', set: config('diff.external'), spring: 'git diff', named: true },
  { what: 'diff.NAME.command', set: all(config('diff.x.command'), (to) => attributes(to, 'diff=x')), spring: 'git diff', named: true },
  {
    what: 'diff.NAME.textconv',
    set: all(config('diff.x.textconv'), (to) => attributes(to, 'diff=x')),
    spring: 'git diff; git show HEAD',
    named: true,
  },
  {
    what: 'filter.NAME.clean',
    set: all(config('filter.x.clean'), (to) => attributes(to, 'filter=x')),
    spring: 'git add --all',
    byCommit: true,
    named: true,
  },
  {
    what: 'filter.NAME.process',
    set: all(config('filter.x.process'), (to) => attributes(to, 'filter=x')),
    spring: 'git add --all',
    byCommit: true,
    named: true,
  },
  {
    what: 'filter.NAME.smudge',
    set: all(config('filter.x.smudge'), (to) => attributes(to, 'filter=x')),
    spring: 'git checkout -- a.txt',
    named: true,
  },
  {
    what: 'info/attributes',
    set: all(config('filter.x.clean'), ({ git, folder }) =>
      put(folder, join(git('rev-parse', '--git-path', 'info').trim(), 'attributes'), '*.txt filter=x\n'),
    ),
    spring: 'git add --all',
    byCommit: true,
    named: true,
  },
  { what: '.git/hooks/pre-commit', set: hook('.git/hooks/pre-commit'), spring: COMMIT, byCommit: true },
  { what: '.git/hooks/post-index-change', set: hook('.git/hooks/post-index-change'), spring: 'git add --all', byCommit: true },
  { what: '.git/hooks/reference-transaction', set: hook('.git/hooks/reference-transaction'), spring: COMMIT, byCommit: true },
  {
    what: 'core.hooksPath',
    set: all(hook('husky/pre-commit'), ({ git, folder }) => void git('config', 'core.hooksPath', join(folder, 'husky'))),
    spring: COMMIT,
    byCommit: true,
  },
  { what: 'gpg.program', set: config('gpg.program'), spring: `${COMMIT} -S`, named: true },
  {
    what: 'commit.gpgSign',
    set: all(config('gpg.program'), config('commit.gpgSign', 'true')),
    spring: COMMIT,
    byCommit: true,
  },
  { what: 'an alias', set: ({ git, script }) => git('config', 'alias.st', `!${script}`), spring: 'git st', named: true },
  { what: 'man.NAME.cmd', set: all(config('man.viewer', 'x'), config('man.x.cmd')), spring: 'git help status', named: true },
  { what: 'difftool.NAME.cmd', set: config('difftool.x.cmd'), spring: 'git difftool -y -t x', named: true },
  { what: 'tar.NAME.command', set: config('tar.x.command'), spring: 'git archive --format=x HEAD', named: true },
  {
    what: 'include.path',
    set: ({ folder, git, script }) => {
      put(folder, 'inc.cfg', `[core]\n\tfsmonitor = ${script}\n`)
      git('config', 'include.path', join(folder, 'inc.cfg'))
    },
    spring: 'git status',
  },
  {
    what: 'includeIf, with a filter',
    set: ({ folder, git, script }) => {
      put(folder, 'inc.cfg', `[filter "x"]\n\tclean = ${script}\n`)
      git('config', 'includeIf.gitdir/i:/**.path', join(folder, 'inc.cfg'))
      attributes({ folder, git, script }, 'filter=x')
    },
    spring: 'git add --all',
    byCommit: true,
    named: true,
  },
  {
    what: 'config.worktree',
    set: ({ git, script }) => {
      git('config', 'extensions.worktreeConfig', 'true')
      git('config', '--worktree', 'core.fsmonitor', script)
    },
    spring: 'git status',
  },
  {
    what: 'a bare repository among the files',
    set: ({ folder, script }) => {
      put(folder, 'bare/HEAD', 'ref: refs/heads/main\n')
      put(folder, 'bare/objects/.keep', '')
      put(folder, 'bare/refs/.keep', '')
      put(folder, 'bare/config', `[core]\n\trepositoryformatversion = 0\n\tfsmonitor = ${script}\n\tworktree = ..\n`)
    },
    spring: 'cd bare && git status',
  },
]
