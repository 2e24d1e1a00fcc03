import { expect, test } from 'vitest'
import { fromOtherShapes } from './tool.ts'

test.each([
  [
    'codex',
    { command: ['bash', '-lc', 'ls -la | wc'], workdir: 'src', timeout_ms: 5000 },
    { command: 'ls -la | wc', workdir: 'src', timeout: 5 },
  ],
  ['a list of words', { command: ['echo', 'a b', '$x'] }, { command: "echo 'a b' '$x'" }],
  ['a script in a list', { command: ['ls | wc'] }, { command: 'ls | wc' }],
  ['program and arguments', { command: 'echo', args: ["it's"] }, { command: "echo 'it'\\''s'" }],
  ['cmd', { cmd: 'ls' }, { command: 'ls' }],
  ['too many milliseconds', { command: 'ls', timeout: 3_600_000 }, { command: 'ls', timeout: 600 }],
  ['seconds', { command: 'ls', timeout: 300 }, { command: 'ls', timeout: 300 }],
  ['claude', { command: 'ls', timeout: 120000, run_in_background: true }, { command: 'ls', timeout: 120, run_in_background: true }],
  ['windsurf', { CommandLine: 'ls', Blocking: false }, { CommandLine: 'ls', background: true }],
  ['ours', { command: 'ls', cwd: '.', background: false }, { command: 'ls', cwd: '.', background: false }],
  ['what is none of these', { command: 5 }, { command: 5 }],
])('%s', (_, input, expected) => expect(fromOtherShapes(input)).toEqual(expected))
