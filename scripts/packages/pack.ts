/** Packs every package as npm would publish it. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createPackageFromTarballData } from '@arethetypeswrong/core'
import { bundle } from '../bundle.ts'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

export interface Packed {
  readonly name: string
  /** The tarball. */
  readonly file: string
  /** Bytes of the tarball and of its content. */
  readonly size: number
  readonly unpackedSize: number
  readonly manifest: Manifest
  /** The text of each file, by its path in the package. */
  readonly files: ReadonlyMap<string, string>
}

interface Told {
  readonly name: string
  readonly filename: string
  readonly size: number
  readonly unpackedSize: number
}

/** @param into an existing folder for the tarballs. @throws Error with npm's message. */
export async function packAll(into: string): Promise<Packed[]> {
  await bundle({ prune: true })
  const args = ['pack', '--workspaces', '--json', '--ignore-scripts', '--pack-destination', into]
  const { status, stdout, stderr, error } = spawnSync('npm', args, { cwd: ROOT, encoding: 'utf8' })
  if (status !== 0) throw error ?? new Error(`npm pack ended with ${status}: ${stderr}`)
  const packed = (Object.values(JSON.parse(stdout)) as Told[]).map(({ name, filename, size, unpackedSize }) => {
    const file = join(into, filename)
    const files = filesOf(readFileSync(file))
    return { name, file, size, unpackedSize, files, manifest: JSON.parse(files.get('package.json') ?? '{}') as Manifest }
  })
  // The page is published as a part of the server.
  return packed.filter(({ manifest }) => manifest.private !== true)
}

function filesOf(tarball: Uint8Array): Map<string, string> {
  const read = createPackageFromTarballData(tarball)
  const base = `/node_modules/${read.packageName}/`
  return new Map(read.listFiles().map((path) => [path.slice(base.length), read.readFile(path)]))
}
