/** Runs commands in containers that are kept warm. The same code serves Docker and Podman. */
import { randomUUID } from 'node:crypto'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Child, Launch, OpenBackend, OpenRequest } from '../../backend.ts'
import { takeCores } from '../../cgroup/confinement.ts'
import { DEFAULT_IMAGE, type EngineName, SandboxError } from '../../command.ts'
import type { Network, View } from '../../view/view.ts'
import { type Engine, imageEnv, labelsOf, mergeEnv, reasonOf, sweepContainers } from './engine.ts'
import { archOf, launcher as launcherFile } from './launcher.ts'
import { createPool, type Pool } from './pool.ts'
import { enforcement, PROBE, readFacts } from './probe.ts'
import { containerSpec, isRootOutside, networkOf } from './spec.ts'
import { startWarm, type Warm } from './warm.ts'
import { WORKER_ARGV } from './worker.ts'

/** Containers of one sandbox; further commands wait for a free one. */
const LIMITS = { maxAlive: 32, maxIdle: 2, maxMaking: 2 }
/** In milliseconds. */
const PROBE_TIMEOUT = 60_000
/**
 * Open files and processes, where a limit must be given; Podman keeps 32768 processes for itself. The actual limit is enforced by
 * the cgroup.
 */
const MOST = 16_384
/** Used for an image that sets no PATH. */
const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

interface Info {
  readonly Architecture?: string
  readonly NCPU?: number
  /** Whether containers can be restricted to some of the engine's cores. */
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
    const { Architecture = '', SecurityOptions = [], NCPU = 0, CPUSet = false }: Info = await api.info()
    const isPodman = (await api.version()).Components?.some((one) => one.Name.startsWith('Podman')) ?? false
    const arch = archOf(Architecture)
    const asRoot = isRootOutside(
      user,
      SecurityOptions.some((option) => option.includes('rootless')),
    )
    // Placed beside the folders that commands see.
    const launcher = arch === undefined ? undefined : join(dirname(request.view.homeFolder), 'launcher')
    if (arch !== undefined && launcher !== undefined) {
      const env = [`PATH=${ofImage['PATH'] ?? DEFAULT_PATH}`]
      await writeFile(launcher, launcherFile({ arch, user, asRoot, argv: WORKER_ARGV, env }))
      await chmod(launcher, 0o755)
    }
    const cores = CPUSet ? Array.from({ length: NCPU }, (_, at) => at) : []
    const ulimits = isPodman ? await ownUlimits() : []
    const common = { limits, user, image, labels: labelsOf(randomUUID()), asRoot, isPodman, ulimits }

    /**
     * Starts a container that does nothing but hold a loopback-only network shared by the others, so that a server in one can be
     * reached from the next.
     */
    const sharedNetwork = async (): Promise<string> => {
      const spec = containerSpec({ ...common, network: 'none', mounts: [], launcher: undefined })
      const before = holder?.catch(() => undefined)
      // Start one at a time: two would have two separate networks.
      holder = Promise.resolve(before).then((one) => (one?.isAlive() ? one : startWarm(engine, spec, { onHost: '', inside: '' })))
      return networkOf(await holder, isPodman)
    }
    const makeWarm = async ({ containerMounts: mounts, tmpFolder }: View, network: Network): Promise<Warm> => {
      const joined = network === 'none' ? { joined: await sharedNetwork() } : {}
      const spec = containerSpec({ ...common, ...joined, network, mounts, launcher, cores: takeCores(cores, limits.cpus) })
      return startWarm(engine, spec, { onHost: tmpFolder, inside: '/tmp' })
    }
    const openView = (view: View, network: Network) => {
      const open = (of: View): { readonly pool: Pool<Warm>; readonly view: View } => {
        const make = () => makeWarm(of, network)
        const pool = createPool<Warm>({ make, destroy: (warm) => warm.remove(), isAlive: (warm) => warm.isAlive(), ...LIMITS })
        pools.add(pool)
        return { pool, view: { ...of, mounts: of.containerMounts } }
      }
      let now = open(view)
      const end = async () => {
        pools.delete(now.pool)
        await now.pool.close()
      }
      return {
        view: now.view,
        launch: (one: Launch) => launchIn(now.pool, engine, { ...one, env: mergeEnv(ofImage, one.env) }),
        adopt: async (next: View): Promise<View> => {
          await end()
          now = open(next)
          return now.view
        },
        close: end,
      }
    }
    const opened = openView(request.view, request.network)
    const facts = readFacts(await inTime(ask(opened.launch, PROBE, request.view.env), name))
    const shown = { name, enforces: enforcement(facts, { ...request, hasFilter: arch !== undefined }, name) }
    return { ...shown, ...opened, beside: async (view) => ({ ...shown, ...openView(view, 'none') }), close }
  } catch (error) {
    await close().catch(() => {})
    if (error instanceof SandboxError) throw error
    throw new SandboxError({ message: `${name} answers, but not as expected: ${reasonOf(error)}`, cause: error })
  }
}

async function launchIn(pool: Pool<Warm>, engine: Engine, launch: Launch): Promise<Child> {
  const warm = await orFault(pool.take(), `${engine.name} can't start a container`)
  const run = await orFault(warm.run(launch), 'the command could not be handed to its container').catch(async (fault) => {
    await pool.give(warm, false)
    throw fault
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
    // The container died, either because of the command or together with the engine.
    if (exit.signal !== null && given === undefined) await orFault(engine.api.ping(), `${engine.name} went away`)
    return exit
  })
  exited.then(kill).catch(() => {})
  return { stdout: run.stdout, stderr: run.stderr, exited, kill }
}

const orFault = <T>(work: Promise<T>, message: string): Promise<T> =>
  work.catch((cause) => {
    throw new SandboxError({ message: `${message}: ${reasonOf(cause)}`, cause })
  })

/** Returns the output of a script. */
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
      message: `${engine} did not start a responding container within ${PROBE_TIMEOUT / 1000} seconds`,
      remedy: `Check that ${engine} ps responds, and that the image has a working /bin/sh.`,
    })
  })
  return Promise.race([work, late])
}

/** By default Podman requests higher limits for open files and processes than it may have itself, unless the system started it. */
async function ownUlimits() {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  return Object.entries({ nofile: 'Max open files', nproc: 'Max processes' }).flatMap(([Name, line]) => {
    const hard = Math.min(MOST, Number(new RegExp(`^${line}\\s+\\S+\\s+(\\d+)`, 'm').exec(limits)?.[1] ?? Number.NaN))
    return Number.isNaN(hard) ? [] : [{ Name, Soft: hard, Hard: hard }]
  })
}
