import { expect, test } from 'vitest'
import { simpleCommands } from '../common/simple-commands.ts'
import { waitsForKeys } from './before.ts'

const waits = (script: string, background = false) => waitsForKeys(script, simpleCommands(script), background)

/** Each case has the suggested replacement, if there is one that works unchanged. */
test.each([
  ['vim a.txt', undefined],
  ['sudo nano /etc/hosts', undefined],
  ['cd src && less a.txt', 'cd src && cat a.txt'],
  ['git log | less', 'git log | cat'],
  ['top', 'top -b -n 1'],
  ['less -N a.txt', undefined],
  ['htop', undefined],
  ['ssh host', undefined],
  ['python3', undefined],
  ['node', undefined],
  ['bash', undefined],
  ['sqlite3 a.db', undefined],
  ['psql -h db', undefined],
  ['npm init', 'npm init -y'],
  ['git commit', undefined],
  ['git add . && git commit -a', undefined],
  ['git rebase -i HEAD~3', undefined],
  ['git add -p', undefined],
  ['tail -f log', undefined],
  ['watch ls', undefined],
  ['docker run -it x sh', undefined],
  ['crontab -e', undefined],
])('waits: %s', (script, fixed) => {
  const found = waits(script)
  expect(found?.says).toMatch(/ waits for a keyboard, and nobody is there: ./)
  expect(found?.fixed).toBe(fixed)
  if (fixed !== undefined) expect(waits(fixed)).toBeUndefined()
})

test.each([
  'vim --version',
  'vim -es -c "wq" f',
  'top -b -n 1',
  'ssh host ls',
  'ssh -V',
  'python3 a.py',
  "python3 <<'E'\nprint(1)\nE",
  'echo 1 | node',
  'python3 < a.py',
  'bash a.sh',
  'sqlite3 a.db "select 1"',
  'echo "select 1" | sqlite3 a.db',
  'psql -c "select 1"',
  'npm init -y',
  'npm init vite@latest my-app',
  'git commit -m "x"',
  'git commit -am x',
  'git commit --amend --no-edit',
  'git commit --amend',
  'watch() { echo x; }; watch',
  'git commit -F msg',
  'GIT_SEQUENCE_EDITOR=: git rebase -i HEAD~3',
  'git rebase main',
  'git add .',
  'tail -n 5 log',
  'timeout 5 tail -f log',
  'echo vim',
  'cat vim.txt',
  'which less',
])('does not wait: %s', (script) => expect(waits(script)).toBeUndefined())

test('what never ends may go on in the background; an editor may not', () => {
  expect(waits('tail -f log', true)).toBeUndefined()
  expect(waits('vim a', true)).toBeDefined()
})

test.each(['a|', 'env ', 'env a=1 ', 'a && ', 'git add ', 'timeout '])('a long script of %j is read in one go', (piece) => {
  const script = piece.repeat(Math.floor(99_000 / piece.length))
  expect(waits(`${script}\nvim a`)).toBeDefined()
})
