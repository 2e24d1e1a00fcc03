/** Plans what commands see and creates the mount points for it. Nothing else is visible. */
import { chown, mkdir, realpath, stat, writeFile } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative } from 'node:path'
import { type BackendName, SandboxError } from '../command.ts'
import { isWithin, words } from '../paths.ts'
import { isOfProject, resolveProgram } from '../program.ts'
import type { User } from '../user.ts'
import { type EnvironmentOptions, environment, searchPath } from './environment.ts'
import * as files from './files.ts'
import { gitMounts, protectedMounts } from './protect.ts'
import { etc, linksTo, ofContainers, system } from './system.ts'
import { entriesOf, findCaches, programs, toolchainMounts } from './toolchains.ts'
import { lies, type Mount, pinned, type View } from './view.ts'

export interface ViewOptions extends EnvironmentOptions {
  /** A real, absolute path. */
  readonly workspace: string
  /** Whether to show toolchains outside the system folders. */
  readonly toolchains: boolean
  readonly mounts: readonly { readonly path: string; readonly mode?: 'read-only' | 'read-write' }[]
  /** Paths in the workspace that commands can't write. */
  readonly protect?: readonly string[]
  /** `homeFolder` and `tmpFolder` share a parent folder of this sandbox; the files we create for `/etc` are placed beside them. */
  readonly homeFolder: string
  readonly tmpFolder: string
  /** The Node.js executable running this process. Default `process.execPath`. */
  readonly execPath?: string
}

const NO_HOME = '/home/user'

/** @throws SandboxError if the workspace would expose more than a project, or can't be reached by the commands' user */
export async function planView(options: ViewOptions) {
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
    // Mounted after `/tmp`, which may contain the home folder.
    { source: homeFolder, target: home, mode: 'read-write' },
  ]
  const known = options.toolchains ? await toolchainMounts(home, hostEnv, empty) : []
  const visible = [...[...base.mounts, ...known].map(({ source }) => source), workspace]
  const path = await pathOf(hostEnv['PATH'] ?? '', execPath)
  const odd = options.toolchains ? await programs({ path, home, workspace, visible, empty, execPath }) : undefined
  const further = await Promise.all(options.mounts.map((mount) => furtherMount(mount, home)))
  const others = await files.only([...known, ...(odd?.mounts ?? [])], ({ source }) => isReachable(source, user))
  if (!(await isReachable(workspace, user)))
    throw new SandboxError({
      message: `the workspace ${workspace} can't be reached by its owner (uid ${user.uid}): a folder above it is closed to that user`,
      remedy: `Open the way to it (chmod o+x), or set sandbox.user.`,
    })
  const program = resolveProgram('git', { workspace, path: hostEnv['PATH'] ?? '' })
  const caches = options.toolchains ? await findCaches({ workspace, home, user }, empty).catch(() => []) : []
  // Where caches are not shown, nothing may be created in their place.
  const inCaches = caches.map((mount) => ({ ...mount, target: join(mount.target, 'inside') }))
  const plan = async (): Promise<Pick<View, 'mounts' | 'containerMounts' | 'absent'>> => {
    const git = await gitMounts(workspace, { empty, folder: join(own, 'git'), program, programs: gitPrograms })
    const kept = await protectedMounts(workspace, options.protect ?? [])
    const [inside = [], beside = []] = [true, false].map((isIn) => git.mounts.filter(({ target }) => isWithin(workspace, target) === isIn))
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
  const lastResort = path.includes(dirname(execPath)) ? [] : [dirname(execPath)]
  const search = await searchPath([path, ...lastResort].join(':'), odd?.instead ?? new Map(), { mounts, links })
  const env = await environment({ mounts, links }, home, search, options)
  const view: View = { workspace, home, homeFolder, tmpFolder, ...planned, caches, links, env }
  /** Replans the view, including protected paths that were created or removed since. @throws SandboxError if a path can't be protected */
  const again = async (): Promise<View> => ({ ...view, ...(await plan()) })
  return { view, again }
}

/**
 * Removes `node_modules/.bin` from PATH, since a `git` in it would be run as git. It is replaced by the Node.js executable running
 * this process, because the next one in PATH may be too old for the project.
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

const SYSTEM = words('/ /usr /etc /bin /sbin /lib /lib64 /var /run /proc /sys /dev /boot /root /home /tmp /opt')

function checkWorkspace(workspace: string, home: string): void {
  const holdsHome = isWithin(workspace, home)
  if (!holdsHome && !SYSTEM.includes(workspace)) return
  throw new SandboxError({
    message: holdsHome
      ? `the workspace ${workspace} contains the whole home folder: commands would see every key in it`
      : `the workspace ${workspace} is a folder of the system`,
    remedy: 'Start in the folder of one project.',
  })
}

/**
 * Checks that the workspace is accessible. This runs before each command, because an earlier one may have removed its permissions.
 * @throws SandboxError
 */
export async function checkWorkspaceOpen({ workspace }: Pick<View, 'workspace'>, user: User, backend: BackendName): Promise<void> {
  if (process.platform === 'win32' || (backend === 'none' && process.getuid?.() === 0)) return
  const found = await stat(workspace).catch(() => undefined)
  if (!found) throw new SandboxError({ message: 'the workspace no longer exists' })
  // Only the folder's own permissions count, since root in the sandbox has no capabilities.
  if (files.mayEnter(found, user.onHost === 'root' ? { uid: 0, gid: 0 } : user)) return
  throw new SandboxError({
    message: `the workspace is no longer accessible to the user that commands run as (mode ${(found.mode & 0o777).toString(8).padStart(3, '0')})`,
    remedy: 'Restore access outside the sandbox: chmod u+rwx on the folder.',
  })
}

async function furtherMount({ path, mode = 'read-only' }: ViewOptions['mounts'][number], home: string): Promise<Mount> {
  const fault = (says: string) => new SandboxError({ message: `sandbox.mounts: ${path} ${says}` })
  if (!isAbsolute(path)) throw fault('is not an absolute path')
  const source = await realpath(path).catch(() => undefined)
  if (source === undefined) throw fault('does not exist')
  if (isWithin(source, home)) throw fault('contains the whole home folder; name only the folders that are needed')
  if (isWithin(source, '/proc') || ['/proc', '/dev', '/sys'].some((folder) => isWithin(folder, source)))
    throw fault('is not a folder of files')
  return { source, target: path, mode }
}

/** Returns whether the user can reach a path. Bubblewrap runs as the commands' user and can mount only what that user can reach. */
const isReachable = async (path: string, user: User): Promise<boolean> =>
  process.getuid?.() !== 0 || user.onHost === 'root' || (await files.canReach(path, user))

/** Created in advance, before any command could put a link in their place. */
async function makeMountPoints(mounts: readonly Mount[], own: readonly string[], user: User): Promise<void> {
  const isOurs = (path: string) => own.some((folder) => isWithin(folder, path))
  for (const [at, mount] of mounts.entries()) {
    const under = lies(mount.target, mounts.slice(0, at))
    if (!under || !isOurs(under.source)) continue
    const point = join(under.source, relative(under.target, mount.target))
    if ((await files.kind(point)) !== undefined) continue
    if ((await files.target(mount.source)) === 'directory' || isOurs(mount.source)) await mkdir(point)
    else await writeFile(point, '')
    await give(point, user)
  }
}

async function give(path: string, { uid, gid, onHost }: User): Promise<void> {
  if (process.getuid?.() === 0 && onHost === 'same') await chown(path, uid, gid)
}

/** Writes git settings with the user's name for commits. They also mark the workspace as safe, whoever owns it. */
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
