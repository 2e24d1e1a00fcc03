/** Generates random commands that write, move, link, remove and commit, and compares the resulting trees. */

import { execFileSync } from 'node:child_process'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'

/** Few names, so that they collide. */
const name = fc.constantFrom('a', 'b', 'c', 'src', 'docs', 'x y')
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => `'${parts.join('/')}'`)
const word = fc.constantFrom('one', 'two', '', 'caf\u00e9')
/** Folders remain accessible: root on the host can enter any, the user in the sandbox cannot. */
const mode = fc.constantFrom('600', '644', '755', '700', '664')
const time = fc.integer({ min: 1_000_000_000, max: 1_500_000_000 })

export const step = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(path, word).map(([to, text]) => `echo '${text}' > ${to}`) },
  { weight: 2, arbitrary: fc.tuple(path, word).map(([to, text]) => `cat >> ${to} <<'E'\n${text}\n$x\nE`) },
  { weight: 2, arbitrary: fc.tuple(path, word).map(([of, by]) => `sed -i 's/o/${by}/' ${of}`) },
  { weight: 2, arbitrary: path.map((one) => `rm -rf ${one}`) },
  { weight: 2, arbitrary: path.map((one) => `mkdir -p ${one}`) },
  { weight: 2, arbitrary: fc.tuple(path, path).map(([from, to]) => `mv -T ${from} ${to}`) },
  { weight: 2, arbitrary: fc.tuple(path, time).map(([one, at]) => `touch -d @${at}.25 ${one}`) },
  fc.tuple(path, path).map(([from, to]) => `mv ${from} ${to}`),
  fc.tuple(path, path).map(([from, to]) => `rm -rf $T/c; cp -a ${from} $T/c && cp -aT $T/c ${to}`),
  fc.tuple(path, path).map(([from, to]) => `ln -sfn ${from} ${to}`),
  fc.tuple(path, path).map(([from, to]) => `ln ${from} ${to}`),
  fc.tuple(mode, path).map(([bits, one]) => `chmod ${bits} ${one}; [ ! -d ${one} ] || chmod u+rwx ${one}`),
  path.map((one) => `rm ${one}`),
  path.map((one) => `rmdir ${one}`),
  path.map((one) => `truncate -s 1 ${one}`),
  path.map((one) => `install -D -m 755 README.md ${one}`),
  path.map((one) => `head -c 200000 /dev/zero | tr '\\0' z > ${one}`),
  fc.constant('for f in src/*; do [ -f "$f" ] && mv "$f" "$f.bak"; done'),
  fc.constant('printf "{\\n  \\"name\\": \\"work\\",\\n  \\"version\\": \\"1.0.0\\"\\n}\\n" > package.json'),
  { weight: 2, arbitrary: fc.constant('git add -A && git commit -qm more') },
  fc.constant('git checkout -q -b "b$(git rev-list --count --all)"'),
  fc.constant('git stash -q -u'),
  fc.constant('git mv a c'),
)

/** Joins steps to one script that succeeds even if steps fail. */
export const scriptOf = (steps: readonly string[]): string =>
  [
    "umask 022; T=$(mktemp -d); export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'",
    'export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b',
    ...steps.map((one) => `{ ${one}\n} >/dev/null 2>&1`),
    'rm -rf "$T"',
  ].join('\n')

export const START: Readonly<Record<string, string>> = {
  a: 'one\n',
  b: 'two\n',
  'src/a': 'src one\n',
  'src/b': 'src two\n',
  'docs/src/c': 'deep\n',
  'README.md': '# Work\n',
}

/** Describes a tree. Includes the time of files set to a past time; a file just written has a different time in each tree. */
export function treeOf(root: string, since = 0, folder = ''): Readonly<Record<string, string>> {
  const tree: Record<string, string> = {}
  for (const entry of readdirSync(join(root, folder)).sort()) {
    const at = folder === '' ? entry : `${folder}/${entry}`
    if (at === '.git') continue
    const found = lstatSync(join(root, at))
    const bits = (found.mode & 0o7777).toString(8)
    if (found.isSymbolicLink()) tree[at] = `-> ${readlinkSync(join(root, at))}`
    else if (found.isDirectory()) Object.assign(tree, { [at]: `folder ${bits}` }, treeOf(root, since, at))
    else tree[at] = `file ${bits} ${found.mtimeMs < since ? found.mtimeMs : 'new'} ${readFileSync(join(root, at), 'latin1')}`
  }
  return tree
}

const ASKED =
  'git for-each-ref --format="%(refname) %(objectname)"; git symbolic-ref HEAD; git ls-files --stage; git status --porcelain; git fsck --no-dangling 2>&1'

/** Describes a repository through git, because its files contain when and where each file was last checked. */
export const repositoryOf = (root: string): string =>
  execFileSync('bash', ['-c', ASKED], { cwd: root, encoding: 'utf8', env: { ...process.env, GIT_OPTIONAL_LOCKS: '0' } })
