/** The argument vector of a command. */
import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { OpenBackend } from '../backend.ts'
import { SandboxError } from '../errors.ts'
import { isOfProject } from '../program.ts'
import type { View } from '../view/view.ts'
import { insidePath } from '../view/view.ts'
import type { Prepared } from './prepare.ts'
import { readStreams } from './streams.ts'

/** Bytes of a script that can be an argument; Linux takes 128 KiB, with everything around it. */
export const MAX_SCRIPT_ARGUMENT = 100_000

/** Where stdin is a socket, bash takes itself for a remote shell and reads `~/.bashrc` first. */
const BASH_OPTIONS = ['--norc']

export interface Line {
  readonly argv: readonly string[]
  /** After the command has ended. */
  readonly discard: () => Promise<void>
}

/** A program that does not exist ends with 127, as scripts have it: no backend has to tell that from a fault of its own. */
const program = (argv: readonly string[]): readonly string[] => ['/bin/sh', '-c', 'exec "$@"', 'sh', ...argv]

/** @param shell bash, or sh where there is none */
export async function lineOf({ script, argv }: Prepared, shell: () => Promise<readonly string[]>, view: View): Promise<Line> {
  if (script === undefined) return { argv: program(argv), discard: async () => {} }
  if (Buffer.byteLength(script) <= MAX_SCRIPT_ARGUMENT) return { argv: [...(await shell()), '-c', script], discard: async () => {} }
  const file = join(view.tmpFolder, `script-${randomUUID()}.sh`)
  await writeFile(file, script, { mode: 0o644, flag: 'wx' })
  return { argv: [...(await shell()), insidePath(file, view) ?? file], discard: () => rm(file, { force: true }) }
}

/** Asks inside: the image of a container may have another shell than the host. @throws SandboxError */
export async function findShell(backend: OpenBackend, view: View): Promise<readonly string[]> {
  const child = await backend.launch({
    argv: ['/bin/sh', '-c', 'command -v bash || command -v sh'],
    cwd: view.workspace,
    env: { ...view.env, PATH: withoutProject(view) },
    stdin: undefined,
  })
  const streams = readStreams(child.stdout, child.stderr, { output: 10_000, outputStop: 10_000, onFlood: () => {} })
  const { exitCode } = await child.exited
  await streams.ended
  await child.kill()
  const { stdout, stderr } = streams.output()
  const shell = stdout.trim()
  if (exitCode === 0 && shell.startsWith('/')) return shell.endsWith('/bash') ? [shell, ...BASH_OPTIONS] : [shell]
  throw new SandboxError({ message: `no shell was found in the sandbox (${backend.name}): ${stderr.trim() || `exit code ${exitCode}`}` })
}

/** A project's own `bash` (of an active virtual environment, say) would run every command. */
const withoutProject = ({ env, workspace }: View): string =>
  (env['PATH'] ?? '')
    .split(':')
    .filter((entry) => !isOfProject(entry, workspace))
    .join(':')
