/** `/etc`: a list of what is let in, and a few files of our own. */
import { readFile, readlink, symlink } from 'node:fs/promises'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { isWithin } from '../paths.ts'
import type { User } from '../user.ts'
import * as files from './files.ts'
import type { Mount, Network, View } from './view.ts'

/** Nothing in it names a host, a person or a key. `passwd`, `group` and `hosts` are our own. */
const ALLOWED = [
  'alternatives ca-certificates ca-certificates.conf crypto-policies debian_version ethertypes fedora-release fonts gai.conf',
  'host.conf inputrc java java-8-openjdk java-11-openjdk java-17-openjdk java-21-openjdk java-25-openjdk ld.so.cache ld.so.conf',
  'ld.so.conf.d locale.alias localtime lsb-release magic magic.mime maven mime.types nsswitch.conf os-release',
  'perl php pki/ca-trust pki/tls/cert.pem pki/tls/certs pki/tls/openssl.cnf pki/java protocols python2.7 python3 python3.9 python3.10',
  'python3.11 python3.12 python3.13 python3.14 R redhat-release rpc services shells ssl/cert.pem ssl/certs ssl/openssl.cnf',
  'terminfo texmf timezone xattr.conf alpine-release arch-release profile.d/jdk.sh',
].flatMap((line) => line.split(' '))

/** With a network only. */
const OF_NETWORK = ['resolv.conf', 'hosts']

/** Entries of a folder up to which it is copied. */
const SMALL = 60
/** Of Maven: passwords of repositories. */
const SECRET = /^settings.*\.xml$/

/**
 * A folder with copies of the files and of small folders, and with mount points for large ones: bubblewrap reads its list of
 * mounts once for each of them, so few are quick.
 *
 * @param own where it is made
 */
export async function etc(own: string, { user, home, network }: { user: User; home: string; network: Network }): Promise<readonly Mount[]> {
  await files.makeFolder(own)
  const names = [...ALLOWED, ...(network === 'bridge' ? OF_NETWORK : [])]
  const mounts = await Promise.all(names.map((name) => entry(join('/etc', name), join(own, name))))
  const written = Object.entries(ownFiles(user, home, network)).map(([name, text]) => files.makeFile(join(own, name), text))
  await Promise.all(written)
  return [{ source: own, target: '/etc', mode: 'read-only' }, ...mounts.flat()]
}

/** @returns what has to be mounted, where it was not copied */
async function entry(path: string, copy: string): Promise<readonly Mount[]> {
  const kind = await files.kind(path)
  const source = kind && (await files.real(path))
  if (source === undefined || !(await files.isReadableByAll(source))) return []
  await files.makeFolder(dirname(copy))
  // Kept as a link: its target is what tells the name of the time zone.
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

/** Entries in all, or more than are counted. */
async function sizeOf(folder: string): Promise<number> {
  const found = await files.list(folder)
  let size = found.length
  for (const { name, kind } of found) if (kind === 'directory' && size <= SMALL) size += await sizeOf(join(folder, name))
  return size
}

/** Files in it that not everybody may read. Inside, we may be root in the eyes of the host. */
async function rootOnly(folder: string): Promise<readonly string[]> {
  const entries = (await files.list(folder)).filter(({ kind }) => kind === 'file')
  if (entries.length > 500) return []
  const closed = await Promise.all(entries.map(async ({ name }) => ((await files.isReadableByAll(join(folder, name))) ? [] : [name])))
  return closed.flat()
}

function ownFiles({ uid, gid }: User, home: string, network: Network): Readonly<Record<string, string>> {
  const name = uid === 0 ? 'root' : 'user'
  const people = uid === 0 ? [] : [`${name}:x:${uid}:${gid}:${name}:${home}:/bin/bash`]
  const groups = gid === 0 ? [] : [`${name}:x:${gid}:`]
  return {
    passwd: [
      ...people,
      `root:x:0:0:root:${uid === 0 ? home : '/nonexistent'}:/bin/sh`,
      'nobody:x:65534:65534:nobody:/nonexistent:/bin/false',
      '',
    ].join('\n'),
    group: [...groups, 'root:x:0:', 'nogroup:x:65534:', ''].join('\n'),
    ...(network === 'none' && { hosts: '127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n', 'resolv.conf': '' }),
  }
}

/**
 * What of it is laid over an image's own: one may not know the user's number, so that programs fail that ask for their name. Engines
 * write the host's names and name servers into a container, also where it has no network.
 */
export const ofContainers = (own: string, network: Network): readonly Mount[] =>
  ['passwd', 'group', ...(network === 'none' ? ['hosts', 'resolv.conf'] : [])].map((name) => ({
    source: join(own, name),
    target: `/etc/${name}`,
    mode: 'read-only',
  }))

/** Links on the way to a path that is named by another than its real one: `/home` → `var/home`. */
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

function ancestors(path: string): readonly string[] {
  const parent = dirname(path)
  return parent === path ? [] : [...ancestors(parent), path]
}
