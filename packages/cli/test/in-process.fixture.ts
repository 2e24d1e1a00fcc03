/**
 * Runs the command in the test's process, for cases that do not test the process itself. Starting a process costs more than the command.
 */
import { Readable } from 'node:stream'
import type { Output } from '../src/ui/output.ts'
import type { CliFixture, Ended } from './cli.fixture.ts'

export interface InProcess {
  readonly cwd: string
  /** The complete environment of the command. */
  readonly env: Readonly<Record<string, string>>
  /** Text for stdin. */
  readonly stdin: string
}

let isBusy = false

/** Whether a command can run here. A process has one working folder and environment, so a second command needs a separate process. */
export const isFree = (): boolean => !isBusy

export async function runCli(args: readonly string[], { cwd, env, stdin }: InProcess): Promise<Ended> {
  isBusy = true
  const before = { cwd: process.cwd(), env: { ...process.env }, stdin: Object.getOwnPropertyDescriptor(process, 'stdin') }
  const writes = { out: process.stdout.write, err: process.stderr.write }
  const said = { stdout: '', stderr: '' }
  const err = (text: string): void => {
    said.stderr += text
  }
  const output: Output = {
    out: (text) => {
      said.stdout += text
    },
    err,
    closed: new AbortController().signal,
    flush: async () => undefined,
  }
  try {
    // As in a real process, stdout gets only the command's result.
    process.stdout.write = process.stderr.write = (text: string | Uint8Array): boolean => {
      err(typeof text === 'string' ? text : Buffer.from(text).toString())
      return true
    }
    Object.defineProperty(process, 'stdin', {
      configurable: true,
      value: Readable.from(stdin === '' ? [] : [Buffer.from(stdin)], { objectMode: false }),
    })
    setEnvironment(env)
    process.chdir(cwd)
    const { main } = await import('../src/main.ts')
    return { code: await main(args, output), ...said }
  } finally {
    process.chdir(before.cwd)
    setEnvironment(before.env)
    if (before.stdin) Object.defineProperty(process, 'stdin', before.stdin)
    process.stdout.write = writes.out
    process.stderr.write = writes.err
    isBusy = false
  }
}

function setEnvironment(env: Readonly<Record<string, string | undefined>>): void {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name]
  Object.assign(process.env, env)
}

/** Runs the command for a place, whose folder must be given with `--cwd`. Own tools run in the test's process too. */
export function inProcess(here: CliFixture, args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const ours = Object.entries(process.env).filter(([name]) => !/^(?:MULLIGAN_|XDG_)/.test(name))
  const env = { ...Object.fromEntries(ours), HOME: here.root, MULLIGAN_DATA_DIR: here.data, ...more } as Record<string, string>
  return runCli(args, { cwd: process.cwd(), env, stdin: '' })
}
