/** Runs a checker process: without a shell, input or keys, and with a time limit. */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, delimiter, isAbsolute, join, resolve } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import { resolveProgram, safePath } from '@mulligan/sandbox'
import { runOnHost } from '../host-process.ts'
import { baseName, isInside, shown } from '../workspace/paths.ts'
import { withoutColours } from './colours.ts'
import type { Locate } from './parse/parse.ts'

export interface CommandRun {
  readonly cwd: string
  /** Seconds, after which it is killed with everything it started. */
  readonly timeout: number
  readonly signal: AbortSignal
}

export interface CommandEnd {
  /** `not_started`: the command does not exist or may not be run. */
  readonly how: 'exit' | 'timeout' | 'aborted' | 'not_started'
  /** Null if it was killed. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** More was printed than is kept. */
  readonly cut: boolean
  /** For `not_started`: the reason, if the command is not to blame. */
  readonly why?: string
}

export type RunCommand = (command: readonly string[], run: CommandRun) => Promise<CommandEnd>

/** Maximum characters kept of each stream. */
const MAX_OUTPUT = 2_000_000
/** Milliseconds to wait for remaining output, because child processes may keep the pipe open. */
const DRAIN_MS = 200

/**
 * The environment variables passed on: locations of programs and their caches, and the language. All others are dropped, because they may
 * contain keys.
 */
const PASSED_ON = new Set(
  `PATH HOME USER LOGNAME LANG LC_ALL LC_CTYPE TZ TMPDIR TEMP TMP XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME NODE_ENV NODE_PATH NVM_DIR
  VOLTA_HOME PYENV_ROOT PYENV_VERSION VIRTUAL_ENV PYTHONPATH GOPATH GOROOT GOCACHE GOMODCACHE GOFLAGS CARGO_HOME RUSTUP_HOME RUSTUP_TOOLCHAIN
  JAVA_HOME SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT USERPROFILE APPDATA LOCALAPPDATA PROGRAMFILES`.split(/\s+/),
)

const ownPrograms = (cwd: string): string => join(cwd, 'node_modules', '.bin')

/**
 * Finds the program. A bare name such as `tsc` means the project's own, so that is tried first, by absolute path. PATH entries of other
 * projects (`node_modules/.bin`) are ignored.
 */
function fileOf(program: string, cwd: string): string | undefined {
  if (/[\\/]/.test(program)) return isAbsolute(program) ? program : resolve(cwd, program)
  const own = join(ownPrograms(cwd), program)
  return existsSync(own) ? own : resolveProgram(program)
}

/** Builds the environment, with the project's own programs first in PATH and colours off. */
function environment(cwd: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => PASSED_ON.has(name.toUpperCase()))
  const env = Object.fromEntries(kept)
  const path = Object.keys(env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH'
  return { ...env, [path]: [ownPrograms(cwd), safePath(env[path])].join(delimiter), NO_COLOR: '1', TERM: 'dumb' }
}

/** Runs a command. Never throws. */
export const runCommand: RunCommand = async ([program = '', ...args], { cwd, timeout, signal }) => {
  const held = { stdout: '', stderr: '' }
  let cut = false
  /** Keeps the beginning of a stream. */
  const hold = (stream: keyof typeof held) => {
    const decoder = new StringDecoder('utf8')
    return (piece: Buffer): void => {
      const text = decoder.write(piece)
      const room = MAX_OUTPUT - held[stream].length
      if (text.length > room) cut = true
      held[stream] += text.slice(0, room)
    }
  }
  const ended = (how: CommandEnd['how'], code: number | null = null): CommandEnd => ({ how, code, ...held, cut })
  if (signal.aborted) return ended('aborted')
  const file = fileOf(program, cwd)
  if (file === undefined) return ended('not_started')
  try {
    const { code, stopped } = await runOnHost(file, args, {
      cwd,
      env: environment(cwd),
      stop: [signal, AbortSignal.timeout(Math.ceil(timeout * 1000))],
      onStdout: hold('stdout'),
      onStderr: hold('stderr'),
      drain: DRAIN_MS,
      // Kill what is left: a background process of a checker has nobody to report to.
      killsRest: true,
    })
    return ended(!stopped ? 'exit' : signal.aborted ? 'aborted' : 'timeout', code)
  } catch {
    return ended('not_started')
  }
}

