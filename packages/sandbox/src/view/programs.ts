/** Programs in odd places: what PATH names outside of the system and of the known toolchains. */
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path'
import { isWithin } from '../paths.ts'
import * as files from './files.ts'
import { SECRET_NAME } from './toolchain-table.ts'
import { readOnly } from './toolchains.ts'
import type { Mount } from './view.ts'

const BIN = /^(bin|sbin|shims)$/
/** What is beside `bin` where something was installed. */
const BESIDE = /^(lib|lib64|libexec|share|include|pyvenv\.cfg|conda-meta|pkg|jre|jmods|release|versions|package\.json)$/
/** Folders of folders: nothing is installed in them as a whole. */
const SHARED = new Set([
  '/',
  '/opt',
  '/srv',
  '/mnt',
  '/media',
  '/home',
  '/root',
  '/tmp',
  '/var',
  '/var/lib',
  '/run',
  '/etc',
  '/Users',
  '/work',
  '/data',
])

export interface Places {
  readonly path: string
  readonly home: string
  readonly workspace: string
  /** Real paths of what is visible already. */
  readonly visible: readonly string[]
  /** Of what is put over a folder of credentials. */
  readonly empty: string
  /** The node that runs us. */
  readonly execPath: string
}

export interface Programs {
  readonly mounts: readonly Mount[]
  /** Folders that stand for entries of PATH that can't be shown themselves. */
  readonly instead: ReadonlyMap<string, string>
}

export const entriesOf = (path: string): readonly string[] => path.split(delimiter).filter((entry) => isAbsolute(entry))

/** What has to be mounted so that the programs of PATH, and a Python of the workspace, can run. */
export async function programs(places: Places): Promise<Programs> {
  const mounts: Mount[] = []
  const instead = new Map<string, string>()
  const isVisible = (path: string) => [...places.visible, ...mounts.map(({ source }) => source)].some((folder) => isWithin(folder, path))
  const show = async (bin: string): Promise<boolean> => {
    if (isVisible(bin)) return true
    const prefix = await prefixOf(bin, places)
    if (prefix === undefined) return false
    mounts.push(...(await readOnly(prefix, places.empty)))
    return true
  }
  for (const entry of entriesOf(places.path)) {
    const bin = await files.real(entry)
    if (bin === undefined || (await show(bin))) continue
    const node = await files.real(join(bin, 'node'))
    if (node !== undefined && (await show(dirname(node)))) instead.set(entry, dirname(node))
  }
  for (const bin of await basePythons(places.workspace)) await show(bin)
  const own = await files.real(places.execPath)
  if (own !== undefined) await show(dirname(own))
  return { mounts, instead }
}

/** The folder that something was installed to, of its real `bin`. Undefined if it is not clear that nothing else is in it. */
async function prefixOf(bin: string, { home, workspace }: Places): Promise<string | undefined> {
  const prefix = dirname(bin)
  const holdsMore = (folder: string) => SHARED.has(folder) || isWithin(folder, home) || isWithin(folder, workspace)
  if (!BIN.test(basename(bin)) || holdsMore(prefix)) return undefined
  const beside = await files.list(prefix)
  if (!beside.some(({ name }) => BESIDE.test(name))) return undefined
  const isUnsafe = [...beside, ...(await files.list(bin))].some(({ name, kind }) => kind === 'other' || SECRET_NAME.test(name))
  return isUnsafe ? undefined : prefix
}

/** A virtual environment in the workspace links to the Python it was made with. */
async function basePythons(workspace: string): Promise<readonly string[]> {
  const found = await Promise.all(
    ['.venv', 'venv', 'env'].map(async (name) => {
      const [, home] = /^home\s*=\s*(\/.*?)\s*$/m.exec(await files.text(join(workspace, name, 'pyvenv.cfg'))) ?? []
      return home && (await files.real(home))
    }),
  )
  return found.filter((home): home is string => Boolean(home))
}
