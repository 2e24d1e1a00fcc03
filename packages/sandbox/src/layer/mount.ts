/**
 * Overlays in mount namespaces of their own: they are gone with the last process in them, however that ends.
 *
 * A layer's folder holds `upper` and `work`, and links `lower` (to the workspace) and `private`. Options name only these, relative to
 * the folder: a path with `:`, `,` or `\` would have to be escaped, in another way for each version of mount.
 */
import { buffer } from 'node:stream/consumers'
import { startProgram, systemProgram } from '../program.ts'
import { quote } from '../run/standby.ts'
import { LayerError } from './types.ts'

const UPPER = 'upper'
const LOWER = 'lower'
const PRIVATE = 'private'
/** `userxattr`: a user's mount can have no other, and so both can be read alike. Renaming a folder of the workspace is EXDEV with it. */
const OPTIONS = 'nosuid,nodev,userxattr'

type Programs = Readonly<Record<'unshare' | 'mount' | 'sh' | 'xargs' | 'find', string>>
let programs: Programs | undefined

/** Of the host, as absolute paths: none comes from the workspace. */
function findPrograms(): Programs {
  const found = (name: string): string => {
    const path = systemProgram(name)
    if (path === undefined) throw new LayerError('unsupported', `${name} is not installed`, 'Install util-linux and findutils.')
    return path
  }
  programs ??= { unshare: found('unshare'), mount: found('mount'), sh: found('sh'), xargs: found('xargs'), find: found('find') }
  return programs
}

export interface Overlay {
  readonly folder: string
  /** Where it is mounted. */
  readonly at: string
  readonly hasPrivate: boolean
  /** Default `work`. */
  readonly work?: string
}

const lowers = (hasPrivate: boolean): string => (hasPrivate ? `${PRIVATE}:${LOWER}` : LOWER)

/** Before a command: runs it in a mount namespace of its own, in which overlays can be mounted. */
export function namespace(): readonly string[] {
  const own = process.getuid?.() === 0 ? ['--mount'] : ['--user', '--map-root-user', '--mount']
  return [findPrograms().unshare, ...own, '--']
}

/**
 * Shell commands that lay the layer over the workspace, in such a namespace. `volatile`: otherwise the command's end would wait for
 * everything that it wrote to reach the disk. What it leaves in `work` keeps
 * the next one from being mounted.
 */
export function mounting({ folder, at, hasPrivate, work = 'work' }: Overlay): string {
  const mount = `m() { ${mountProgram(`${OPTIONS},volatile,lowerdir=${lowers(hasPrivate)},upperdir=${UPPER},workdir=${work}`, at)}; }`
  return `${mount}; cd ${quote(folder)} && { m 2>/dev/null || { rm -rf ${work}/work && m; }; } && cd /`
}

/** Both, before a command. */
export const around = (overlay: Overlay): readonly string[] => mounted(mounting(overlay))

/** What is looked at: the layer as it is seen from inside, or the same without what its command did. */
export type Look = 'layer' | 'private'

function aroundReading({ folder, at, hasPrivate }: Overlay, look: Look): readonly string[] {
  const over = { layer: `${UPPER}:${lowers(hasPrivate)}`, private: `${PRIVATE}:${LOWER}` }
  return mounted(`cd ${quote(folder)} && ${mountProgram(`ro,${OPTIONS},lowerdir=${over[look]}`, at)} && cd /`)
}

const mountProgram = (options: string, at: string): string =>
  `${quote(findPrograms().mount)} -n -i -t overlay -o ${options} overlay ${quote(at)}`

const mounted = (script: string): readonly string[] => [...namespace(), findPrograms().sh, '-c', `${script} && exec "$@"`, 'sh']

/**
 * What the kernel shows in folders of the merged view, as paths from it. So nobody here has to know how deletions and hidden folders
 * are written down: as devices, as attributes, by this kernel or by the next.
 */
export async function listMerged(overlay: Overlay, folders: readonly string[], look: Look = 'layer'): Promise<readonly Buffer[]> {
  const { sh, xargs, find } = findPrograms()
  const list = 'cd "$1" && shift && exec "$@"'
  const each = [xargs, '-0', '-r', sh, '-c', '"$0" "$@" -mindepth 1 -maxdepth 1 -print0', find]
  const [exitCode, stdout, stderr] = await runIn(
    [...aroundReading(overlay, look), sh, '-c', list, 'sh', overlay.at, ...each],
    folders.map((path) => `./${path}\0`).join(''),
  )
  if (exitCode !== 0) throw new LayerError('unsupported', `the layer can't be read: ${lastLine(stderr)}`)
  return split(stdout)
}

const NUL = 0

function split(bytes: Buffer): readonly Buffer[] {
  const parts: Buffer[] = []
  for (let at = 0, end = bytes.indexOf(NUL); end !== -1; at = end + 1, end = bytes.indexOf(NUL, at)) parts.push(bytes.subarray(at + 2, end))
  return parts
}

/** @returns exit code, stdout and stderr */
export async function runIn([program = '', ...args]: readonly string[], input = ''): Promise<readonly [number | null, Buffer, string]> {
  const child = startProgram(program, args, { cwd: '/', env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' }, stdio: 'pipe' })
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
    ?.trim() || 'it ended without a word'
