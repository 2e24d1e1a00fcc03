/** Plans what commands see, and makes the mount points for it. Nothing that is not named here is visible. */
import { chown, mkdir, realpath, stat, writeFile } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative } from 'node:path'
import type { BackendName } from '../command.ts'
import { SandboxError } from '../errors.ts'
import { isWithin } from '../paths.ts'
import { isOfProject, resolveProgram } from '../program.ts'
import type { User } from '../user.ts'
import { findCaches } from './caches.ts'
import { environment, searchPath } from './environment.ts'
import { etc, linksTo, ofContainers } from './etc.ts'
import * as files from './files.ts'
import { type GitPrograms, gitMounts } from './git.ts'
import { lies, pinned } from './pins.ts'
import { entriesOf, programs } from './programs.ts'
import { protectedMounts } from './protect.ts'
import { system } from './system.ts'
import { toolchainMounts } from './toolchains.ts'
import type { Mount, Network, View } from './view.ts'

export interface ViewOptions {
  /** Real, absolute. */
  readonly workspace: string
  readonly user: User
  readonly network: Network
  /** Whether toolchains that lie outside of the system are shown. */
  readonly toolchains: boolean
  readonly mounts: readonly { readonly path: string; readonly mode?: 'read-only' | 'read-write' }[]
  /** Paths in the workspace that commands can't write. */
  readonly protect?: readonly string[]
  /** Names of further variables that are let through. */
  readonly env: readonly string[]
  readonly hostEnv: Readonly<Record<string, string | undefined>>
  /** Both in one folder of this sandbox's own; what we write for `/etc` comes to lie beside them. */
  readonly homeFolder: string
  readonly tmpFolder: string
  /** Default `ignore`. */
  readonly gitPrograms?: GitPrograms
  /** The node that runs us. Default `process.execPath`. */
  readonly execPath?: string
}

const NO_HOME = '/home/user'

export interface Plan {
  readonly view: View
  /** The same with what has come and gone of the protected paths since. @throws SandboxError for one that can't be held */
  readonly again: () => Promise<View>
}

export const createView = async (options: ViewOptions): Promise<View> => (await planView(options)).view

/** @throws SandboxError where the workspace would show more than a project, or can't be reached by the commands' user */
export async function planView(options: ViewOptions): Promise<Plan> {
  const { workspace, user, network, hostEnv, homeFolder, tmpFolder, execPath = process.execPath, gitPrograms = 'ignore' } = options
  const named = hostEnv['HOME']
  const home = named && isAbsolute(named) && named !== '/' ? ((await files.real(named)) ?? named) : NO_HOME
  checkWorkspace(workspace, home)
  const own = dirname(homeFolder)
  const empty = join(own, 'empty')
  await files.makeFolder(empty)
  await gitSettings(join(homeFolder, '.gitconfig'), hostEnv, user)

  const base = await system(empty)
  const settings = await etc(join(own, 'etc'), { user, home, network })
  const folders: Mount[] = [
    { source: tmpFolder, target: '/tmp', mode: 'read-write' },
    // After it: a home may lie there.
    { source: homeFolder, target: home, mode: 'read-write' },
  ]
  const known = options.toolchains ? await toolchainMounts({ path: home, env: hostEnv }, empty) : []
  const visible = [...base.mounts, ...known].map(({ source }) => source)
  const path = await pathOf(hostEnv['PATH'] ?? '', execPath)
  const odd = options.toolchains ? await programs({ path, home, workspace, visible: [...visible, workspace], empty, execPath }) : undefined
  const further = await Promise.all(options.mounts.map((mount) => furtherMount(mount, home)))
  const others = await reachable([...known, ...(odd?.mounts ?? [])], user)
  if (!(await isReachable(workspace, user)))
    throw new SandboxError({
      message: `the workspace ${workspace} can't be reached by its owner (uid ${user.uid}): a folder above it is closed to that user`,
      remedy: `Open the way to it (chmod o+x), or set sandbox.user.`,
    })
  const gitOptions = {
    empty,
    folder: join(own, 'git'),
    program: resolveProgram('git', { workspace, path: hostEnv['PATH'] ?? '' }),
    programs: gitPrograms,
  }
  const caches = options.toolchains ? await findCaches({ workspace, home, user }, empty).catch(() => []) : []
  // Where they are not shown, nothing may come to be in their places.
  const inCaches = caches.map((mount) => ({ ...mount, target: join(mount.target, 'inside') }))
  const plan = async (): Promise<Pick<View, 'mounts' | 'containerMounts' | 'absent'>> => {
    const git = await gitMounts(workspace, gitOptions)
    const kept = await protectedMounts(workspace, options.protect ?? [])
    const beside = git.mounts.filter(({ target }) => !isWithin(workspace, target))
    const inside = git.mounts.filter(({ target }) => isWithin(workspace, target))
    const project: Mount[] = [...beside, { source: workspace, target: workspace, mode: 'read-write' }, ...inside, ...kept.mounts]
    const all = pinned([...folders, ...others, ...further, ...project, ...inCaches])
    const shared = all.filter((mount) => !inCaches.includes(mount))
    return {
      mounts: [...base.mounts, ...settings, ...shared],
      containerMounts: [...ofContainers(join(own, 'etc'), network), ...shared],
      absent: [...git.absent, ...kept.absent],
    }
  }
  const planned = await plan()
  const { mounts } = planned
  await makeMountPoints(planned.containerMounts, [homeFolder, tmpFolder], user)
  const links = [...base.links, ...(named && named !== home ? await linksTo(named) : [])]
  const search = await searchPath([path, ...lastResort(path, execPath)].join(':'), odd?.instead ?? new Map(), { mounts, links })
  const env = await environment({ mounts, links }, { host: hostEnv, names: options.env, home, user, network, path: search, gitPrograms })
  const view: View = { workspace, home, homeFolder, tmpFolder, ...planned, caches, links, env }
  return { view, again: async () => ({ ...view, ...(await plan()) }) }
}

