/** Commands in containers that are kept warm. The same for Docker and Podman. */
import { randomUUID } from 'node:crypto'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Child, Launch, OpenBackend, OpenRequest } from '../../backend.ts'
import { takeCores } from '../../cgroup/cores.ts'
import { SandboxError } from '../../errors.ts'
import type { Network, View } from '../../view/view.ts'
import { type Engine, reasonOf } from './engine.ts'
import { imageEnv, mergeEnv } from './image.ts'
import { labelsOf, sweepContainers } from './labels.ts'
import { archOf, launcher as launcherFile } from './launcher.ts'
import { createPool, type Pool } from './pool.ts'
import { enforcement, PROBE, readFacts } from './probe.ts'
import { DEFAULT_IMAGE, type EngineName } from './pull-options.ts'
import { containerSpec, isRootOutside, networkOf, WORKER_ARGV } from './spec.ts'
import { startWarm, type Warm } from './warm.ts'

/** Containers of one sandbox. Further commands wait for one. */
const MAX_CONTAINERS = 32
const MAX_IDLE = 2
const MAX_STARTING = 2
/** Milliseconds. */
const PROBE_TIMEOUT = 60_000
/** Open files and processes, where a limit has to be given; podman keeps 32768 processes for itself. The real limit is the cgroup's. */
const MOST = 16_384
/** Of an image that sets none. */
const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

interface Info {
  readonly Architecture?: string
  readonly NCPU?: number
  /** Whether containers can be kept to some of its cores. */
  readonly CPUSet?: boolean
  readonly SecurityOptions?: readonly string[]
}

/** @throws SandboxError */
export async function openContainers(engine: Engine, request: OpenRequest): Promise<OpenBackend> {
  const { api, name } = engine
  const { limits, user, image = DEFAULT_IMAGE } = request
  const pools = new Set<Pool<Warm>>()
  let holder: Promise<Warm> | undefined
  const close = async () => {
    await Promise.all([...pools].map((pool) => pool.close()))
    await (await holder?.catch(() => undefined))?.remove()
    await engine.close()
  }
  try {
    const ofImage = await imageEnv(engine, image)
    await sweepContainers(api)
    const { Architecture, SecurityOptions, NCPU = 0, CPUSet = false }: Info = await api.info()
    const isPodman = (await api.version()).Components?.some((one) => one.Name.startsWith('Podman')) ?? false
    const arch = archOf(Architecture ?? '')
    const asRoot = isRootOutside(user, SecurityOptions?.some((option) => option.includes('rootless')) ?? false)
    const launcher = await writeLauncher(arch, { user, asRoot, path: ofImage['PATH'], view: request.view })
    const ulimits = isPodman ? await ownUlimits() : []
    const labels = labelsOf(randomUUID())
    const cores = CPUSet ? Array.from({ length: NCPU }, (_, at) => at) : []
    const common = { limits, user, image, labels, asRoot, isPodman, ulimits }

    /** Runs nothing but keeps a network of loopback alone, which the others share: a server in one is reached from the next. */
    const sharedNetwork = async (): Promise<string> => {
      const spec = containerSpec({ ...common, network: 'none', mounts: [], launcher: undefined })
      const before = holder?.catch(() => undefined)
      // One after the other: two would be two networks.
      holder = Promise.resolve(before).then((one) => (one?.isAlive() ? one : startWarm(engine, spec, { onHost: '', inside: '' })))
      return networkOf(await holder, isPodman)
    }
    const makeWarm = async ({ containerMounts: mounts, tmpFolder }: View, network: Network): Promise<Warm> => {
      const joined = network === 'none' ? { joined: await sharedNetwork() } : {}
      const spec = containerSpec({ ...common, ...joined, network, mounts, launcher, cores: takeCores(cores, limits.cpus) })
      return startWarm(engine, spec, { onHost: tmpFolder, inside: '/tmp' })
    }
    const seen = (of: View): View => ({ ...of, mounts: of.containerMounts })
    const openView = (view: View, network: Network) => {
      const poolOf = (of: View): Pool<Warm> => {
        const pool = createPool<Warm>({
          make: () => makeWarm(of, network),
          destroy: (warm) => warm.remove(),
          isAlive: (warm) => warm.isAlive(),
          maxAlive: MAX_CONTAINERS,
          maxIdle: MAX_IDLE,
          maxMaking: MAX_STARTING,
        })
        pools.add(pool)
        return pool
      }
      let pool = poolOf(view)
      const end = async () => {
        pools.delete(pool)
        await pool.close()
      }
      return {
        view: seen(view),
        launch: (one: Launch) => launchIn(pool, engine, { ...one, env: mergeEnv(ofImage, one.env) }),
        adopt: async (next: View): Promise<View> => {
          await end()
          pool = poolOf(next)
          return seen(next)
        },
        close: end,
      }
    }
    const opened = openView(request.view, request.network)
    const facts = readFacts(await inTime(ask(opened.launch, PROBE, request.view.env), name))
    const shown = { name, enforces: enforcement(facts, { ...request, hasFilter: arch !== undefined }, name) }
    return {
      ...shown,
      ...opened,
      beside: async (view) => ({ ...shown, ...openView(view, 'none') }),
      close,
    }
  } catch (error) {
    await close().catch(() => {})
    if (error instanceof SandboxError) throw error
    throw new SandboxError({ message: `${name} answers, but not as it should: ${reasonOf(error)}`, cause: error })
  }
}

