/**
 * Mounts overlays in private mount namespaces. They disappear with the last process in the namespace, however it ends.
 *
 * A layer's folder contains `upper`, `work` and the links `lower` (to the workspace) and `private`. Mount options use only these
 * names, relative to the folder: a path with `:`, `,` or `\` would need escaping, which differs between versions of mount.
 */
import { mkdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { startProgram, systemProgram } from '../program.ts'
import { quote } from '../run/standby.ts'
import { LayerError } from './types.ts'

const UPPER = 'upper'
const LOWER = 'lower'
const PRIVATE = 'private'
/**
 * Uses `userxattr` because a mount by an ordinary user can't use other attributes; this way root's mounts can be read the same way.
 * With it, renaming a folder of the workspace fails with EXDEV.
 */
const OPTIONS = 'nosuid,nodev,userxattr'

/** Returns the absolute path of a system program; never one from the workspace. */
function program(name: string): string {
  const path = systemProgram(name)
  if (path === undefined) throw new LayerError('unsupported', `${name} is not installed`, 'Install util-linux and findutils.')
  return path
}

export interface Overlay {
  readonly folder: string
  /** The mount point. */
  readonly at: string
  readonly hasPrivate: boolean
  /** Default `work`. */
  readonly work?: string
}

const lowers = (hasPrivate: boolean): string => (hasPrivate ? `${PRIVATE}:${LOWER}` : LOWER)

/** Returns the command prefix that creates a mount namespace in which overlays can be mounted. */
export function namespace(): readonly string[] {
  const own = process.getuid?.() === 0 ? ['--mount'] : ['--user', '--map-root-user', '--mount']
  return [program('unshare'), ...own, '--']
}

/**
 * Returns shell commands that mount the layer over the workspace in such a namespace. `volatile` avoids waiting at the end of the
 * command until everything it wrote has reached the disk. The marker it leaves in `work` prevents the next mount.
 */
export function mounting({ folder, at, hasPrivate, work = 'work' }: Overlay): string {
  const mount = `m() { ${mountProgram(`${OPTIONS},volatile,lowerdir=${lowers(hasPrivate)},upperdir=${UPPER},workdir=${work}`, at)}; }`
  return `${mount}; cd ${quote(folder)} && { m 2>/dev/null || { rm -rf ${work}/work && m; }; } && cd /`
}

let made = 0

/**
 * Returns shell commands that mount a folder over each cache, in the namespace of one command.
 * @param folder a folder of the sandbox, used by one command at a time
 */
export function mountingCaches(caches: readonly { readonly source: string; readonly at: string }[], folder: string): readonly string[] {
  return caches.map(({ source, at }, index) => {
    const own = join(folder, `cache-${index}`)
    const upper = join(own, 'upper')
    const { mode } = statSync(source)
    if (mkdirSync(upper, { recursive: true, mode: mode & 0o777 }) !== undefined) symlinkSync(source, join(own, 'lower'))
    const work = `work-${made++}`
    mkdirSync(join(own, work))
    return mounting({ folder: own, at, hasPrivate: false, work })
  })
}

/** Combines both prefixes for a command. */
export const around = (overlay: Overlay): readonly string[] => mounted(mounting(overlay))

/** What to look at: the layer as seen from inside, or the same without the command's changes. */
export type Look = 'layer' | 'private'

function aroundReading({ folder, at, hasPrivate }: Overlay, look: Look): readonly string[] {
  const over = { layer: `${UPPER}:${lowers(hasPrivate)}`, private: `${PRIVATE}:${LOWER}` }
  return mounted(`cd ${quote(folder)} && ${mountProgram(`ro,${OPTIONS},lowerdir=${over[look]}`, at)} && cd /`)
}

const mountProgram = (options: string, at: string): string =>
  `${quote(program('mount'))} -n -i -t overlay -o ${options} overlay ${quote(at)}`

const mounted = (script: string): readonly string[] => [...namespace(), program('sh'), '-c', `${script} && exec "$@"`, 'sh']

/**
 * Lists what the kernel shows in folders of the merged view, as paths relative to it. This way we don't need to know how deletions
 * and hidden folders are represented (as devices or attributes, depending on the kernel).
 */
export async function listMerged(overlay: Overlay, folders: readonly string[], look: Look = 'layer'): Promise<readonly Buffer[]> {
  const sh = program('sh')
  const list = 'cd "$1" && shift && exec "$@"'
  const each = [program('xargs'), '-0', '-r', sh, '-c', '"$0" "$@" -mindepth 1 -maxdepth 1 -print0', program('find')]
  const [exitCode, stdout, stderr] = await runIn(
    [...aroundReading(overlay, look), sh, '-c', list, 'sh', overlay.at, ...each],
    folders.map((path) => `./${path}\0`).join(''),
  )
  if (exitCode !== 0) throw new LayerError('unsupported', `the layer can't be read: ${lastLine(stderr)}`)
  return split(stdout)
}

/** Splits the list and removes the `./` prefix from each path. */
function split(bytes: Buffer): readonly Buffer[] {
  const parts: Buffer[] = []
  for (let at = 0, end = bytes.indexOf(0); end !== -1; at = end + 1, end = bytes.indexOf(0, at)) parts.push(bytes.subarray(at + 2, end))
  return parts
}

/** @returns exit code, stdout and stderr */
export async function runIn([file = '', ...args]: readonly string[], input = ''): Promise<readonly [number | null, Buffer, string]> {
  const child = startProgram(file, args, { cwd: '/', env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' }, stdio: 'pipe' })
  const exited = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const [exitCode, stdout, stderr] = await Promise.all([exited, buffer(child.stdout), buffer(child.stderr)])
  return [exitCode, stdout, stderr.toString()]
}

export const lastLine = (text: string): string =>
  text
    .trim()
    .split('\n')
    .findLast((line) => !line.includes('dmesg(1)'))
    ?.trim() || 'it ended without a message'
