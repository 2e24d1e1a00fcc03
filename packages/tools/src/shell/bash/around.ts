/** What is there, in the sandbox and in the workspace, when something was not. */
import { constants } from 'node:fs'
import { access, readdir, readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import type { Sandbox } from '@mulligan/sandbox'
import { directoriesOf, listFiles, nearestPaths } from '../../workspace/nearest.ts'
import { isInside, shown } from '../../workspace/paths.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import type { Known } from './found-nothing.ts'

export interface Around {
  /** What could be run in place of a program that is not there. */
  readonly known: () => Promise<Known>
  /**
   * The nearest paths to one that is not there, as seen from the working directory; undefined where it is there, or
   * leads outside.
   */
  readonly nearest: (path: string) => Promise<readonly string[] | undefined>
  /** Of a file in the workspace: whether it may be executed, and its first line. */
  readonly file: (path: string) => Promise<{ readonly executable: boolean; readonly firstLine: string }>
  /** There is a `package.json`, and nothing of it is installed. */
  readonly notInstalled: () => Promise<boolean>
}

/** Seconds. */
const LOOK_UP = 10
const MAX_FIRST_LINE = 200
const LIST_PROGRAMS = 'compgen -c 2>/dev/null || { IFS=:; ls -1 $PATH 2>/dev/null; }'

/** @param cwd relative to the workspace */
export function lookAround(workspace: Workspace, sandbox: Sandbox, cwd: string, signal: AbortSignal): Around {
  const folder = join(workspace.root, cwd)

  async function known(): Promise<Known> {
    const [listed, scripts, bins, runner] = await Promise.all([
      sandbox.run({ script: LIST_PROGRAMS, timeout: LOOK_UP, signal }).then(
        ({ stdout }) => stdout.split('\n').filter((line) => line !== ''),
        () => [],
      ),
      scriptsIn(folder),
      readdir(join(folder, 'node_modules', '.bin')).catch(() => []),
      runnerIn(folder),
    ])
    return { programs: listed, scripts, bins, runner }
  }

  async function nearest(path: string): Promise<readonly string[] | undefined> {
    const inside = posix.isAbsolute(path)
      ? isInside(workspace.root, path)
        ? shown(workspace.root, path)
        : undefined
      : posix.join(cwd, path)
    if (inside === undefined || inside.startsWith('..')) return undefined
    const found = await workspace.resolve(inside).catch(() => undefined)
    if (!found || found.kind !== 'missing') return undefined
    const files = await listFiles(workspace.root).catch(() => [])
    const beside = await readdir(posix.join(workspace.root, posix.dirname(inside))).catch(() => [])
    const near = posix.dirname(inside) === '.' ? beside : beside.map((name) => posix.join(posix.dirname(inside), name))
    const all = path.endsWith('/') ? directoriesOf(files) : [...new Set([...near, ...files, ...directoriesOf(files)])]
    return nearestPaths(inside, all).map((one) => posix.relative(cwd, one) || '.')
  }

  return {
    known,
    nearest,
    file: async (path) => {
      const found = await workspace.resolve(posix.join(cwd, path), { mustExist: true }).catch(() => undefined)
      if (found?.kind !== 'file') return { executable: false, firstLine: '' }
      const [text, executable] = await Promise.all([
        readFile(found.absolute, 'utf8').catch(() => ''),
        access(found.absolute, constants.X_OK).then(
          () => true,
          () => false,
        ),
      ])
      return { executable, firstLine: text.slice(0, MAX_FIRST_LINE).split('\n')[0] ?? '' }
    },
    notInstalled: async () => {
      const names = await readdir(folder).catch((): string[] => [])
      return names.includes('package.json') && !names.includes('node_modules')
    },
  }
}

async function scriptsIn(folder: string): Promise<string[]> {
  const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => '{}')
  try {
    const { scripts } = JSON.parse(text) as { scripts?: unknown }
    return typeof scripts === 'object' && scripts !== null ? Object.keys(scripts) : []
  } catch {
    return []
  }
}

const LOCKS: readonly (readonly [string, string])[] = [
  ['pnpm-lock.yaml', 'pnpm run'],
  ['yarn.lock', 'yarn run'],
  ['bun.lock', 'bun run'],
  ['bun.lockb', 'bun run'],
]

async function runnerIn(folder: string): Promise<string> {
  const names = await readdir(folder).catch((): string[] => [])
  return LOCKS.find(([lock]) => names.includes(lock))?.[1] ?? 'npm run'
}