async function launchIn(pool: Pool<Warm>, engine: Engine, launch: Launch): Promise<Child> {
  const warm = await orFault(pool.take(), `${engine.name} can't start a container`)
  const run = await warm.run(launch).catch(async (cause) => {
    await pool.give(warm, false)
    throw new SandboxError({ message: `the command could not be handed to its container: ${reasonOf(cause)}`, cause })
  })
  let given: Promise<void> | undefined
  let hasExited = false
  const give = async () => pool.give(warm, hasExited && (await warm.isClean()))
  const kill = () => {
    given ??= orFault(give(), `${engine.name} can't remove a container`)
    return given
  }
  const exited = run.exited.then(async (exit) => {
    hasExited = true
    // Died: by what the command did, or with the engine.
    if (exit.signal !== null && given === undefined) await orFault(engine.api.ping(), `${engine.name} went away`)
    return exit
  })
  exited.then(kill).catch(() => {})
  return { stdout: run.stdout, stderr: run.stderr, exited, kill }
}

async function orFault<T>(work: Promise<T>, message: string): Promise<T> {
  try {
    return await work
  } catch (cause) {
    throw new SandboxError({ message: `${message}: ${reasonOf(cause)}`, cause })
  }
}

/** What a script prints. */
async function ask(launch: OpenBackend['launch'], script: string, env: Launch['env']): Promise<string> {
  const { stdout, stderr, exited, kill } = await launch({ argv: ['/bin/sh', '-c', script], cwd: '/', env, stdin: undefined })
  const [out, err, { exitCode, signal }] = await Promise.all([text(stdout), text(stderr), exited])
  await kill()
  if (exitCode === 0) return out
  throw new SandboxError({
    message: `a container was started, but no command runs in it (${signal ?? `exit code ${exitCode}`})${err === '' ? '' : `: ${err.trim()}`}`,
    remedy: 'The image needs /bin/sh, env, sed, cat and ls: set sandbox.image to another one.',
  })
}

async function inTime<T>(work: Promise<T>, engine: EngineName): Promise<T> {
  const late = sleep(PROBE_TIMEOUT, undefined, { ref: false }).then(() => {
    throw new SandboxError({
      message: `${engine} started no container that answers within ${PROBE_TIMEOUT / 1000} seconds`,
      remedy: `See whether ${engine} ps answers, and whether the image has a /bin/sh that works.`,
    })
  })
  return Promise.race([work, late])
}

/** Beside the folders that commands see. @returns its path; undefined if there is none for the architecture */
async function writeLauncher(
  arch: string | undefined,
  {
    user,
    asRoot,
    path = DEFAULT_PATH,
    view,
  }: Pick<OpenRequest, 'user' | 'view'> & { readonly asRoot: boolean; readonly path: string | undefined },
): Promise<string | undefined> {
  if (arch === undefined) return undefined
  const file = join(dirname(view.homeFolder), 'launcher')
  await writeFile(file, launcherFile({ arch, user, asRoot, argv: WORKER_ARGV, env: [`PATH=${path}`] }))
  await chmod(file, 0o755)
  return file
}

/** Podman asks for more open files and processes than it may have itself, where it is not started by the system. */
async function ownUlimits() {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const hard = (name: string): number => Number(new RegExp(`^${name}\\s+\\S+\\s+(\\d+)`, 'm').exec(limits)?.[1] ?? Number.NaN)
  return [
    { Name: 'nofile', Hard: hard('Max open files') },
    { Name: 'nproc', Hard: hard('Max processes') },
  ]
    .filter(({ Hard }) => Number.isSafeInteger(Hard))
    .map(({ Name, Hard }) => ({ Name, Soft: Math.min(Hard, MOST), Hard: Math.min(Hard, MOST) }))
}
