/**
 * Namespaces by bubblewrap: nothing to install but one program, nothing that runs between commands. Each command gets namespaces of
 * its own, an allowlist of mounts, no capabilities, a seccomp filter, and a cgroup where one can be had.
 */
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { release, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Backend, Child, Enforcement, Launch, OpenBackend, OpenRequest, User } from '../../backend.ts'
import type { Confinement } from '../../cgroup/confinement.ts'
import { openConfinement } from '../../cgroup/open.ts'
import { SandboxError } from '../../errors.ts'
import { sizeText } from '../../limits.ts'
import { systemProgram } from '../../program.ts'
import { seccompFilter } from '../../seccomp/filter.ts'
import { createStdio } from '../../stdio.ts'
import type { View } from '../../view/view.ts'
import { ARGS_FD, commandArgs, FILTER_FD, wallArgs } from './args.ts'
import { startChild } from './child.ts'
import { explain, NOT_INSTALLED, readFacts } from './explain.ts'
import { closing, inheritedDescriptors } from './inherited.ts'
import { rootOnlyProc } from './root-only-proc.ts'

/** Of memory, at most so much may be held in `/dev/shm`. */
const SHARED = 0.5

export const bubblewrap: Backend = {
  name: 'bubblewrap',
  open: async (request) => {
    const bwrap = process.platform === 'linux' ? systemProgram('bwrap') : undefined
    if (bwrap === undefined) throw new SandboxError(NOT_INSTALLED)
    const confinement = await openConfinement(request.limits)
    const filter = openFilter(seccompFilter({ network: request.network, onHost: request.user.onHost }))
    const walls = build(bwrap, request, confinement, filter)
    try {
      await walls.probe()
      return walls.backend
    } catch (error) {
      await walls.backend.close()
      throw error
    }
  },
}

function build(
  bwrap: string,
  request: OpenRequest,
  confinement: Confinement,
  filter: Filter | undefined,
): { backend: OpenBackend; probe: () => Promise<void> } {
  const { view, user, network, limits } = request
  const prlimit = systemProgram('prlimit')
  const become = process.getuid?.() === 0 && user.onHost === 'same' ? changeTo(user) : []
  const proc = user.onHost === 'root' ? rootOnlyProc() : { files: [], folders: [] }
  const wallsOf = (view: View) =>
    wallArgs({ view, user, network, proc, shared: Math.round(limits.memory * SHARED), hasFilter: filter !== undefined })
  let walls = wallsOf(view)
  const inherited = inheritedDescriptors().filter((fd) => fd > FILTER_FD)
  const bounds = prlimit === undefined ? [] : [prlimit, '--core=0:0', `--fsize=${limits.disk}:${limits.disk}`, ...processes(request), '--']
  const running = new Set<Child>()
  const openStdio = createStdio(dirname(view.tmpFolder))

  const launch = async ({ argv, cwd, env, stdin, around = [] }: Launch, broken = again): Promise<Child> => {
    const outside = [...around, ...become, bwrap, '--args', String(ARGS_FD), '--', ...bounds, ...argv]
    const options = [...walls, ...commandArgs({ cwd, env })]
    const fd = filter?.open()
    try {
      const child = await startChild({
        argv: closing(inherited, outside),
        options,
        cell: await confinement.cell(),
        filter: fd,
        stdio: await openStdio(stdin),
        broken,
        ...groups(request),
      })
      running.add(child)
      const forget = () => running.delete(child)
      child.exited.then(forget, forget)
      return child
    } finally {
      if (fd !== undefined) closeSync(fd)
    }
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
      enforces: enforcement(request, confinement, filter !== undefined, prlimit !== undefined),
      launch,
      adopt: async (next) => {
        walls = wallsOf(next)
        return next
      },
      close: async () => {
        await Promise.all([...running].map((child) => child.kill()))
        await confinement.close()
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

function enforcement(request: OpenRequest, { enforces }: Confinement, hasFilter: boolean, hasLimits: boolean): Enforcement {
  const byLimit = hasLimits && countsProcesses(request) && enforces.processes.hold !== 'hard'
  return {
    files: hasFilter
      ? { hold: 'hard', by: 'mount namespace, seccomp' }
      : { hold: 'partial', by: 'mount namespace; no seccomp filter for this architecture' },
    network:
      request.network === 'bridge'
        ? { hold: 'none', by: "the host's network is shared" }
        : { hold: hasFilter ? 'hard' : 'partial', by: 'network namespace' },
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
