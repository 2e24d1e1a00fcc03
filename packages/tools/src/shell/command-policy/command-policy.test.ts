import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporary } from '../../workspace.fixture.ts'
import { commandKeys, commandTargets, createCommandPolicy } from './command-policy.ts'
import { readCommand } from './read-command.ts'

const place = { cwd: '/home/user/project', workspace: '/home/user/project', home: '/home/user' }
const read = (script: string, cwd = place.cwd) => readCommand(script, { ...place, cwd })
const verdict = (script: string) => read(script).verdict

test.each([
  'ls',
  'ls -la src',
  'cat a.txt "b c.txt"',
  "grep -n 'two  words' a.txt",
  'grep -rl TODO src',
  'rg -l TODO',
  'head -5 a.txt',
  'tail -n +3 a.txt',
  'echo "it\'s fine"',
  'date +%Y-%m-%d',
  'sort -k 2,2 -t : a.txt',
  'wc -l src/a.ts src/b.ts',
  'cat /home/user/project/a.txt',
  '  ls  \n',
])('%s runs without a question', (script) => expect(verdict(script)).toBe('safe'))

describe('what is no single literal command of the list asks', () => {
  test.each([
    ['a substitution inside a bracket pattern', 'echo [$(touch x)]'],
    ['a substitution inside a pattern of case', 'case x in [$(touch x)]) ;; esac'],
    ['a substitution in an alternative value', 'echo ${BASH+$(touch x)}'],
    ['a substitution in an error message', 'echo ${x:?$(touch x)}'],
    ['a substitution in a change of case', 'echo ${x^^$(touch x)}'],
    ['a subscript of a descriptor', 'true {v[$(touch x)]}</dev/null'],
    ['a subscript of a declaration', 'declare x[$(touch x)]=1'],
    ['a default in a here-document', "cat <<E\n${x:-'$(touch x)'}\nE"],
  ])('%s is asked about', (_, script) => expect(verdict(script)).toBe('ask'))

  test.each([
    ...[
      'ls; ls',
      'ls && ls',
      'ls | wc -l',
      'ls &',
      'ls\nls',
      'ls > a',
      'ls < a',
      'ls 2>&1',
      'ls $HOME',
      'ls ~',
      'ls *.ts',
      'ls {a,b}',
      'ls [a]',
      'ls ?',
    ],
    ...[
      'ls `x`',
      'ls "$x"',
      'ls \\\n-la',
      'ls a\\ b',
      'A=1 ls',
      '(ls)',
      '{ ls; }',
      '! ls',
      'time ls',
      'ls # x',
      'ls\r',
      'ls\u00a0-la',
      'ls \u200b',
      'ls \u202ea',
      'l\u0000s',
      'ls \u3164',
      'cat <<< a',
      'if ls; then ls; fi',
      "ls $'a'",
      'ls "a',
      "ls 'a",
      '""',
      '',
    ],
    ...[
      '/bin/ls',
      './ls',
      'constructor',
      '__proto__ x',
      'git status',
      'find .',
      'sed -n 1p a',
      'awk 1 a',
      'env',
      'printenv',
      'tee a',
      'xargs ls',
      'bash -c ls',
      'python3 a.py',
      'node a.js',
      'node',
      'make',
    ],
    ...[
      'sort -o a b',
      'sort -ob a',
      'sort --outp=a b',
      'sort --compress-program=x a',
      'date -s 2001-01-01',
      'date 010100002001',
      'wc --files0-from=a',
      'du --files0-from=a',
      'grep -f a b',
      'grep -e',
      'file -C',
      'file -m a b',
      'tail --pid=1 a',
      'tail -f a',
      'tree -o a',
      'uniq a b',
      'rg --pre x y',
      'rg -z x',
      'rg --hostname-bin x',
      'ls --',
      'cat -',
      'cat',
    ].filter((one) => !['ls --', 'cat'].includes(one)),
    ...['grep -r x', 'grep -rn x src', 'grep -r -e -l x', 'rg x', 'rg x src', 'rg -e -l', 'rg --hidden -l x', 'rg -L -l x'],
    ...[
      'cat /etc/passwd',
      'cat ../x',
      'cat src/../a',
      'ls ..',
      'cat .env',
      'cat server.pem',
      'cat -- .env',
      'ls /',
      'head -n 1 /home/user/.ssh/id_rsa',
    ],
  ])('%j', (script) => expect(verdict(script)).toBe('ask'))

  test('a folder outside of the workspace, and a path from another folder', () => {
    expect(read('ls', '/home/user').verdict).toBe('ask')
    expect(read('ls', '/home/user/project/src').verdict).toBe('safe')
    expect(read('ls /home/user/project', '/home/user/project/src').verdict).toBe('safe')
    expect(readCommand('cat x', { ...place, cwd: '/home/user/project-2' }).verdict).toBe('ask')
  })
})

