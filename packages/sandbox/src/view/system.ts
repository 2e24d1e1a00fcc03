/** Builds the system as commands see it: folders of programs and libraries, and an allowlist of `/etc` with a few files of our own. */
import { readFile, readlink, symlink } from 'node:fs/promises'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { isWithin, words } from '../paths.ts'
import type { User } from '../user.ts'
import * as files from './files.ts'
import type { Mount, Network, View } from './view.ts'

/**
 * On a merged-usr system these are links to `/usr`, elsewhere folders. Also includes content-addressed stores, which contain
 * nothing but programs.
 */
const ROOTS = words('/usr /bin /sbin /lib /lib32 /lib64 /libx32 /nix/store /gnu/store /run/current-system/sw')
/** Settings of manually installed services. */
const SETTINGS = ['/usr/local/etc', '/usr/etc']

/** @param empty an empty folder */
export async function system(empty: string): Promise<Pick<View, 'mounts' | 'links'>> {
  const mounts: Mount[] = []
  const links: { path: string; to: string }[] = []
  for (const path of ROOTS) {
    const kind = await files.kind(path)
    const source = kind && (await files.real(path))
    if (source === undefined) continue
    if (kind === 'link') links.push({ path, to: source })
    else if (kind === 'directory') mounts.push({ source, target: path, mode: 'read-only' })
  }
  for (const path of SETTINGS) if ((await files.kind(path)) === 'directory') mounts.push({ source: empty, target: path, mode: 'read-only' })
  return { mounts, links: [...links, { path: '/var/tmp', to: '/tmp' }, { path: '/var/run', to: '/run' }] }
}

/** Entries of `/etc` that contain no host names, personal data or keys. `passwd`, `group` and `hosts` are our own. */
const ALLOWED = words(`
  alternatives ca-certificates ca-certificates.conf crypto-policies debian_version ethertypes fedora-release fonts gai.conf
  host.conf inputrc java java-8-openjdk java-11-openjdk java-17-openjdk java-21-openjdk java-25-openjdk ld.so.cache ld.so.conf
  ld.so.conf.d locale.alias localtime lsb-release magic magic.mime maven mime.types nsswitch.conf os-release
  perl php pki/ca-trust pki/tls/cert.pem pki/tls/certs pki/tls/openssl.cnf pki/java protocols python2.7 python3 python3.9 python3.10
  python3.11 python3.12 python3.13 python3.14 R redhat-release rpc services shells ssl/cert.pem ssl/certs ssl/openssl.cnf
  terminfo texmf timezone xattr.conf alpine-release arch-release profile.d/jdk.sh`)
/** Entries needed only with network access. */
const OF_NETWORK = ['resolv.conf', 'hosts']
/** The maximum number of entries in a folder to copy. */
const SMALL = 60
/** Maven settings, which contain repository passwords. */
const SECRET = /^settings.*\.xml$/

/**
 * Builds a folder with copies of files and small folders, and mount points for large ones. Bubblewrap rereads its list of mounts
 * for each mount, so fewer mounts are faster.
 *
 * @param own where to create the folder
 */
export async function etc(own: string, { user, home, network }: { user: User; home: string; network: Network }): Promise<readonly Mount[]> {
  await files.makeFolder(own)
  const names = [...ALLOWED, ...(network === 'bridge' ? OF_NETWORK : [])]
  const mounts = await Promise.all(names.map((name) => entry(join('/etc', name), join(own, name))))
  await Promise.all(Object.entries(ownFiles(user, home, network)).map(([name, text]) => files.makeFile(join(own, name), text)))
  return [{ source: own, target: '/etc', mode: 'read-only' }, ...mounts.flat()]
}

