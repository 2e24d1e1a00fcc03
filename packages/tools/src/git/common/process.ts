/** The git process: one way to start it, stop it and read what it prints, with nothing of the caller's environment that it need not know. */
import { StringDecoder } from 'node:string_decoder'
import { ToolFailure } from '@mulligan/core'
import { resolveProgram, safePath } from '@mulligan/sandbox'
import { runOnHost } from '../../host-process.ts'

export type ConfigPair = readonly [key: string, value: string]

export interface GitRun {
  readonly cwd: string
  /** The call's: when it aborts, git and all it has started are killed, and the reason is thrown. */
  readonly signal?: AbortSignal | undefined
  /** Settings on top of those of {@link FOR_READING} or {@link FOR_WRITING}. */
  readonly config?: readonly ConfigPair[] | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  /** It may take locks and run hooks. Default false. */
  readonly writes?: boolean
  /** Called for each piece of stdout; `false` stops the process. Without it stdout is collected, up to {@link MAX_COLLECTED_BYTES}. */
  readonly onData?: (piece: Buffer) => unknown
}

export interface GitEnd {
  /** null when it was killed. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** Not all of the output was read: the reader had enough, or it was too much to hold. */
  readonly cut: boolean
}

export type Git = (args: readonly string[], run: GitRun) => Promise<GitEnd>

export const MAX_COLLECTED_BYTES = 8 * 1024 * 1024
const MAX_STDERR_CHARS = 64 * 1024
/** Milliseconds in which git takes its lock files away before it is killed for good. */
const TERM_MS = 500
/** Milliseconds to wait, once git has ended, for what a hook left running behind to let go of the output. */
const DRAIN_MS = 1000

/** The first git that takes settings from the environment, where a name with "=" in it cannot be misread. */
const MIN_VERSION = [2, 31] as const

/** Where it finds programs and the person's settings, and who commits. Never `GIT_DIR` and the like, never a key. */
const PASSED_ON = [
  ...['HOME', 'USER', 'LOGNAME', 'XDG_CONFIG_HOME', 'TMPDIR', 'TMP', 'TEMP'],
  ...['USERPROFILE', 'HOMEDRIVE', 'HOMEPATH', 'APPDATA', 'LOCALAPPDATA', 'PROGRAMDATA', 'SYSTEMROOT', 'PATHEXT', 'COMSPEC'],
  ...['GIT_AUTHOR_NAME', 'GIT_AUTHOR_EMAIL', 'GIT_COMMITTER_NAME', 'GIT_COMMITTER_EMAIL', 'EMAIL'],
] as const

const ALWAYS: Readonly<Record<string, string>> = {
  // English, for the few messages that are read here, and UTF-8.
  LC_ALL: 'C.UTF-8',
  GIT_PAGER: 'cat',
  GIT_EDITOR: ':',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '',
  SSH_ASKPASS: '',
  // A partial clone fetches what it lacks, by a command that its own config names.
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: 'none',
}

/** A repository can name programs that git runs while it merely looks. */
const FOR_READING: readonly ConfigPair[] = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.pager', 'cat'],
  ['core.quotePath', 'false'],
  ['color.ui', 'false'],
  ['log.showSignature', 'false'],
  ['diff.submodule', 'short'],
  ['safe.bareRepository', 'explicit'],
]

/** What a commit starts for its own sake stays: hooks, filters, signing. Not what would outlive it, nor a name that is made up. */
const FOR_WRITING: readonly ConfigPair[] = [
  ['core.fsmonitor', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['user.useConfigOnly', 'true'],
  ['safe.bareRepository', 'explicit'],
]

/** Git itself, by its absolute path, and the PATH of what it starts. */
interface Program {
  readonly file: string
  readonly path: string
}

/**
 * @param workspace in which no program is looked for
 * @returns a runner that looks once for git, and at its version
 * @throws ToolFailure (config) where git is missing or too old
 */
export function createGit(workspace: string): Git {
  let found: Promise<Program> | undefined
  return async (args, run) => {
    found ??= find(workspace, run.cwd)
    const program = await found.catch((error) => {
      found = undefined
      throw error
    })
    return start(program, args, run)
  }
}

async function find(workspace: string, cwd: string): Promise<Program> {
  const file = resolveProgram('git', { workspace })
  if (file === undefined)
    throw new ToolFailure('git is not installed, or not in PATH. Install it to use the git tools.', { errorType: 'config' })
  const program = { file, path: safePath(process.env['PATH'], workspace) }
  await checkVersion(program, cwd)
  return program
}

async function checkVersion(program: Program, cwd: string): Promise<void> {
  const { stdout } = await start(program, ['version'], { cwd, signal: AbortSignal.timeout(10_000) })
  const [, major = 0, minor = 0] = /(\d+)\.(\d+)/.exec(stdout)?.map(Number) ?? []
  if (major > MIN_VERSION[0] || (major === MIN_VERSION[0] && minor >= MIN_VERSION[1])) return
  throw new ToolFailure(`git ${MIN_VERSION.join('.')} or later is needed; this is ${stdout.trim() || 'unknown'}.`, { errorType: 'config' })
}

async function start(program: Program, args: readonly string[], run: GitRun): Promise<GitEnd> {
  const { cwd, signal, onData, writes = false } = run
  signal?.throwIfAborted()
  const collected: Buffer[] = []
  let held = 0
  let stderr = ''
  const collect = (piece: Buffer): boolean => {
    held += piece.length
    if (held <= MAX_COLLECTED_BYTES) collected.push(piece)
    return held <= MAX_COLLECTED_BYTES
  }
  const decoder = new StringDecoder('utf8')
  const { code, stopped } = await runOnHost(program.file, ['--no-pager', ...args], {
    cwd,
    env: environment(run, program.path),
    stop: [signal],
    onStdout: onData ?? collect,
    onStderr: (piece) => {
      if (stderr.length < MAX_STDERR_CHARS) stderr += decoder.write(piece)
    },
    grace: TERM_MS,
    drain: writes ? DRAIN_MS : undefined,
  }).catch((cause: NodeJS.ErrnoException) => {
    throw new ToolFailure(`git could not be started (${cause.code ?? 'unknown error'}).`, { errorType: 'execution', cause })
  })
  signal?.throwIfAborted()
  return { code, stdout: Buffer.concat(collected).toString('utf8'), stderr, cut: stopped }
}

function environment({ config = [], env = {}, writes = false }: GitRun, path: string): NodeJS.ProcessEnv {
  const passed = PASSED_ON.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]] as const]))
  const settings = [...(writes ? FOR_WRITING : FOR_READING), ...config]
  const pairs = settings.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ])
  return {
    ...Object.fromEntries(passed),
    PATH: path,
    ...ALWAYS,
    ...(writes ? {} : { GIT_OPTIONAL_LOCKS: '0', GIT_LITERAL_PATHSPECS: '1' }),
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(pairs),
    ...env,
  }
}
