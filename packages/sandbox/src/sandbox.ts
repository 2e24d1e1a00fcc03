/** A sandbox: one workspace, one backend, its limits. */
import { realpath, stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import type { Enforcement, OpenBackend, OpenRequest } from './backend.ts'
import { autoOrder, openBackend, type Probe, probeAll } from './choose.ts'
import { BACKENDS, type BackendName, type Command, type Completed, type Removed, type Running } from './command.ts'
import { CommandError, SandboxError } from './errors.ts'
import { createFolders, type Folders, sweepFolders } from './folders.ts'
import type { PrivateLayer } from './layer/keep-private.ts'
import { createLayers, type LayerRun } from './layer/layers.ts'
import type { Layer, LayerOptions, LayerSupport } from './layer/types.ts'
import { type Limits, limitsOf } from './limits.ts'
import { watchDisk } from './run/disk.ts'
import { prepare } from './run/prepare.ts'
import { start } from './run/run.ts'
import { findShell, lineOf } from './run/shell.ts'
import { userOf } from './user.ts'
import { checkWorkspaceOpen, planView } from './view/create-view.ts'
import type { GitPrograms } from './view/git.ts'
import { isStale } from './view/stale.ts'
import { createTakeAway } from './view/take-away.ts'
import type { Network, View } from './view/view.ts'

export interface SandboxOptions {
  /** Absolute path of the folder that commands may change. */
  readonly workspace: string
  /** Default `auto`: the first whose probe passes, of bubblewrap, docker, podman (seatbelt on macOS). `none` only by name. */
  readonly backend?: 'auto' | BackendName
  /** Default `default`. */
  readonly profile?: 'default' | 'strict'
  /** Default `none`. */
  readonly network?: Network
  /** Over those of the profile. */
  readonly limits?: Partial<Limits>
  /** A uid, or the owner of the workspace: the default. */
  readonly user?: number | 'auto'
  /** Further folders. */
  readonly mounts?: readonly { readonly path: string; readonly mode?: 'read-only' | 'read-write' }[]
  /** Paths from the workspace that commands can't write, and can't make where they do not exist. */
  readonly protect?: readonly string[]
  /** Names of further variables that are let through from the host's environment. */
  readonly env?: readonly string[]
  /**
   * Whether git in a command runs what a repository names: hooks, filters, diff drivers, aliases. Default `ignore`: the settings of the
   * workspace's repository are seen without, and its hooks not at all.
   */
  readonly gitPrograms?: GitPrograms
  /** Of containers. A local image; nothing is pulled. */
  readonly image?: string
  /** Of layers: where they are kept. Default: a folder of this user's state, otherwise one in `/var/tmp` or the system's tmp. */
  readonly stateFolder?: string
  /** Default `process.env`. */
  readonly hostEnv?: Readonly<Record<string, string | undefined>>
}

export interface Sandbox {
  readonly backend: BackendName
  readonly workspace: string
  readonly limits: Limits
  readonly network: Network
  readonly enforces: Enforcement
  /**
   * Runs a command to its end.
   * @returns of a command that exited with 0
   * @throws CommandError of any other end; CommandRefused when nothing was run; SandboxError when the sandbox could not start
   */
  readonly run: (command: Command) => Promise<Completed>
  /** Starts one that goes on in the background. Without a `timeout` it runs until it is killed or the sandbox is closed. What it leaves behind ends with it. */
  readonly start: (command: Command) => Promise<Running>
  /** Whether {@link Sandbox.openLayer} works here, tried for real. */
  readonly layers: () => Promise<LayerSupport>
  /**
   * A throwaway layer over the workspace: commands that run in it write to the layer only.
   * @throws LayerError where layers can't be had
   */
  readonly openLayer: (options?: LayerOptions) => Promise<Layer>
  /** What the commands in layers of a session have changed of ignored files. */
  readonly privateLayer: (options?: Pick<LayerOptions, 'session' | 'masks'>) => Promise<PrivateLayer>
  /** Ends all commands and removes the sandbox's own folders; layers too, but those that wait. */
  readonly close: () => Promise<void>
}

/**
 * Opens a sandbox: the backend is tried for real, with all limits.
 *
 * @example
 * const sandbox = await createSandbox({ workspace: '/home/me/project' })
 * const { stdout } = await sandbox.run({ script: 'npm test' })
 * await sandbox.close()
 * @throws SandboxError when none can be started; RangeError for a limit or a user that can't be
 */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { request, folders, again } = await ask(options)
  try {
    return over(await openBackend(options.backend ?? 'auto', request), request, folders, again, options)
  } catch (error) {
    await folders.remove()
    throw error
  }
}

/** Tries every backend that `auto` would, and `none`, and says of each what it enforces or why it can't be had. */
export async function probeBackends(options: SandboxOptions): Promise<readonly Probe[]> {
  const { request, folders } = await ask(options)
  try {
    return await probeAll(request, [...autoOrder(), 'none'])
  } finally {
    await folders.remove()
  }
}

interface Asked {
  readonly request: OpenRequest
  readonly folders: Folders
  /** The view of the workspace as it is now. */
  readonly again: () => Promise<View>
}

async function ask(options: SandboxOptions): Promise<Asked> {
  const {
    backend = 'auto',
    profile = 'default',
    network = 'none',
    mounts = [],
    protect = [],
    env = [],
    hostEnv = process.env,
    gitPrograms,
  } = options
  if (backend !== 'auto' && !BACKENDS.includes(backend))
    throw new RangeError(`there is no sandbox.backend "${backend}"; there are auto, ${BACKENDS.join(', ')}`)
  const limits = limitsOf(profile, options.limits)
  const workspace = await folder(options.workspace)
  const user = await userOf(workspace, options.user ?? 'auto')
  await sweepFolders()
  const folders = await createFolders(user)
  try {
    const { view, again } = await planView({
      workspace,
      user,
      network,
      toolchains: profile !== 'strict',
      mounts,
      protect,
      env,
      hostEnv,
      ...(gitPrograms && { gitPrograms }),
      homeFolder: folders.home,
      tmpFolder: folders.tmp,
    })
    return { request: { view, limits, network, user, image: options.image }, folders, again }
  } catch (error) {
    await folders.remove()
    throw error
  }
}

