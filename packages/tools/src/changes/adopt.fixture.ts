/** Generates random trees with folders, links and modes, and the changes between two of them. */
import { chmodSync, lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import type { LayerChange } from '../workspace/change.ts'
import { sameMode, sameState } from './state.ts'
import { stateAt } from './tree.ts'

export type Entry = { readonly file: string; readonly mode: number } | { readonly link: string } | { readonly folder: number }
export type Tree = ReadonlyMap<string, Entry>

const name = fc.constantFrom('a', 'b', 'c')
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'))
const entry: fc.Arbitrary<Entry> = fc.oneof(
  fc.record({ file: fc.constantFrom('', 'one', 'two\n', 'three\0'), mode: fc.constantFrom(0o644, 0o600, 0o755, 0o444) }),
  fc.record({ link: fc.constantFrom('x', '../y', '/nowhere') }),
  fc.record({ folder: fc.constantFrom(0o755, 0o700) }),
)

export const tree: fc.Arbitrary<Tree> = fc.array(fc.tuple(path, entry), { maxLength: 10 }).map((entries) => {
  const out = new Map<string, Entry>()
  for (const [at, one] of entries) {
    const parents = at.split('/').flatMap((_, index, names) => (index === 0 ? [] : [names.slice(0, index).join('/')]))
    if (out.has(at) || parents.some((parent) => out.has(parent) && !('folder' in (out.get(parent) as Entry)))) continue
    if (![...out.keys()].some((other) => other.startsWith(`${at}/`)) || 'folder' in one) {
      for (const parent of parents) if (!out.has(parent)) out.set(parent, { folder: 0o755 })
      out.set(at, one)
    }
  }
  return out
})

export function build(root: string, of: Tree): void {
  mkdirSync(root, { recursive: true })
  for (const [at, one] of [...of].sort(([a], [b]) => (a < b ? -1 : 1))) {
    mkdirSync(dirname(join(root, at)), { recursive: true })
    if ('file' in one) {
      writeFileSync(join(root, at), one.file)
      chmodSync(join(root, at), one.mode)
    } else if ('link' in one) symlinkSync(one.link, join(root, at))
    else {
      mkdirSync(join(root, at), { recursive: true })
      chmodSync(join(root, at), one.folder)
    }
  }
}

/** Returns every path that differs between two folders. */
export async function differences(root: string, layer: string): Promise<readonly LayerChange[]> {
  const paths = new Set([root, layer].flatMap((dir) => readdirSync(dir, { recursive: true, encoding: 'utf8' })))
  const all = await Promise.all(
    [...paths].map(async (at) => ({ path: at, before: await stateOf(root, at), after: await stateOf(layer, at) })),
  )
  return all
    .filter(({ before, after }) => !sameState(before, after) || !sameMode(before, after))
    .map((one) => (one.after.kind === 'file' ? { ...one, after: { ...one.after, mtime: lstatSync(join(layer, one.path)).mtimeMs } } : one))
}

export const openIn = (layer: string) => (at: string) => open(join(layer, at))

const stateOf = (dir: string, at: string) =>
  stateAt(dir, at).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOTDIR' || error.code === 'ELOOP') return { kind: 'missing' as const }
    throw error
  })
