/** Runs the real command with a separate folder and data, in a new process or in the test's process. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { findUserTools } from '@mulligan/tools'
import { place as folderPlace, NO_SERVERS, type TestFolders } from '../../host/src/common/place.fixture.ts'
import { isFree, runCli } from './in-process.fixture.ts'

export { NO_SERVERS }

export const BIN = fileURLToPath(new URL('../bin/mulligan.js', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Resolves with the output and exit code of a process when it has ended. */
export function endOf(child: ChildProcessByStdio<Writable | null, Readable, Readable>): Promise<Ended> {
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, stderr }))
  })
}

export interface Running {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>
  readonly ended: Promise<Ended>
}

export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>
  /** Text for stdin, or `open` to write to it later. Default: empty. */
  readonly stdin?: string | { readonly open: true }
  readonly execArgv?: readonly string[]
  readonly bin?: string
}

export interface CliFixture extends TestFolders {
  /** Runs the command in a separate process. */
  readonly start: (args: readonly string[], options?: StartOptions) => Running
  /** Runs the command in the test's process, unless the options require a separate one or own tools run in it. */
  readonly run: (args: readonly string[], options?: StartOptions) => Promise<Ended>
}

/** Creates a place with files. Of the tests' environment, the command only sees `PATH`. */
export function place(files: Readonly<Record<string, string>> = {}): CliFixture {
  const folders = folderPlace(files)
  const { root, dir, data } = folders

  const environment = (more: Readonly<Record<string, string>>): Record<string, string> => ({
    ...{ PATH: process.env['PATH'] ?? '', HOME: root, MULLIGAN_DATA_DIR: data, ...NO_SERVERS },
    ...more,
  })

  function start(args: readonly string[], { env = {}, stdin = '', execArgv = [], bin = BIN }: StartOptions = {}): Running {
    const child = spawn(process.execPath, [...execArgv, bin, ...args], { cwd: dir, env: environment(env) })
    child.stdin.on('error', () => undefined)
    if (typeof stdin === 'string') child.stdin.end(stdin)
    const ended = endOf(child)
    return { child, ended }
  }

  const inProcess = (args: readonly string[], { execArgv, bin }: StartOptions): boolean =>
    isFree() &&
    execArgv === undefined &&
    bin === undefined &&
    ['.', args[args.indexOf('--cwd') + 1] ?? '.'].every((folder) => !existsSync(join(dir, folder, '.mulligan/tools')))

  return {
    ...folders,
    start,
    run: (args, options = {}) =>
      inProcess(args, options) && typeof options.stdin !== 'object'
        ? runCli(args, { cwd: dir, env: environment(options.env ?? {}), stdin: options.stdin ?? '' })
        : start(args, options).ended,
  }
}

/** Trusts the tools that are there now, stored as by `mulligan trust`. */
export function trusted<T extends Pick<CliFixture, 'dir' | 'data'>>(here: T, folder = '.'): T {
  const cwd = join(here.dir, folder)
  const { hash: tools } = findUserTools(join(cwd, '.mulligan/tools'))
  mkdirSync(here.data, { recursive: true, mode: 0o700 })
  writeFileSync(join(here.data, 'trust.json'), JSON.stringify({ version: 1, folders: { [cwd]: { tools, settings: [] } } }), { mode: 0o600 })
  return here
}

/** Returns the flags for a scripted model. */
export const using = (model: { readonly url: string }): string[] => ['--model', 'scripted', '--base-url', model.url]
