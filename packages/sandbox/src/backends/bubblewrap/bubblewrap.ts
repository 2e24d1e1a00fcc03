/**
 * Namespaces by bubblewrap: nothing to install but one program, nothing that runs between commands. Each command gets namespaces of
 * its own, an allowlist of mounts, no capabilities, a seccomp filter, and a cgroup where one can be had.
 */
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { release, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Backend, Beside, Child, Enforcement, Launch, OpenBackend, OpenRequest } from '../../backend.ts'
import type { Confinement } from '../../cgroup/confinement.ts'
import { onCores } from '../../cgroup/cores.ts'
import { openConfinement } from '../../cgroup/open.ts'
import { SandboxError } from '../../errors.ts'
import { sizeText } from '../../limits.ts'
import { systemProgram } from '../../program.ts'
import { createStandbys } from '../../run/standby.ts'
import { seccompFilter } from '../../seccomp/filter.ts'
import { createStdio } from '../../stdio.ts'
import type { User } from '../../user.ts'
import type { View } from '../../view/view.ts'
import { ARGS_FD, commandArgs, FILTER_FD, wallArgs } from './args.ts'
import { startChild } from './child.ts'
import { explain, NOT_INSTALLED, readFacts } from './explain.ts'
import { closing, inheritedDescriptors } from './inherited.ts'
import { openNetwork, type SharedNetwork } from './network.ts'
import { rootOnlyProc } from './root-only-proc.ts'

/** Of memory, at most so much may be held in `/dev/shm`. */
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
      // Where the shared network can be entered, but no walls be built in it, each command has its own.
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

/** What all walls of one sandbox have in common. */
interface Own {
  readonly bwrap: string
  readonly confinement: Confinement
  readonly network: SharedNetwork | undefined
}

async function openWalls(own: Own, request: OpenRequest): Promise<OpenBackend> {
  const { backend, probe } = build(own, request)
  try {
    await probe()
    return backend
  } catch (error) {
    await backend.close()
    throw error
  }
}

function build(own: Own, request: OpenRequest, beside: Beside = {}): { backend: OpenBackend; probe: () => Promise<void> } {
  const { bwrap, confinement } = own
  const { view, user, limits } = request
  const joined = request.network === 'none' ? own.network : undefined
  const filter = openFilter(seccompFilter({ unixSockets: request.network === 'none' && beside.unixSockets !== false, onHost: user.onHost }))
  const prlimit = systemProgram('prlimit')
  const become = process.getuid?.() === 0 && user.onHost === 'same' ? changeTo(user) : []
  const proc = user.onHost === 'root' ? rootOnlyProc() : { files: [], folders: [] }
  const keepsNetwork = request.network === 'bridge' || joined !== undefined
  const wallsOf = (view: View) =>
    wallArgs({ view, user, keepsNetwork, proc, shared: Math.round(limits.memory * SHARED), hasFilter: filter !== undefined })
  let walls = wallsOf(view)
  const bounds = prlimit === undefined ? [] : [prlimit, '--core=0:0', `--fsize=${limits.disk}:${limits.disk}`, ...processes(request), '--']
  const closed = closing(inheritedDescriptors().filter((fd) => fd > FILTER_FD))
  const running = new Set<Child>()
  const folder = dirname(view.tmpFolder)
  const standbys = createStandbys({
    folder,
    confinement,
    openStdio: createStdio(folder),
    prefix: () => [...onCores(limits.cpus), ...(joined?.join ?? []), ...(beside.prefix ?? []), ...closed],
    ...(beside.ahead && { ahead: beside.ahead }),
    spawn: groups(request),
    further: () => {
      const fd = filter?.open()
      return {
        stdio: ['pipe', 'pipe', ...(fd === undefined ? [] : [fd])],
        spawned: () => fd !== undefined && closeSync(fd),
      }
    },
  })

  const launch = async ({ argv, cwd, env, stdin, before }: Launch, broken = again): Promise<Child> => {
    const child = await startChild({
      standby: await standbys.take(before),
      argv: [...become, bwrap, '--args', String(ARGS_FD), '--', ...bounds, ...argv],
      options: [...walls, ...commandArgs({ cwd, env })],
      stdin,
      before,
      broken,
    })
    running.add(child)
    const forget = () => running.delete(child)
    child.exited.then(forget, forget)
    return child
  }
  /** `true`, with all limits; its words, where it fails. */
  const attempt = async (): Promise<SandboxError | undefined> => {
    const failed = new SandboxError({ message: 'bubblewrap ended before the command began' })
    const child = await launch({ argv: ['/bin/sh', '-c', ':'], cwd: view.workspace, env: view.env, stdin: undefined }, async () => failed)
    child.stdout.resume()
    const [stderr, exit] = await Promise.all([text(child.stderr), child.exited.catch(() => undefined)])
    await child.kill()
    return exit?.exitCode === 0 ? undefined : new SandboxError(explain(stderr, readFacts()))
  }
  const again = async (): Promise<SandboxError> =>
    (await attempt()) ?? new SandboxError({ message: 'bubblewrap ended before the command began; trying once more, it did not' })

  return {
    probe: async () => {
      const fault = await attempt()
      if (fault) throw fault
    },
    backend: {
      name: 'bubblewrap',
      enforces: enforcement(request, confinement, {
        hasFilter: filter !== undefined,
        hasLimits: prlimit !== undefined,
        isShared: joined !== undefined,
      }),
      launch,
      adopt: async (next) => {
        walls = wallsOf(next)
        return next
      },
      beside: async (view, options) => build(own, { ...request, view, network: 'none' }, options).backend,
      close: async () => {
        await Promise.all([...running].map((child) => child.kill()))
        await standbys.close()
        filter?.close()
      },
    },
  }
}

