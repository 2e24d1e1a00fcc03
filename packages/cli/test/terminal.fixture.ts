/** Runs the command in a real terminal, provided by `script` from util-linux. */
import { spawn, spawnSync } from 'node:child_process'
import type { ScriptedModel } from '@mulligan/testing'
import { BIN, type CliFixture, type Ended, NO_SERVERS, using } from './cli.fixture.ts'

/** Whether `script` is available. Always true in CI, so that tests that need it fail without it. */
export const hasTerminal =
  process.env['CI'] !== undefined ||
  (process.platform === 'linux' && /util-linux/.test(spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout ?? ''))

/** Answers by question; a function is called instead. */
export type Typed = readonly (readonly [question: string, answer: string | (() => void)])[]

/** Runs the prompt "Do it." with a model, and types each answer when its question appears. */
export const inTerminal = (
  here: CliFixture,
  model: ScriptedModel,
  typed: Typed,
  flags: readonly string[] = using(model),
  more: Readonly<Record<string, string>> = {},
): Promise<Ended> => typeInTerminal(here, ['Do it.', ...flags], typed, more)

/** Runs the command, and types each answer when its question appears. */
export function typeInTerminal(
  here: CliFixture,
  args: readonly string[],
  typed: Typed,
  more: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const command = [process.execPath, BIN, ...args].map((word) => `'${word}'`).join(' ')
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: here.dir.replace(/\/work$/, ''),
    MULLIGAN_DATA_DIR: here.data,
    NO_COLOR: '1',
    TERM: 'xterm',
    SHELL: '/bin/sh',
    ...NO_SERVERS,
    ...more,
  }
  const child = spawn('script', ['-qec', command, '/dev/null'], { cwd: here.dir, env })
  const left = [...typed]
  let stdout = ''
  let unread = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    unread += text
    const next = left[0]
    if (!next || !unread.includes(next[0])) return
    left.shift()
    unread = ''
    if (typeof next[1] === 'string') child.stdin.write(next[1])
    else next[1]()
  })
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout: stdout.replaceAll('\r\n', '\n'), stderr: '' })))
}

export const ASKS = '[n]o and why:'