/** @returns the mounts needed for entries that were not copied */
async function entry(path: string, copy: string): Promise<readonly Mount[]> {
  const kind = await files.kind(path)
  const source = kind && (await files.real(path))
  if (source === undefined || !(await files.isReadableByAll(source))) return []
  await files.makeFolder(dirname(copy))
  // Keep the link, because its target gives the name of the time zone.
  if (kind === 'link' && isWithin('/usr', source)) await symlink(source, copy)
  else if ((await files.kind(source)) === 'file') await files.makeFile(copy, await readFile(source))
  else if ((await sizeOf(source)) <= SMALL) await copyTree(source, copy)
  else {
    await files.makeFolder(copy)
    const masks = (await rootOnly(source)).map((one): Mount => ({ source: '/dev/null', target: join(path, one), mode: 'read-only' }))
    return [{ source, target: path, mode: 'read-only' }, ...masks]
  }
  return []
}

async function copyTree(source: string, copy: string): Promise<void> {
  await files.makeFolder(copy)
  for (const { name, kind } of await files.list(source)) {
    const [from, to] = [join(source, name), join(copy, name)]
    if (kind === 'link') await symlink(await readlink(from), to)
    else if (SECRET.test(name) || !(await files.isReadableByAll(from))) continue
    else if (kind === 'directory') await copyTree(from, to)
    else if (kind === 'file') await files.makeFile(to, await readFile(from))
  }
}

/** Counts all entries, stopping once the limit is exceeded. */
async function sizeOf(folder: string): Promise<number> {
  const found = await files.list(folder)
  let size = found.length
  for (const { name, kind } of found) if (kind === 'directory' && size <= SMALL) size += await sizeOf(join(folder, name))
  return size
}

/** Lists files in a folder that not everyone may read. Commands may run as root from the host's point of view. */
async function rootOnly(folder: string): Promise<readonly string[]> {
  const names = (await files.list(folder)).filter(({ kind }) => kind === 'file').map(({ name }) => name)
  return names.length > 500 ? [] : files.only(names, async (name) => !(await files.isReadableByAll(join(folder, name))))
}

function ownFiles({ uid, gid }: User, home: string, network: Network): Readonly<Record<string, string>> {
  const [person, group] = [uid === 0 ? '' : `user:x:${uid}:${gid}:user:${home}:/bin/bash\n`, `${uid === 0 ? 'root' : 'user'}:x:${gid}:\n`]
  return {
    passwd: `${person}root:x:0:0:root:${uid === 0 ? home : '/nonexistent'}:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n`,
    group: `${gid === 0 ? '' : group}root:x:0:\nnogroup:x:65534:\n`,
    ...(network === 'none' && { hosts: '127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n', 'resolv.conf': '' }),
  }
}

/**
 * Returns the files to mount over an image's own. The image may not know the user's number, and programs that look up their user
 * name would fail. Engines write the host's names and name servers into a container even without a network.
 */
export const ofContainers = (own: string, network: Network): readonly Mount[] =>
  ['passwd', 'group', ...(network === 'none' ? OF_NETWORK : [])].map((name) => ({
    source: join(own, name),
    target: `/etc/${name}`,
    mode: 'read-only',
  }))

/** Returns the links on the way to a path that is not its real path: `/home` → `var/home`. */
export async function linksTo(path: string): Promise<View['links']> {
  const links: { path: string; to: string }[] = []
  const walk = async (rest: string, depth: number): Promise<void> => {
    for (const folder of ancestors(rest)) {
      if ((await files.kind(folder)) !== 'link' || depth === 0) continue
      const to = await files.real(folder)
      if (to === undefined) return
      if (!links.some((link) => link.path === folder)) links.push({ path: folder, to })
      return walk(resolve(to, rest.slice(folder.length + 1)), depth - 1)
    }
  }
  if (isAbsolute(path)) await walk(path, 8)
  return links
}

/** Returns the ancestors of a path from the outermost down, including the path itself. */
function ancestors(path: string): readonly string[] {
  const parent = dirname(path)
  return parent === path ? [] : [...ancestors(parent), path]
}