/** @throws SandboxError */
function changeTo({ uid, gid }: User): readonly string[] {
  const setpriv = systemProgram('setpriv')
  if (setpriv !== undefined) return [setpriv, `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--']
  throw new SandboxError({ message: `commands can't be run as uid ${uid}: setpriv is not installed`, remedy: 'Install util-linux.' })
}

/** Without other groups: root has some that open doors. The user is changed later, since only root may enter the cgroup. */
const groups = ({ user }: OpenRequest): { uid: number | undefined; gid: number | undefined } =>
  process.getuid?.() === 0 && user.onHost === 'root' ? { uid: 0, gid: 0 } : { uid: undefined, gid: undefined }

/** Since Linux 5.14 counted by user namespace; before, with all else that the user runs. It does not bind root. */
const countsProcesses = ({ user }: OpenRequest): boolean => {
  const [major = 0, minor = 0] = release().split('.').map(Number)
  return user.onHost === 'same' && (major > 5 || (major === 5 && minor >= 14))
}

const processes = (request: OpenRequest): readonly string[] =>
  countsProcesses(request) ? [`--nproc=${request.limits.processes}:${request.limits.processes}`] : []

interface Had {
  readonly hasFilter: boolean
  readonly hasLimits: boolean
  /** The network, by the commands of the sandbox. */
  readonly isShared: boolean
}

function enforcement(request: OpenRequest, { enforces }: Confinement, { hasFilter, hasLimits, isShared }: Had): Enforcement {
  const byLimit = hasLimits && countsProcesses(request) && enforces.processes.hold !== 'hard'
  return {
    files: hasFilter
      ? { hold: 'hard', by: 'mount namespace, seccomp' }
      : { hold: 'partial', by: 'mount namespace; no seccomp filter for this architecture' },
    network:
      request.network === 'bridge'
        ? { hold: 'none', by: "the host's network is shared" }
        : { hold: hasFilter ? 'hard' : 'partial', by: `network namespace of ${isShared ? 'the sandbox' : 'each command'}` },
    ...enforces,
    ...(byLimit && { processes: { hold: 'hard', by: 'RLIMIT_NPROC in a user namespace' } }),
    disk: {
      hold: 'partial',
      by: hasLimits
        ? `free space is read four times a second; no file larger than ${sizeText(request.limits.disk)}`
        : 'free space is read four times a second',
    },
    treeKill: { hold: 'hard', by: 'pid namespace' },
  }
}

interface Filter {
  /** A descriptor of its own for each command: bubblewrap reads it to the end. */
  readonly open: () => number
  readonly close: () => void
}

/** In a file that has no name, so that nothing is left of it and no command can reach it. */
function openFilter(bytes: Uint8Array | undefined): Filter | undefined {
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