async function folder(workspace: string): Promise<string> {
  const fault = (says: string) => new SandboxError({ message: `the workspace ${workspace} ${says}` })
  if (!isAbsolute(workspace)) throw fault('is not an absolute path')
  const path = await realpath(workspace).catch((cause: NodeJS.ErrnoException) => {
    throw fault(cause.code === 'ENOENT' ? 'does not exist' : `can't be read (${cause.code})`)
  })
  if (!(await stat(path)).isDirectory()) throw fault('is not a folder')
  return path
}

/** A quota of cores is not seen by who counts them: `nproc` and OpenMP go by this, and would start a thread for each of the machine's. */
const withCores = (view: View, { cpus }: Limits): View => ({
  ...view,
  env: { OMP_NUM_THREADS: String(Math.max(1, Math.ceil(cpus))), ...view.env },
})

function over(backend: OpenBackend, request: OpenRequest, folders: Folders, again: () => Promise<View>, options: SandboxOptions): Sandbox {
  const { limits, network, user } = request
  let view = withCores(backend.view ?? request.view, limits)
  const takeAway = createTakeAway()
  let active = 0
  let adopting: Promise<void> = Promise.resolve()
  const starting = new Set<Promise<Running>>()
  const running = new Set<Running>()
  let shell: Promise<readonly string[]> | undefined
  let closing: Promise<void> | undefined

  const findOnce = (): Promise<readonly string[]> => {
    shell ??= findShell(backend, view).catch((error: unknown) => {
      shell = undefined
      throw error
    })
    return shell
  }

  /** While nothing runs, it was a person who made or removed what is protected: commands get to see it, and can't write it. */
  const adopt = async (): Promise<void> => {
    if (backend.adopt && (await isStale(view))) view = withCores(await backend.adopt(await again()), limits)
  }

  /** @param asked a place where nothing can be made in the workspace itself. Default: the sandbox */
  const begin = async (command: Command, timeout: number | undefined, asked?: LayerRun): Promise<Running> => {
    const elsewhere = asked ?? (command.workspace === 'read-only' ? await layers.readOnly(command.masks ?? []) : undefined)
    if (elsewhere) return launch(command, timeout, elsewhere, async () => [])
    if (active++ === 0) adopting = adopt()
    try {
      await adopting
      const place: LayerRun = { backend, view, written: [view.workspace, view.tmpFolder] }
      return await launch(command, timeout, place, () => takeAway(view).finally(() => active--))
    } catch (error) {
      active--
      throw error
    }
  }

  const launch = async (
    command: Command,
    timeout: number | undefined,
    place: LayerRun,
    tidy: () => Promise<readonly Removed[]>,
  ): Promise<Running> => {
    await checkWorkspaceOpen(view, user, backend.name)
    const prepared = await prepare(command, place.shown ?? place.view)
    const { argv, discard } = await lineOf(prepared, findOnce, view)
    try {
      const one = await start({
        backend: place.backend,
        launch: {
          argv,
          cwd: prepared.cwd,
          env: prepared.env,
          stdin: prepared.stdin,
          ...(place.before !== undefined && { before: place.before }),
        },
        limits,
        timeout,
        signal: command.signal,
        onOutput: command.onOutput,
        onBytes: command.onBytes,
        watch: (onLimit) => watchDisk(place.written, limits.disk, onLimit),
      })
      const end = async () => {
        running.delete(sealed)
        await discard()
        return tidy()
      }
      const ended = one.ended.then(
        async (completed): Promise<Completed> => {
          const removed = await end()
          return removed.length === 0 ? completed : { ...completed, removed }
        },
        async (error) => {
          await end()
          throw error
        },
      )
      // Who started it in the background may never ask.
      ended.catch(() => {})
      const sealed = { ...one, ended }
      running.add(sealed)
      return sealed
    } catch (error) {
      await discard()
      throw error
    }
  }

  const beginOpen = (command: Command, timeout: number | undefined, place?: LayerRun): Promise<Running> => {
    if (closing) return Promise.reject(new SandboxError({ message: 'the sandbox is closed' }))
    const begun = begin(command, timeout, place)
    starting.add(begun)
    return begun.finally(() => starting.delete(begun))
  }

  const close = async (): Promise<void> => {
    await Promise.allSettled(starting)
    await Promise.all([...running].map((one) => one.kill().then(() => one.ended.catch(() => {}))))
    await layers.close()
    await backend.close()
    await folders.remove()
  }
  const layers = createLayers({
    backend,
    request,
    protect: options.protect ?? [],
    stateFolder: options.stateFolder,
    hostEnv: options.hostEnv ?? process.env,
    start: beginOpen,
  })

  return {
    backend: backend.name,
    workspace: view.workspace,
    limits,
    network,
    enforces: backend.enforces,
    run: async (command) => {
      const completed = await (await beginOpen(command, command.timeout ?? limits.timeout)).ended
      if (completed.reason === 'exit' && completed.exitCode === 0) return completed
      throw new CommandError(completed)
    },
    start: (command) => beginOpen(command, command.timeout),
    layers: layers.support,
    openLayer: layers.open,
    privateLayer: layers.privateLayer,
    close: () => {
      closing ??= close()
      return closing
    },
  }
}