/** Placeholder for a file name, which the model can choose. */
export const FILE = '{file}'
/** Programs that take code as an argument. */
const INTERPRETER = /^(?:(?:ba|da|z|k|mk|a|c|tc|fi|pw)?sh|cmd|powershell|node|deno|bun|python[\d.]*|perl|ruby|php)(?:\.exe)?$/i
const CODE = /^(?:-\w*[ce]|-p|-pe|-r|--eval|--print|--command|-command|\/c|\/k|eval)$/i
/** Programs that read all remaining arguments as code. */
const TAKES_ALL = /^(?:cmd|powershell|pwsh)(?:\.exe)?$/i

/**
 * Checks a command's use of {@link FILE}.
 * @returns what is wrong with it, or undefined
 */
export function commandFault(command: readonly string[]): string | undefined {
  const interpreter = command.findIndex((word) => INTERPRETER.test(basename(word)))
  const code = interpreter === -1 ? -1 : command.findIndex((word, at) => at > interpreter && CODE.test(word))
  const program = basename(command[interpreter] ?? '')
  for (const [at, word] of command.entries()) {
    if (!word.includes(FILE)) continue
    const name = JSON.stringify(word)
    if (word.indexOf(FILE) !== word.length - FILE.length)
      return `${name}: ${FILE} must be a word of its own, or the end of one (--file=${FILE}), or the name of a file could be read as something else`
    if (code !== -1 && (word !== FILE || at === code + 1 || TAKES_ALL.test(program)))
      return `${name}: ${FILE} must not be in code that ${program} runs, or the name of a file could be run; give it as a word after the code ("sh", "-c", "lint \\"$1\\"", "sh", "${FILE}")`
  }
  return undefined
}

const LAST_LINES = 5
const MAX_LINE = 160
/** Stack frames, which are not useful to the model. */
const STACK_FRAME = /^\s+at .*[:)\d]$/

interface About {
  readonly label: string
  /** Seconds. */
  readonly timeout: number
  readonly scrub: (text: string) => string
  /** At least one place in a file was reported. */
  readonly found: boolean
}

/** Explains in one sentence why a check did not run. The change is kept regardless. */
export function troubleOf({ how, why, code, stdout, stderr }: CommandEnd, { label, timeout, scrub, found }: About): string | undefined {
  if (how === 'not_started') {
    const says = why === undefined ? 'started; is it installed?' : `run: ${scrub(why)}.`
    return `"${label}" could not be ${says} The change is not checked.`
  }
  if (how === 'timeout') return `"${label}" was stopped after ${timeout} s. The change is not checked.`
  if (how === 'aborted') return `"${label}" was stopped with the turn.`
  if (code === 0 || found) return undefined
  const ending = code === null ? 'was killed' : `ended with exit code ${code}`
  const lines = lastLines(stderr) || lastLines(stdout)
  return `"${label}" ${ending} and named no place in a file${lines === '' ? '.' : `: ${scrub(lines)}`}`
}

const lastLines = (text: string): string =>
  withoutColours(text.slice(-LAST_LINES * 1000))
    .split('\n')
    .filter((line) => line.trim() !== '' && !STACK_FRAME.test(line))
    .slice(-LAST_LINES)
    .map((line) => line.replace(/[\0-\x1f\x7f]+/g, ' ').trim())
    .map((line) => line.slice(0, MAX_LINE))
    .join(' ⏎ ')

/**
 * Maps a checker's paths to workspace paths.
 *
 * @param root real path of the workspace, in which the checker ran
 * @param files files that were checked; some checkers print a name without its folders
 */
export function locator(root: string, files: readonly string[]): Locate {
  return (path, nameOnly) => {
    const [only, another] = nameOnly && !/[\\/]/.test(path) ? files.filter((file) => baseName(file) === path) : []
    if (only !== undefined && another === undefined) return only
    const absolute = path.includes('\0') ? root : resolve(root, path)
    return absolute !== root && isInside(root, absolute) ? shown(root, absolute) : undefined
  }
}

/** Replaces the workspace folder by `.` and the home folder by `~` in texts, but not inside longer folder names. */
export function scrubber(root: string, home: string = homedir()): (text: string) => string {
  const replaced = (text: string, folder: string, by: string): string =>
    folder.length < 2 ? text : text.split(folder).reduce((done, part) => done + (/^[\w-]/.test(part) ? folder : by) + part)
  return (text) => replaced(replaced(text, root, '.'), home, '~')
}
