/**
 * Isolates commands in namespaces with bubblewrap, which is only one program to install and runs nothing between commands. Each
 * command gets its own namespaces, an allowlist of mounts, no capabilities, a seccomp filter, and a cgroup if available.
 */
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { release, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Backend, Beside, Child, Enforcement, Exit, Launch, OpenBackend, OpenRequest } from '../../backend.ts'
import { onCores, openConfinement } from '../../cgroup/confinement.ts'
import type { Confinement } from '../../cgroup/watch.ts'
import { SandboxError } from '../../command.ts'
import { sizeText } from '../../limits.ts'
import { send } from '../../processes.ts'
import { systemProgram } from '../../program.ts'
import { createStandbys, type Standby } from '../../run/standby.ts'
import { seccompFilter } from '../../seccomp/filter.ts'
import type { User } from '../../user.ts'
import type { View } from '../../view/view.ts'
import { explain, NOT_INSTALLED, readFacts } from './explain.ts'
import { closing, inheritedDescriptors, openNetwork, rootOnlyProc, type SharedNetwork } from './surroundings.ts'

/** File descriptors that bubblewrap is started with, after stdin, stdout and stderr. */
const STATUS_FD = 3
/**
 * Carries bubblewrap's options. On the command line, every host user could read a command's environment, and the command could read
 * the host's paths.
 */
const ARGS_FD = 4
const FILTER_FD = 5

/** The maximum share of the memory limit that `/dev/shm` may use. */
const SHARED = 0.5

export const bubblewrap: Backend = {
  name: 'bubblewrap',
  open: async (request) => {
    const bwrap = process.platform === 'linux' ? systemProgram('bwrap') : undefined
    if (bwrap === undefined) throw new SandboxError(NOT_INSTALLED)
    const [confinement, network] = await Promise.all([openConfinement(request.limits), openNetwork(bwrap)])
    const own = { bwrap, confinement, network }
    const close = async () => {
      await confinement.close()
      network?.close()
    }
    try {
      // If the shared network can be entered but the sandbox can't be set up in it, each command gets its own network.
      const opened = await openWalls(own, request).catch((error) => {
        if (!network) throw error
        return openWalls({ ...own, network: undefined }, request)
      })
      return { ...opened, close: () => opened.close().then(close) }
    } catch (error) {
      await close()
      throw error
    }
  },
}

/** What all commands of one sandbox have in common. */
interface Own {
  readonly bwrap: string
  readonly confinement: Confinement
  readonly network: SharedNetwork | undefined
}

async function openWalls(own: Own, request: OpenRequest): Promise<OpenBackend> {
  const { backend, attempt } = build(own, request)
  const fault = await attempt().catch((error: SandboxError) => error)
  if (!fault) return backend
  await backend.close()
  throw fault
}