/**
 * Without `node_modules/.bin`: a `git` in it would be run for git. Only the node that runs us stays in its place, since the one after it may
 * be too old for the project.
 */
async function pathOf(path: string, execPath: string): Promise<string> {
  const own = await files.real(execPath)
  const entries = await Promise.all(
    entriesOf(path).map(async (entry) => {
      if (!isOfProject(entry)) return [entry]
      return own !== undefined && (await files.real(join(entry, 'node'))) === own ? [dirname(own)] : []
    }),
  )
  return entries.flat().join(':')
}

const lastResort = (path: string, execPath: string): readonly string[] => (path.includes(dirname(execPath)) ? [] : [dirname(execPath)])

function checkWorkspace(workspace: string, home: string): void {
  const SYSTEM = [
    '/',
    '/usr',
    '/etc',
    '/bin',
    '/sbin',
    '/lib',
    '/lib64',
    '/var',
    '/run',
    '/proc',
    '/sys',
    '/dev',
    '/boot',
    '/root',
    '/home',
    '/tmp',
    '/opt',
  ]
  const holdsHome = isWithin(workspace, home)
  if (!holdsHome && !SYSTEM.includes(workspace)) return
  throw new SandboxError({
    message: holdsHome
      ? `the workspace ${workspace} holds the whole home folder: commands would see every key in it`
      : `the workspace ${workspace} is a folder of the system`,
    remedy: 'Start in the folder of one project.',
  })
}

/**
 * Before each command: an earlier one may have closed it.
 * @throws SandboxError
 */
export async function checkWorkspaceOpen({ workspace }: Pick<View, 'workspace'>, user: User, backend: BackendName): Promise<void> {
  const isRoot = process.getuid?.() === 0
  if (process.platform === 'win32' || (backend === 'none' && isRoot)) return
  const found = await stat(workspace).catch(() => undefined)
  // No right but the folder's own: root of the sandbox has no capability.
  if (found && files.mayEnter(found, user.onHost === 'root' ? { uid: 0, gid: 0 } : user)) return
  throw found
    ? new SandboxError({
        message: `the workspace can't be entered any more: it is closed to the user that commands run as (mode ${(found.mode & 0o777).toString(8).padStart(3, '0')})`,
        remedy: 'Open it again, outside of the sandbox: chmod u+rwx on the folder.',
      })
    : new SandboxError({ message: 'the workspace is not there any more' })
}

async function furtherMount({ path, mode = 'read-only' }: ViewOptions['mounts'][number], home: string): Promise<Mount> {
  const fault = (says: string) => new SandboxError({ message: `sandbox.mounts: ${path} ${says}` })
  if (!isAbsolute(path)) throw fault('is not an absolute path')
  const source = await realpath(path).catch(() => undefined)
  if (source === undefined) throw fault('does not exist')
  if (isWithin(source, home)) throw fault('holds the whole home folder; name what is needed of it')
  if (isWithin(source, '/proc') || isWithin('/proc', source) || isWithin('/dev', source) || isWithin('/sys', source))
    throw fault('is not a folder of files')
  return { source, target: path, mode }
}

/** bubblewrap runs as the commands' user, and can mount only what that one can get to. */
async function reachable(mounts: readonly Mount[], user: User): Promise<readonly Mount[]> {
  const kept = await Promise.all(mounts.map(async (mount) => ((await isReachable(mount.source, user)) ? [mount] : [])))
  return kept.flat()
}

const isReachable = async (path: string, user: User): Promise<boolean> =>
  process.getuid?.() !== 0 || user.onHost === 'root' || (await files.canReach(path, user))

/** Made here, before any command could put a link in their way. */
async function makeMountPoints(mounts: readonly Mount[], own: readonly string[], user: User): Promise<void> {
  for (const [at, mount] of mounts.entries()) {
    const under = lies(mount.target, mounts.slice(0, at))
    if (!under || !own.some((folder) => isWithin(folder, under.source))) continue
    const point = join(under.source, relative(under.target, mount.target))
    const isFolder = (await files.target(mount.source)) === 'directory' || own.some((folder) => isWithin(folder, mount.source))
    if ((await files.kind(point)) !== undefined) continue
    if (isFolder) await mkdir(point)
    else await writeFile(point, '')
    await give(point, user)
  }
}

async function give(path: string, { uid, gid, onHost }: User): Promise<void> {
  if (process.getuid?.() === 0 && onHost === 'same') await chown(path, uid, gid)
}

/** The name that commits are made in; and whatever owns the workspace, it is the one that was opened. */
async function gitSettings(path: string, hostEnv: ViewOptions['hostEnv'], user: User): Promise<void> {
  const host = hostEnv['HOME'] ? await files.text(join(hostEnv['HOME'], '.gitconfig')) : ''
  const section = /^\[user\]\s*$([^[]*)/m.exec(host)?.[1] ?? ''
  const lines = ['name', 'email'].flatMap((key) => {
    const [, value] = new RegExp(`^\\s*${key}\\s*=\\s*(.+?)\\s*$`, 'mi').exec(section) ?? []
    return value === undefined ? [] : [`\t${key} = ${value}`]
  })
  await writeFile(path, ['[safe]', '\tdirectory = *', ...(lines.length > 0 ? ['[user]', ...lines] : []), ''].join('\n'))
  await give(path, user)
}