describe('where paths really lead', () => {
  const root = temporary()
  const [workspace, outside] = [join(root, 'workspace'), join(root, 'outside')]
  for (const dir of [workspace, outside]) mkdirSync(dir)
  writeFileSync(join(workspace, 'a.txt'), 'x')
  writeFileSync(join(workspace, '.env'), 'x')
  writeFileSync(join(outside, 'b.txt'), 'x')
  symlinkSync(outside, join(workspace, 'out'))
  symlinkSync('.env', join(workspace, 'notes.txt'))
  symlinkSync('a.txt', join(workspace, 'same.txt'))
  const commandPolicy = createCommandPolicy({ workspace, home: '/home/user' })

  test.each([
    ['cat a.txt', '.', 'safe'],
    ['cat same.txt', '.', 'safe'],
    ['cat missing.txt', '.', 'safe'],
    ['cat out/b.txt', '.', 'ask'],
    ['ls out', '.', 'ask'],
    ['ls', 'out', 'ask'],
    ['cat notes.txt', '.', 'ask'],
  ])('%s in %s: %s', (script, cwd, expected) => expect(commandPolicy(script, cwd).verdict).toBe(expected))

  test('a program of the same name in a folder of the workspace that is in PATH asks', () => {
    const bin = join(workspace, 'bin')
    mkdirSync(bin)
    writeFileSync(join(bin, 'ls'), 'touch x', { mode: 0o755 })
    const before = process.env['PATH']
    try {
      process.env['PATH'] = `${bin}:${before}`
      expect([commandPolicy('ls').verdict, commandPolicy('cat a.txt').verdict]).toEqual(['ask', 'safe'])
    } finally {
      process.env['PATH'] = before
    }
    expect(commandPolicy('ls').verdict).toBe('safe')
  })

  test('a link that has come since counts', () => {
    expect(commandPolicy('cat later').verdict).toBe('safe')
    symlinkSync(join(outside, 'b.txt'), join(workspace, 'later'))
    expect(commandPolicy('cat later').verdict).toBe('ask')
  })
})

describe('what a script acts on', () => {
  test.each([
    ['cd  src && npm   test; npm test', ['cd src', 'npm test']],
    ['npm test > out "a b"', ["> out npm test 'a b'"]],
    ['a && b | c; d', ['a', 'b', 'c', 'd']],
    ['if a; then b; else c; fi', ['a', 'b', 'c', '(script) if a; then b; else c; fi']],
    ['rm $x *.log', ['rm $x *.log', '(script) rm $x *.log']],
    ['echo $(a "$(b)")', ['b', 'a "$(b)"', 'echo $(a "$(b)")']],
  ])('%s', (script, texts) =>
    expect(commandTargets(read(script), script)).toEqual(expect.arrayContaining(texts.map((text) => text.replace('a "$(b)"', 'a "$(b)"')))))

  test.each([
    ['rm -rf build', "  r''m   -fr   './build/' "],
    ['rm -rf build', '"rm" -r -f build'],
    ['rm -rf build', 'cd src && rm -rf /home/user/project/build'],
    ['rm -rf build', 'cd src && rm -rf ../build'],
    ['cat a > b', 'cat ./a >./b'],
  ])('%s and %s have the same key', (one, other) => {
    const keys = (script: string) => commandTargets(read(script), script).flatMap((target) => commandKeys(read(script), target))
    expect(keys(other)).toEqual(expect.arrayContaining(keys(one)))
  })

  test.each([
    ['rm -rf build', 'rm -rf dist'],
    ['rm -rf build', 'rm -r build'],
    ['rm -rf build', 'sudo rm -rf build'],
    ['cat a', 'cat a > b'],
    ['x y', 'A=1 x y'],
  ])('%s and %s have not', (one, other) => expect(read(one).commands[0]?.key).not.toBe(read(other).commands[0]?.key))
})

// Each of these would take forever if the time grew with the square of the length.
const LONG = 100_000
test.each([
  ['find -exec', 'find . -exec rm {} + '],
  ['parentheses', '('],
  ['substitutions', 'echo $('],
  ['backticks', '`'],
  ['quotes', '"a"'],
  ['defaults', '${x:-'],
  ['words', 'a '],
  ['pipes', 'a | '],
  ['lists', 'a && '],
  ['lines', 'echo a\n'],
  ['redirections', '> a '],
  ['here-documents', 'cat <<E\n'],
  ['process substitutions', '<('],
  ['functions', 'f(){ '],
  ['assignments', 'x=a '],
  ['blanks', ' '],
  ['stars', '*'],
  ['letters', 'a'],
  ['rm', 'rm -r -f '],
  ['wrappers', 'env '],
  ['sudo rm', 'sudo rm -rf '],
  ['braces', '{a,'],
  ['whiles', 'while true; do '],
])('100 kB of %s are decided on', (_, piece) => {
  expect(verdict(piece.repeat(LONG / piece.length))).toBe('ask')
  // Shorter ones are analysed more thoroughly.
  for (const length of [300, 19_000]) expect(verdict(piece.repeat(length / piece.length))).toBe('ask')
})