function build(own: Own, request: OpenRequest, beside: Beside = {}) {
  const { bwrap, confinement } = own
  const { view, user, limits } = request
  const joined = request.network === 'none' ? own.network : undefined
  const filter = openFilter(seccompFilter({ unixSockets: request.network === 'none' && beside.unixSockets !== false, onHost: user.onHost }))
  const prlimit = systemProgram('prlimit')
  const become = process.getuid?.() === 0 && user.onHost === 'same' ? changeTo(user) : []
  const fixed = wallArgs(request, request.network === 'bridge' || joined !== undefined, filter !== undefined)
  let walls = fixed(view)
  const processes = countsProcesses(request) ? [`--nproc=${limits.processes}:${limits.processes}`] : []
  const bounds = prlimit === undefined ? [] : [prlimit, '--core=0:0', `--fsize=${limits.disk}:${limits.disk}`, ...processes, '--']
  const closed = closing(inheritedDescriptors().filter((fd) => fd > FILTER_FD))
  const standbys = createStandbys({
    folder: dirname(view.tmpFolder),
    confinement,
    prefix: () => [...onCores(limits.cpus), ...(joined?.join ?? []), ...(beside.prefix ?? []), ...closed],
    ahead: beside.ahead,
    // Drops supplementary groups: root has some that grant extra access. The user is changed later, since only root may enter the cgroup.
    spawn: process.getuid?.() === 0 && user.onHost === 'root' ? { uid: 0, gid: 0 } : {},
    further: () => ['pipe', 'pipe', ...(filter ? [filter.open()] : [])],
  })

  const launch = ({ argv, cwd, env, stdin, before }: Launch, broken = again): Promise<Child> => {
    const line = [...become, bwrap, '--args', String(ARGS_FD), '--', ...bounds, ...argv]
    const variables = Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value])
    const options = [...walls, ...variables, '--chdir', cwd]
    return standbys.start(async (standby) => {
      const child = childOf(standby, broken)
      await standby.become(line, stdin, before)
      standby.pipe(ARGS_FD).end(Buffer.from(options.map((option) => `${option}\0`).join('')))
      return child
    }, before)
  }
  /** Runs `true` with all limits. Returns bubblewrap's error if it fails. */
  const attempt = async (): Promise<SandboxError | undefined> => {
    const failed = new SandboxError({ message: 'bubblewrap ended before the command began' })
    const child = await launch({ argv: ['/bin/sh', '-c', ':'], cwd: view.workspace, env: view.env, stdin: undefined }, async () => failed)
    child.stdout.resume()
    const [stderr, exit] = await Promise.all([text(child.stderr), child.exited.catch(() => undefined)])
    await child.kill()
    return exit?.exitCode === 0 ? undefined : new SandboxError(explain(stderr, readFacts()))
  }
  const again = async (): Promise<SandboxError> =>
    (await attempt()) ?? new SandboxError({ message: 'bubblewrap ended before the command began, twice' })

  const backend: OpenBackend = {
    name: 'bubblewrap',
    enforces: enforcement(request, own, filter !== undefined, prlimit !== undefined),
    launch,
    adopt: async (next) => {
      walls = fixed(next)
      return next
    },
    beside: async (view, options) => build(own, { ...request, view, network: 'none' }, options).backend,
    close: async () => {
      await standbys.close()
      filter?.close()
    },
  }
  return { backend, attempt }
}

