/** Runs what the pages show: a module in a folder of its own, a command in a shell, with our packages as a user has them. */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Ended, endOf, NO_SERVERS } from '../packages/cli/test/cli.fixture.ts'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))

export interface TestFolders {
  readonly dir: string
  readonly write: (path: string, text: string) => string
  readonly [Symbol.dispose]: () => void
}

export function place(files: Readonly<Record<string, string>> = {}): TestFolders {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'mulligan-docs-')))
  const dir = join(root, 'work')
  mkdirSync(dir)
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  writeFileSync(join(root, 'package.json'), '{ "type": "module" }')
  const write = (path: string, text: string): string => {
    const file = join(dir, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    return file
  }
  for (const [path, text] of Object.entries(files)) write(path, text)
  return { dir, write, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) }
}

export function run(command: string, args: readonly string[], cwd: string): Promise<Ended> {
  const child = spawn(command, args, {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: `${join(ROOT, 'node_modules', '.bin')}:${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
      HOME: dirname(cwd),
      MULLIGAN_DATA_DIR: join(dirname(cwd), 'data'),
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
      ...NO_SERVERS,
    },
  })
  return endOf(child)
}

/** The command of a page, in a shell; both streams come as one, as a terminal shows them. */
export const runShell = (text: string, cwd: string): Promise<Ended> =>
  run('/bin/sh', ['-c', `exec 2>&1\n${text.replaceAll('npx mulligan', 'mulligan')}`], cwd)
