/** Creates sandboxes, each with one workspace, one backend and its limits. */
import { realpath, stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import type { Enforcement, OpenBackend, OpenRequest } from './backend.ts'
import { autoOrder, openBackend, type Probe, probeAll } from './choose.ts'
import { BACKENDS, type BackendName, type Command, type Completed, type Removed, type Running, resultOf, SandboxError } from './command.ts'
import { createFolders, sweepFolders } from './folders.ts'
import { listLayers } from './layer/changed.ts'
import type { PrivateLayer } from './layer/keep-private.ts'
import { createLayers, type LayerRun } from './layer/layers.ts'
import type { Layer, LayerOptions, LayerSupport, WaitingLayer } from './layer/types.ts'
import { type Limits, limitsOf } from './limits.ts'
import { findShell, lineOf, prepare } from './run/prepare.ts'
import { start } from './run/run.ts'
import { userOf } from './user.ts'
import { checkWorkspaceOpen, planView } from './view/create-view.ts'
import { type GitPrograms, isStale } from './view/protect.ts'
import { createTakeAway } from './view/take-away.ts'
import type { Network, View } from './view/view.ts'

export interface SandboxOptions {
  /** Absolute path of the folder that commands may change. */
  readonly workspace: string
  /**
   * Default `auto`: the first whose probe passes, of bubblewrap, docker, podman (seatbelt on macOS). `none` is used only if
   * requested explicitly.
   */
  readonly backend?: 'auto' | BackendName
  /** Default `default`. */
  readonly profile?: 'default' | 'strict'
  /** Default `none`. */
  readonly network?: Network
  /** Overrides for the profile's limits. */
  readonly limits?: Partial<Limits>
  /** A uid, or `auto` for the owner of the workspace. Default `auto`. */
  readonly user?: number | 'auto'
  /** Additional folders to mount. */
  readonly mounts?: readonly { readonly path: string; readonly mode?: 'read-only' | 'read-write' }[]
  /** Paths relative to the workspace that commands can't write, or create if they do not exist. */
  readonly protect?: readonly string[]
  /** Names of additional variables to pass on from the host's environment. */
  readonly env?: readonly string[]
  /**
   * Whether git in a command runs programs named by a repository: hooks, filters, diff drivers, aliases. Default `ignore`, which
   * hides these settings of the workspace's repository, and its hooks.
   */
  readonly gitPrograms?: GitPrograms
  /** The container image. It must exist locally; nothing is pulled. */
  readonly image?: string
  /** Where layers are stored. Default: a folder in this user's state folder, otherwise one in `/var/tmp` or the system's tmp. */
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
   * @returns the result of a command that exited with 0
   * @throws CommandError if it ended any other way; CommandRefused if nothing was run; SandboxError if the sandbox could not start
   */
  readonly run: (command: Command) => Promise<Completed>
  /**
   * Starts a command in the background. Without a `timeout` it runs until it is killed or the sandbox is closed. Processes it
   * leaves behind end with it.
   */
  readonly start: (command: Command) => Promise<Running>
  /** Tests whether {@link Sandbox.openLayer} works here. */
  readonly layers: () => Promise<LayerSupport>
  /**
   * Opens a throwaway layer over the workspace: commands run in it write only to the layer.
   * @throws LayerError if layers are not available
   */
  readonly openLayer: (options?: LayerOptions) => Promise<Layer>
  /** Returns the layer of an earlier process that waits for a decision; undefined if it was discarded. */
  readonly waitingLayer: (id: string) => Promise<WaitingLayer | undefined>
  /** Opens a session's private layer, which contains its changes to ignored files. */
  readonly privateLayer: (options?: Pick<LayerOptions, 'session' | 'masks'>) => Promise<PrivateLayer>
  /** Ends all commands and removes the sandbox's own folders, including all layers except those waiting for a decision. */
  readonly close: () => Promise<void>
}

/**
 * Opens a sandbox. The backend is tested with all limits.
 *
 * @example
 * const sandbox = await createSandbox({ workspace: '/home/me/project' })
 * const { stdout } = await sandbox.run({ script: 'npm test' })
 * await sandbox.close()
 * @throws SandboxError if none can be started; RangeError for an invalid limit or user
 */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  const asked = await ask(options)
  try {
    return over(await openBackend(options.backend ?? 'auto', asked.request), asked, options)
  } catch (error) {
    await asked.folders.remove()
    throw error
  }
}