/** @returns a function that converts a view to bubblewrap options, which are the same for every command */
function wallArgs({ user, limits }: OpenRequest, keepsNetwork: boolean, hasFilter: boolean): (view: View) => readonly string[] {
  // Nothing needs hiding if commands are not root on the host: the kernel denies them access.
  const proc = user.onHost === 'root' ? rootOnlyProc() : { files: [], folders: [] }
  const shared = String(Math.round(limits.memory * SHARED))
  return ({ links, mounts }) => [
    ...['--unshare-all', '--unshare-user', ...(keepsNetwork ? ['--share-net'] : [])],
    ...['--uid', String(user.uid), '--gid', String(user.gid), '--cap-drop', 'ALL'],
    ...['--hostname', 'sandbox', '--new-session', '--die-with-parent'],
    ...['--json-status-fd', String(STATUS_FD), ...(hasFilter ? ['--seccomp', String(FILTER_FD)] : [])],
    ...['--proc', '/proc'],
    ...proc.folders.flatMap((path) => ['--ro-bind', path, path]),
    ...proc.files.flatMap((path) => ['--ro-bind', '/dev/null', path]),
    ...['--dev', '/dev', '--size', shared, '--perms', '1777', '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    ...['--dir', '/run', '--dir', '/var'],
    ...links.flatMap(({ path, to }) => ['--symlink', to, path]),
    ...mounts.flatMap(({ source, target, mode }) => [mode === 'read-only' ? '--ro-bind' : '--bind', source, target]),
    // Makes everything outside the mounts read-only: a file left there would be lost after the command, and use memory until then.
    ...['--remount-ro', '/', '--clearenv'],
  ]
}

/** @throws SandboxError */
function changeTo({ uid, gid }: User): readonly string[] {
  const setpriv = systemProgram('setpriv')
  if (setpriv !== undefined) return [setpriv, `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--']
  throw new SandboxError({ message: `commands can't be run as uid ${uid}: setpriv is not installed`, remedy: 'Install util-linux.' })
}

/** Counted per user namespace since Linux 5.14; before, together with everything else the user runs. It does not apply to root. */
const countsProcesses = ({ user }: OpenRequest): boolean => {
  const [major = 0, minor = 0] = release().split('.').map(Number)
  return user.onHost === 'same' && (major > 5 || (major === 5 && minor >= 14))
}

function enforcement(request: OpenRequest, own: Own, hasFilter: boolean, hasLimits: boolean): Enforcement {
  const { enforces } = own.confinement
  const hold = hasFilter ? 'hard' : 'partial'
  const byLimit = hasLimits && countsProcesses(request) && enforces.processes.hold !== 'hard'
  const largest = hasLimits ? `; no file larger than ${sizeText(request.limits.disk)}` : ''
  return {
    files: { hold, by: hasFilter ? 'mount namespace, seccomp' : 'mount namespace; no seccomp filter for this architecture' },
    network:
      request.network === 'bridge'
        ? { hold: 'none', by: "the host's network is shared" }
        : { hold, by: `network namespace of ${own.network ? 'the sandbox' : 'each command'}` },
    ...enforces,
    ...(byLimit && { processes: { hold: 'hard', by: 'RLIMIT_NPROC in a user namespace' } }),
    disk: { hold: 'partial', by: `free space is read four times a second${largest}` },
    treeKill: { hold: 'hard', by: 'pid namespace' },
  }
}

/**
 * Stores the filter in an unnamed file, so that nothing remains and no command can reach it. `open` returns a separate descriptor
 * for each command, because bubblewrap reads the file to the end.
 */
function openFilter(bytes: Uint8Array | undefined) {
  if (bytes === undefined) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'mulligan-filter-'))
  try {
    const fd = openSync(join(folder, 'seccomp'), 'wx+', 0o600)
    writeSync(fd, bytes)
    return { open: () => openSync(`/proc/self/fd/${fd}`, 'r'), close: () => closeSync(fd) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** How long, in milliseconds, to wait for bubblewrap to report which process it created before bubblewrap itself is killed. */
const SETUP_WAIT = 2_000

/**
 * Represents a process tree in its own namespaces, started by bubblewrap. Killing its first process kills all others.
 *
 * @param broken returns the error to throw if it ended before the command started
 */
function childOf({ cell, ended, isOver, stdout, stderr, pipe, pid }: Standby, broken: () => Promise<SandboxError>): Child {
  const status = readStatus(pipe(STATUS_FD))
  let killing: Promise<void> | undefined

  const untilExit = async (): Promise<Exit> => {
    const [code, signal] = await ended
    const exitCode = await status.exitCode
    const limit = await cell.limitHit()
    const isKilled = killing !== undefined
    if (exitCode === undefined && signal === null && limit === undefined && !isKilled) throw await broken()
    return {
      exitCode: exitCode ?? (signal === null && !isKilled ? code : null),
      signal: exitCode === undefined ? (signal ?? (isKilled ? 'SIGKILL' : null)) : null,
      ...(limit && { limit }),
    }
  }
  const kill = async (): Promise<void> => {
    if (!isOver()) {
      // Before that, a SIGKILL would orphan the half-started process, which then could not die with its parent.
      const first = await Promise.race([status.first, ended.then(() => undefined), after(SETUP_WAIT)])
      if (!isOver()) send(first ?? pid, 'SIGKILL')
    }
    // Bubblewrap exits before the processes that were killed along with its first process.
    await cell.kill()
    await ended
    // The cell is already empty; removing it takes the kernel a while, so don't wait.
    void cell.dispose()
  }
  const exited = untilExit()
  exited.catch(() => {})
  return {
    stdout,
    stderr,
    exited,
    kill: () => {
      killing ??= kill()
      return killing
    },
  }
}

/**
 * Reads JSON documents, one per line: `{"child-pid": 42, …}` with the first process of the namespace at the start, and
 * `{"exit-code": 0}` at the end of a command that was started.
 */
function readStatus(stream: Readable): { readonly first: Promise<number>; readonly exitCode: Promise<number | undefined> } {
  const first = Promise.withResolvers<number>()
  const exitCode = Promise.withResolvers<number | undefined>()
  let text = ''
  const find = (name: string): number | undefined => {
    const [, value] = new RegExp(`"${name}":\\s*(\\d+)`).exec(text) ?? []
    return value === undefined ? undefined : Number(value)
  }
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    const pid = find('child-pid')
    if (pid !== undefined) first.resolve(pid)
  })
  for (const event of ['close', 'error']) stream.on(event, () => exitCode.resolve(find('exit-code')))
  return { first: first.promise, exitCode: exitCode.promise }
}

const after = (ms: number): Promise<undefined> => new Promise((resolve) => setTimeout(resolve, ms, undefined).unref())
