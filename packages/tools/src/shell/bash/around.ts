/** Finds alternatives in the sandbox and the workspace for a missing program or path. */
import { constants } from 'node:fs'
import { access, readdir, readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { nearest as nearestName } from '@mulligan/core/executor'
import type { Sandbox } from '@mulligan/sandbox'
import { directoriesOf, listFiles, nearestPaths } from '../../workspace/nearest.ts'
import { isInside, shown } from '../../workspace/paths.ts'
import type { Workspace } from '../../workspace/workspace.ts'

export type Around = ReturnType<typeof lookAround>

export interface Known {
  /** Programs the shell in the sandbox can run. */
  readonly programs: readonly string[]
  /** Scripts in `package.json`, and the command that runs them, such as `npm run`. */
  readonly scripts: readonly string[]
  readonly runner: string
  /** Executables in `node_modules/.bin`. */
  readonly bins: readonly string[]
}

/** Seconds. */
const LOOK_UP = 10
const MAX_FIRST_LINE = 200
const LIST_PROGRAMS = 'compgen -c 2>/dev/null || { IFS=:; ls -1 $PATH 2>/dev/null; }'
const RUNNERS = { 'pnpm-lock.yaml': 'pnpm run', 'yarn.lock': 'yarn run', 'bun.lock': 'bun run', 'bun.lockb': 'bun run' }

/**
 * Creates the lookups used when something is missing.
 * @param cwd relative to the workspace
 */
export function lookAround(workspace: Workspace, sandbox: Sandbox, cwd: string, signal: AbortSignal) {
  const { root } = workspace
  const folder = join(root, cwd)
  const namesIn = (path: string): Promise<string[]> => readdir(path).catch(() => [])

  return {
    /** Lists what could be run in place of a missing program. */
    known: async (): Promise<Known> => {
      const [stdout, scripts, bins, names] = await Promise.all([
        sandbox.run({ script: LIST_PROGRAMS, timeout: LOOK_UP, signal }).then(
          (listed) => listed.stdout,
          () => '',
        ),
        scriptsIn(folder),
        namesIn(join(folder, 'node_modules', '.bin')),
        namesIn(folder),
      ])
      const programs = stdout.split('\n').filter((line) => line !== '')
      return { programs, scripts, bins, runner: Object.entries(RUNNERS).find(([lock]) => names.includes(lock))?.[1] ?? 'npm run' }
    },

    /**
     * Returns the nearest paths to a missing one, relative to the working directory. Undefined if the path exists or leads outside the
     * workspace.
     */
    nearest: async (path: string): Promise<readonly string[] | undefined> => {
      const inside = !posix.isAbsolute(path) ? posix.join(cwd, path) : isInside(root, path) ? shown(root, path) : '..'
      const found = inside.startsWith('..') ? undefined : await workspace.resolve(inside).catch(() => undefined)
      if (found?.kind !== 'missing') return undefined
      const files = await listFiles(root).catch(() => [])
      const beside = (await namesIn(posix.join(root, posix.dirname(inside)))).map((name) => posix.join(posix.dirname(inside), name))
      const all = path.endsWith('/') ? directoriesOf(files) : [...new Set([...beside, ...files, ...directoriesOf(files)])]
      return nearestPaths(inside, all).map((one) => posix.relative(cwd, one) || '.')
    },

    /** Returns whether a file in the workspace is executable, and its first line. */
    file: async (path: string): Promise<{ readonly executable: boolean; readonly firstLine: string }> => {
      const found = await workspace.resolve(posix.join(cwd, path), { mustExist: true }).catch(() => undefined)
      if (found?.kind !== 'file') return { executable: false, firstLine: '' }
      const text = await readFile(found.absolute, 'utf8').catch(() => '')
      const executable = await access(found.absolute, constants.X_OK).then(
        () => true,
        () => false,
      )
      return { executable, firstLine: text.slice(0, MAX_FIRST_LINE).split('\n')[0] ?? '' }
    },

    /** True if there is a `package.json` but no `node_modules`. */
    notInstalled: async (): Promise<boolean> => {
      const names = await namesIn(folder)
      return names.includes('package.json') && !names.includes('node_modules')
    },
  }
}

async function scriptsIn(folder: string): Promise<string[]> {
  try {
    const { scripts } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { scripts?: unknown }
    return typeof scripts === 'object' && scripts !== null ? Object.keys(scripts) : []
  } catch {
    return []
  }
}

/** Shell messages for a missing program (127) or one that cannot be run (126): bash, then dash and busybox. */
const MISSING = [
  /^\S*sh: (?:line )?\d+: (.+?): command not found$/m,
  /^\S*sh: (?:line )?\d+: (.+?): not found$/m,
  /^\S*sh: (?:line )?\d+: (.+?): No such file or directory$/m,
  /^(?:env|timeout|nice|nohup|setsid|stdbuf|xargs|exec): (?:failed to run command )?['"‘]?(.+?)['"’]?: No such file or directory$/m,
]
const NOT_EXECUTABLE = [
  /^\S*sh: (?:line )?\d+: (.+?): (?:Permission denied|Is a directory)$/m,
  /^(?:env|timeout|nice|nohup|setsid|stdbuf|xargs): (?:failed to run command )?['"‘]?(.+?)['"’]?: Permission denied$/m,
]

export function missingIn(exitCode: number | null, stderr: string) {
  const how = exitCode === 127 ? 'missing' : exitCode === 126 ? 'not_executable' : undefined
  const says = how === 'missing' ? MISSING : how === 'not_executable' ? NOT_EXECUTABLE : []
  const name = says.map((one) => one.exec(stderr)?.[1]).find((one) => one !== undefined)
  return how === undefined || name === undefined ? undefined : ({ name, how } as const)
}

/** Other names the same program goes by. */
const ALSO: Readonly<Record<string, readonly string[]>> = {
  ...{ python: ['python3'], python3: ['python'], pip: ['pip3', 'python3 -m pip'], pip3: ['pip', 'python3 -m pip'] },
  ...{ nodejs: ['node'], node: ['nodejs'], fd: ['fdfind'], bat: ['batcat'], gmake: ['make'], gsed: ['sed'], gawk: ['awk'] },
  ...{ md5: ['md5sum'], shasum: ['sha256sum'], cc: ['gcc', 'clang'], gcc: ['cc', 'clang'], dir: ['ls'], cls: ['clear'] },
  pytest: ['python3 -m pytest', 'python -m pytest'],
}

/** Programs that have to be installed deliberately, so a similar name is not a useful suggestion. */
const INSTALLED = new Set(
  `cargo rustc rustup go java javac mvn gradle dotnet docker podman kubectl helm terraform ansible aws gcloud az gh jq yq tree rg fd ag make cmake
  gcc g++ clang ruby gem bundle php composer perl deno bun pnpm yarn poetry uv pipenv conda swift kotlin scala elixir mix erl ghc stack ocaml
  psql mysql sqlite3 redis-cli ffmpeg convert curl wget zip unzip rsync shellcheck pandoc nvim tsx ts-node`.split(/\s+/),
)
export const isInstalled = (name: string): boolean => INSTALLED.has(name)

/** Largest difference in length; names that merely share letters are no use. */
const MAX_LONGER = 2
/** Dangerous programs, never suggested for a typo. */
const NEVER = /^(?:rm|rmdir|dd|mkfs.*|wipefs|shred|unlink|truncate|kill\w*|pkill|shutdown|reboot|halt|poweroff|sudo|su|[^\w].*)$/

/** Returns what to write in place of a program, best first. */
export function inPlaceOf(name: string, { programs, scripts, runner, bins }: Known): string[] {
  const there = new Set(programs)
  const own = [
    ...(bins.includes(name) ? [`npx ${name}`] : []),
    ...(scripts.includes(name) ? [`${runner} ${name}`] : []),
    ...(Object.hasOwn(ALSO, name) ? (ALSO[name] ?? []).filter((line) => there.has(line.split(' ')[0] as string)) : []),
  ]
  if (own.length > 0 || INSTALLED.has(name)) return own
  const names = [...new Set([...programs, ...bins, ...scripts])].filter((one) => !NEVER.test(one))
  return nearestName(name, names)
    .filter((one) => Math.abs(one.length - name.length) <= MAX_LONGER)
    .map((one) => (there.has(one) ? one : bins.includes(one) ? `npx ${one}` : `${runner} ${one}`))
}