/** Tests the configured backend, every one that `auto` would try, and `none`. Reports what each enforces or why it is not available. */
export async function probeBackends(options: SandboxOptions): Promise<readonly Probe[]> {
  const { request, folders } = await ask(options)
  try {
    const { backend = 'auto' } = options
    const names = autoOrder()
    const configured = backend === 'auto' || backend === 'none' || names.includes(backend) ? [] : [backend]
    return await probeAll(request, [...configured, ...names, 'none'])
  } finally {
    await folders.remove()
  }
}

type Asked = Awaited<ReturnType<typeof ask>>

async function ask({ backend = 'auto', profile = 'default', network = 'none', ...options }: SandboxOptions) {
  const { mounts = [], protect = [], env = [], hostEnv = process.env, gitPrograms, image } = options
  if (backend !== 'auto' && !BACKENDS.includes(backend))
    throw new RangeError(`there is no sandbox.backend "${backend}"; there are auto, ${BACKENDS.join(', ')}`)
  const limits = limitsOf(profile, options.limits)
  const workspace = await folder(options.workspace)
  const user = await userOf(workspace, options.user ?? 'auto')
  await sweepFolders()
  const folders = await createFolders(user)
  try {
    const own = { toolchains: profile !== 'strict', homeFolder: folders.home, tmpFolder: folders.tmp }
    const { view, again } = await planView({ workspace, user, network, mounts, protect, env, hostEnv, gitPrograms, ...own })
    const request: OpenRequest = { view, limits, network, user, image }
    return { request, folders, again }
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

/**
 * Programs that count cores don't see the CPU quota: `nproc` and OpenMP use this variable and would otherwise start a thread for
 * each core of the machine.
 */
const withCores = (view: View, { cpus }: Limits): View => ({
  ...view,
  env: { OMP_NUM_THREADS: String(Math.max(1, Math.ceil(cpus))), ...view.env },
})

function over(backend: OpenBackend, { request, folders, again }: Asked, options: SandboxOptions): Sandbox {
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

  /** While nothing is running, any change to protected paths was made by a person: commands get to see it but can't write it. */
  const adopt = async (): Promise<void> => {
    if (backend.adopt && (await isStale(view))) view = withCores(await backend.adopt(await again()), limits)
  }

  /** @param asked where to run it if nothing may be created in the workspace itself. Default: the sandbox */
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

  type Tidy = () => Promise<readonly Removed[]>
  const launch = async (command: Command, timeout: number | undefined, place: LayerRun, after: Tidy): Promise<Running> => {
    await checkWorkspaceOpen(view, user, backend.name)
    const prepared = await prepare(command, place.shown ?? place.view)
    const { argv, discard } = await lineOf(command, findOnce, view)
    const tidy: Tidy = () => discard().then(after)
    const { before, written } = place
    const line = { ...prepared, argv, ...(before !== undefined && { before }) }
    const one = await start({ backend: place.backend, launch: line, limits, command, timeout, written, tidy }).catch(async (error) => {
      await discard()
      throw error
    })
    running.add(one)
    const forget = () => running.delete(one)
    one.ended.then(forget, forget)
    return one
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
  const layers = createLayers(backend, request, options.protect ?? [], options, beginOpen)

  return {
    backend: backend.name,
    workspace: view.workspace,
    limits,
    network,
    enforces: backend.enforces,
    run: async (command) => resultOf(await (await beginOpen(command, command.timeout ?? limits.timeout)).ended),
    start: (command) => beginOpen(command, command.timeout),
    layers: layers.support,
    openLayer: layers.open,
    waitingLayer: async (id) => (await listLayers(options)).waiting.find((one) => one.id === id && one.workspace === view.workspace),
    privateLayer: layers.privateLayer,
    close: () => {
      closing ??= close()
      return closing
    },
  }
}
